package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func at(offset uint64) Checkpoint {
	return Checkpoint{
		Engine: "native", Offset: offset, Time: time.Unix(int64(offset), 5),
		Snapshot: fmt.Appendf(bytes.Repeat([]byte("screen "), 100), "at %d", offset),
	}
}

func same(a, b Checkpoint) bool {
	return a.Engine == b.Engine && a.Offset == b.Offset && a.Time.Equal(b.Time) && bytes.Equal(a.Snapshot, b.Snapshot)
}

func filled(t testing.TB, o SeriesOptions, offsets ...uint64) (*Series, string) {
	t.Helper()
	dir := t.TempDir()
	s := NewSeries(dir, o)
	for _, off := range offsets {
		if err := s.Add(at(off)); err != nil {
			t.Fatal(err)
		}
	}
	return s, filepath.Join(dir, SeriesName)
}

func offsets(t testing.TB, s *Series) (all []uint64) {
	t.Helper()
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		all = append(all, e.Offset)
	}
	return all
}

// FEATURES: R92
func TestNearest(t *testing.T) {
	s, dir := filled(t, SeriesOptions{}, 500, 100, 3000)
	for _, c := range []struct {
		off, want uint64
		err       error
	}{
		{99, 0, ErrNone}, {100, 100, nil}, {499, 100, nil}, {500, 500, nil}, {2999, 500, nil}, {1 << 60, 3000, nil},
	} {
		got, err := s.Nearest(c.off)
		if !errors.Is(err, c.err) || c.err == nil && !same(got, at(c.want)) {
			t.Errorf("at %d: offset %d, %v", c.off, got.Offset, err)
		}
	}
	if when, err := s.TimeOf(500); err != nil || !when.Equal(at(500).Time) {
		t.Errorf("time %v %v", when, err)
	}
	if _, err := s.TimeOf(501); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("time of none: %v", err)
	}
	if got := offsets(t, s); !slices.Equal(got, []uint64{100, 500, 3000}) {
		t.Errorf("list %v", got)
	}
	st, err := os.Stat(filepath.Join(dir, "00000000000000000500.ltc"))
	if err != nil || st.Size() > 200 {
		t.Errorf("file %v %v", st, err)
	}
}

// TestNearestPassesDamage checks that a checkpoint that cannot be decoded, or whose offset differs from its name, is
// skipped for an older one.
func TestNearestPassesDamage(t *testing.T) {
	s, dir := filled(t, SeriesOptions{}, 100, 500, 700, 900)
	name := func(off uint64) string { return filepath.Join(dir, fmt.Sprintf("%020d.ltc", off)) }
	if err := errors.Join(os.Truncate(name(900), 50), os.Truncate(name(700), 0), os.Rename(name(500), name(650))); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Nearest(1000); err != nil || got.Offset != 100 {
		t.Errorf("offset %d, %v", got.Offset, err)
	}
	if _, err := s.TimeOf(700); !errors.Is(err, ErrInvalid) {
		t.Errorf("time: %v", err)
	}
	if _, err := s.TimeOf(650); !errors.Is(err, ErrInvalid) {
		t.Errorf("time of a misnamed one: %v", err)
	}
}

func TestSeriesEmpty(t *testing.T) {
	s := NewSeries(t.TempDir(), SeriesOptions{})
	if _, err := s.Nearest(5); !errors.Is(err, ErrNone) {
		t.Errorf("nearest: %v", err)
	}
	if err := errors.Join(s.Thin(100), s.DropBefore(100)); err != nil {
		t.Error(err)
	}
	if err := s.Add(Checkpoint{Engine: string(make([]byte, maxName+1))}); err == nil {
		t.Error("a name that cannot be read again was accepted")
	}
}

func TestDropBefore(t *testing.T) {
	s, _ := filled(t, SeriesOptions{}, 100, 500, 700)
	if err := s.DropBefore(500); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s); !slices.Equal(got, []uint64{500, 700}) {
		t.Errorf("left are %v", got)
	}
}

