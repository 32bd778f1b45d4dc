package journal

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever a segment holds, opening and reading it ends, and what it says adds up.
func FuzzSegment(f *testing.F) {
	golden := appendHeader(nil, header{length: headerSize, id: 5})
	for _, kind := range []Kind{KindOutput, KindGap, KindMark, 77} {
		b, start := beginRecord(nil)
		golden = append(golden, endRecord(append(b, "payload!"...), start, 5, kind, 0, 0)...)
	}
	f.Add(golden, golden, true)
	f.Add(golden[:60], []byte{}, false)
	f.Add([]byte(magic), golden[:len(golden)-3], true)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, first, second []byte, both bool) {
		must(t, os.WriteFile(filepath.Join(dir, segmentName(0)), first, 0o600))
		path := filepath.Join(dir, segmentName(40))
		_ = os.Remove(path)
		if both {
			must(t, os.WriteFile(path, second, 0o600))
		}
		j, _, err := Open(dir, testOptions())
		if err != nil {
			if errors.Is(err, ErrNewer) {
				return
			}
			t.Fatal(err)
		}
		defer j.Close()
		walk(t, j)
		must(t, j.AppendOutput([]byte("more")))
		walk(t, j)
		if _, err := j.OffsetAt(epoch); err != nil {
			t.Error(err)
		}
	})
}

// walk reads everything and checks that offsets only grow and reach the end.
func walk(t *testing.T, j *Journal) {
	r := j.NewReader(0)
	defer r.Close()
	at := uint64(0)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if rec.Offset != at {
			t.Fatalf("record at %d, expected at %d", rec.Offset, at)
		}
		at += rec.Lost
		if rec.Kind == KindOutput {
			at += uint64(len(rec.Data))
		}
		mid := at / 2
		if n, next, gap, err := j.ReadAt(mid, make([]byte, 50)); err != nil || next != mid+gap+uint64(n) {
			t.Fatalf("ReadAt(%d): %d %d %d %v", mid, n, next, gap, err)
		}
	}
	if at != j.End() {
		t.Fatalf("records end at %d, the journal at %d", at, j.End())
	}
}

// FuzzRecords gives whole records whatever kind, offset and payload the input says.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 0, 3, 'a', 'b', 'c', 4, 3, 8, 9, 0, 0, 0, 0, 0, 0, 0, 2, 12, 1, 0})
	f.Add([]byte{1, 255, 2, 'a', 'b', 1, 1, 2, 'x', 'y', 3, 0, 0, 77, 9, 1, 'z'})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, in []byte) {
		b := appendHeader(nil, header{length: headerSize, id: 5})
		for len(in) >= 3 {
			n := min(int(in[2]), len(in)-3)
			var start int
			b, start = beginRecord(b)
			b = endRecord(append(b, in[3:3+n]...), start, 5, Kind(in[0]), uint64(in[1])<<(in[1]%50), int64(in[1]))
			in = in[3+n:]
		}
		for _, base := range []uint64{0, 40} {
			le.PutUint64(b[16:], base)
			le.PutUint32(b[44:], crc32.Checksum(b[:44], castagnoli))
			must(t, os.WriteFile(filepath.Join(dir, segmentName(base)), b, 0o600))
		}
		j, _, err := Open(dir, testOptions())
		must(t, err)
		defer j.Close()
		walk(t, j)
	})
}
