package journal

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzSegment checks that any segment can be opened and read to its end, with consistent results.
func FuzzSegment(f *testing.F) {
	golden := appendHeader(nil, header{version: version, length: headerSize, id: 5})
	for _, kind := range []Kind{KindOutput, KindGap, KindMark, 77} {
		b, start := beginRecord(nil)
		golden = append(golden, endRecord(append(b, "payload!"...), start, 5, kind, 0, 0)...)
	}
	f.Add(golden, golden, true)
	file, h := &memFile{}, header{version: version, length: headerSize, id: 9, dims: dims{80, 24}}
	p := newPacker(file, h)
	for i := range 9 {
		must(f, p.add(&raw{kind: KindOutput, offset: p.end, time: int64(i), payload: []byte("output ")}))
		must(f, p.add(&raw{kind: KindResize, offset: p.end, time: int64(i), payload: make([]byte, 8)}))
	}
	must(f, p.finish(h))
	f.Add(file.data, golden, true)
	f.Add(golden[:60], []byte{}, false)
	f.Add([]byte(magic), golden[:len(golden)-3], true)
	f.Fuzz(func(t *testing.T, first, second []byte, both bool) {
		o := testOptions()
		d := newMemDisk(nil)
		o.FS = d
		d.put(filepath.Join(tortureDir, segmentName(0)), first)
		if both {
			d.put(filepath.Join(tortureDir, segmentName(40)), second)
		}
		j, _, err := Open(tortureDir, o)
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
		mendable(t, j)
	})
}

// mendable checks that Repair and Compact change nothing that readers see, and leave no damage.
func mendable(t *testing.T, j *Journal) {
	want := kept(timeline(t, j.NewReader(0)))
	must(t, j.Close())
	before, err := repair(j.dir, j.opt)
	must(t, err)
	rep, err := verify(j.opt.FS, j.dir)
	must(t, err)
	for _, p := range rep.Problems {
		if p.Fault != FaultStray && p.Fault != FaultNewer {
			t.Errorf("after Repair: %s", p)
		}
	}
	j, _, err = Open(j.dir, j.opt)
	must(t, err)
	defer j.Close()
	got := kept(timeline(t, j.NewReader(0)))
	if !slices.Contains(faults(before), FaultOverlap) { // of two overlapping records either may be kept
		sameTimeline(t, got, want)
	}
	c, err := j.Compact(t.Context())
	must(t, err)
	if c.Damaged > 0 {
		t.Errorf("after Repair: %+v", c)
	}
	sameTimeline(t, kept(timeline(t, j.NewReader(0))), got)
	if cols, rows, err := j.SizeAt(j.End()); err != nil || cols < 0 || rows < 0 {
		t.Errorf("size %d×%d %v", cols, rows, err)
	}
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

// FuzzRecords writes complete records with any kind, offset and payload.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{1, 0, 3, 'a', 'b', 'c', 4, 3, 8, 9, 0, 0, 0, 0, 0, 0, 0, 2, 12, 1, 0})
	f.Add([]byte{1, 255, 2, 'a', 'b', 1, 1, 2, 'x', 'y', 3, 0, 0, 77, 9, 1, 'z'})
	f.Fuzz(func(t *testing.T, in []byte) {
		o := testOptions()
		d := newMemDisk(nil)
		o.FS = d
		b := appendHeader(nil, header{version: version, length: headerSize, id: 5})
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
			d.put(filepath.Join(tortureDir, segmentName(base)), b)
		}
		j, _, err := Open(tortureDir, o)
		must(t, err)
		defer j.Close()
		walk(t, j)
		mendable(t, j)
	})
}

// FuzzBlock decodes complete blocks: the records are consistent, and the same after packing again.
func FuzzBlock(f *testing.F) {
	text := []byte("some text, some text, some text, some text, some text, some text")
	small, _, _ := appendOutputBlock(nil, nil, bytes.Repeat(text, 80), dims{80, 24})
	f.Add(small, uint64(5), int64(7))
	for _, seed := range packed(f) {
		f.Add(seed, uint64(0), int64(9))
	}
	f.Fuzz(func(t *testing.T, payload []byte, offset uint64, at int64) {
		r := raw{kind: kindBlock, offset: offset % maxOffset, time: at, payload: payload}
		b, err := unpack(&r)
		if err != nil {
			return
		}
		end := r.offset
		for i := range b.records {
			if b.records[i].offset < end {
				t.Fatalf("record %d starts at %d, before %d", i, b.records[i].offset, end)
			}
			end = b.records[i].offset + b.records[i].span()
		}
		if end != r.offset+r.span() {
			t.Fatalf("ends at %d, should at %d", end, r.offset+r.span())
		}
		file := &memFile{}
		p := newPacker(file, header{version: version, length: headerSize, id: 5})
		for i := range b.records {
			must(t, p.add(&b.records[i]))
		}
		must(t, p.finish(header{version: version, length: headerSize, id: 5}))
		w := walker{scanner: scanner{window: window{file: file, limit: int64(len(file.data))}}}
		defer w.free()
		_, err = w.readHeader(0)
		must(t, err)
		for i := range b.records {
			got, skipped, err := w.step()
			want := b.records[i]
			if err != nil || skipped > 0 || got.kind != want.kind || got.offset != want.offset ||
				got.time != want.time || !bytes.Equal(got.payload, want.payload) {
				t.Fatalf("record %d is %+v (%d skipped, %v), was %+v", i, got, skipped, err, want)
			}
		}
		b.free()
	})
}

// packed is the payloads of some dense blocks.
func packed(t testing.TB) (payloads [][]byte) {
	file := &memFile{}
	h := header{version: version, length: headerSize, id: 5}
	p := newPacker(file, h)
	for i := range 20 {
		r := raw{kind: Kind(1 + i%6), offset: p.end + uint64(i%3), time: int64(i * 1000), payload: make([]byte, 8+i)}
		if r.kind == kindBlock {
			r.kind = 77
		}
		must(t, p.add(&r))
		if i%7 == 6 {
			must(t, p.flush())
		}
	}
	must(t, p.finish(h))
	s := scanner{window: window{file: file, limit: int64(len(file.data))}, header: h, next: headerSize}
	defer s.free()
	for {
		r, _, err := s.record(s.limit)
		if errors.Is(err, io.EOF) {
			return payloads
		}
		must(t, err)
		payloads = append(payloads, bytes.Clone(r.payload))
	}
}

// memFile is a file in memory.
type memFile struct {
	File
	data []byte
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	if at >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, at int64) (int, error) {
	if need := int(at) + len(p); need > len(f.data) {
		f.data = append(f.data, make([]byte, need-len(f.data))...)
	}
	return copy(f.data[at:], p), nil
}

func (f *memFile) Sync() error { return nil }