// TestThin checks that thinning of a growing series keeps few checkpoints, none further apart than promised, and close
// ones near the end.
//
// FEATURES: R92
func TestThin(t *testing.T) {
	const spacing, step = 8 << 20, 64 << 10
	o := SeriesOptions{Spacing: spacing, MaxBytes: 1 << 30}
	var kept []Entry
	rnd := rand.New(rand.NewPCG(1, 1))
	end := uint64(0)
	for range 20_000 { // about 1.3 GB
		end += 1 + rnd.Uint64N(2*step)
		kept = append(kept, Entry{end, 3000})
		gone := thin(kept, end, o)
		kept = slices.DeleteFunc(kept, func(e Entry) bool { return slices.Contains(gone, e) })
	}
	for i := range kept[1:] {
		apart, back := kept[i+1].Offset-kept[i].Offset, end-kept[i+1].Offset
		if limit := max(back/density, 3*step); apart > min(limit, spacing) {
			t.Errorf("%d bytes apart, %d before the end", apart, back)
		}
	}
	if n := len(kept); n < int(end/spacing) || n > 2*int(end/spacing)+120 {
		t.Errorf("%d are kept for %d bytes", n, end)
	}
	// too large: every second one is removed, not the older half
	o.MaxBytes = total(kept) / 3
	gone := thin(kept, end, o)
	left := slices.DeleteFunc(slices.Clone(kept), func(e Entry) bool { return slices.Contains(gone, e) })
	if total(left) > o.MaxBytes || left[0] != kept[0] || left[len(left)-1] != kept[len(kept)-1] {
		t.Errorf("%d of %d are left, from %d to %d", len(left), len(kept), left[0].Offset, left[len(left)-1].Offset)
	}
	o.MaxBytes = 1
	if gone := thin(kept, end, o); len(gone) != len(kept)-1 || slices.Contains(gone, kept[len(kept)-1]) {
		t.Errorf("the newest does not stay: %d of %d go", len(gone), len(kept))
	}
}

func TestThinRemoves(t *testing.T) {
	s, _ := filled(t, SeriesOptions{}, 1, 2, 3, 4, 1<<20, 20<<20)
	if err := s.Thin(20 << 20); err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s); !slices.Equal(got, []uint64{1, 1 << 20, 20 << 20}) {
		t.Errorf("left are %v", got)
	}
}

func TestCompressedBytes(t *testing.T) {
	good := EncodeCompressed(sample)
	const head = "0504030201000000" + "02ca9a3b00000000" + "05000000" + "06000000"
	if got := hex.EncodeToString(good[12:36]); got != head {
		t.Errorf("format changed:\n got %s\nwant %s", got, head)
	}
	old, err := hex.DecodeString("4c54434b5054320a3e337071050403020100000002ca9a3b000000000500000006000000e308d3996e617469766528b52ffd00002900007374617465") // frames of other encoders are as good
	if c, derr := DecodeCompressed(old); err != nil || derr != nil || !same(c, sample) {
		t.Errorf("an old one: %+v, %v %v", c, err, derr)
	}
	if c, err := DecodeCompressed(good); err != nil || !same(c, sample) {
		t.Errorf("got %+v, %v", c, err)
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := DecodeCompressed(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if _, err := DecodeCompressed(good[:i]); !errors.Is(err, ErrInvalid) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}

// sealed puts the checksums right.
func sealed(b []byte) {
	copy(b, seriesMagic)
	binary.LittleEndian.PutUint32(b[36:], crc32.Checksum(b[seriesHead:], castagnoli()))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[12:seriesHead], castagnoli()))
}

func FuzzDecodeCompressed(f *testing.F) {
	f.Add(EncodeCompressed(sample), false)
	f.Add(EncodeCompressed(at(1<<40)), true)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal && len(b) >= seriesHead { // lets the tests reach the content behind the checksums
			b = bytes.Clone(b)
			sealed(b)
		}
		c, err := DecodeCompressed(b)
		if err != nil {
			return
		}
		if again, err := DecodeCompressed(EncodeCompressed(c)); err != nil || !same(again, c) {
			t.Errorf("decoded to something that encodes differently: %v", err)
		}
	})
}
