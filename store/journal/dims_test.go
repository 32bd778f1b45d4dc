package journal

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// TestSizeAt checks that the size in force is known at every stored offset: before and after compaction, after older
// segments were retired, and if only headers have it.
//
// FEATURES: R37, R92
func TestSizeAt(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 13))
	o := testOptions()
	o.SegmentBytes = 20_000
	dir := t.TempDir()
	j := open(t, dir, o)
	type change struct {
		off        uint64
		cols, rows int
	}
	var changes []change
	for i := range 300 {
		if i%37 == 0 {
			c := change{j.End(), 1 + rnd.IntN(500), 1 + rnd.IntN(200)}
			must(t, j.AppendResize(c.cols, c.rows))
			changes = append(changes, c)
		}
		must(t, j.AppendOutput(prose(rnd, 1+rnd.IntN(8000))))
	}
	check := func(when string, j *Journal) {
		t.Helper()
		for off := j.Start(); off <= j.End(); off += 1 + rnd.Uint64N(9000) {
			var want change
			for _, c := range changes {
				if c.off <= off {
					want = c
				}
			}
			if cols, rows, err := j.SizeAt(off); cols != want.cols || rows != want.rows || err != nil {
				t.Fatalf("%s: at %d it is %d×%d %v, want %d×%d", when, off, cols, rows, err, want.cols, want.rows)
			}
		}
	}
	check("hot", j)
	j = open(t, dir, o) // the size is not remembered: the next segment has to find it
	for range 30 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	check("appended after reopening", j)
	must(t, j.DropBefore(j.End()/2))
	check("retired", j)
	_, err := j.Compact(t.Context())
	must(t, err)
	check("compacted", open(t, dir, o))
	must(t, j.DropBefore(j.End()))
	check("only the last", open(t, dir, o))
	j = open(t, dir, o)
	for range 30 {
		must(t, j.AppendOutput(noise(rnd, 3000)))
	}
	must(t, j.DropBefore(j.End()))
	check("only the last, begun after reopening", open(t, dir, o))
	if _, _, err := j.SizeAt(j.End() + 1); !errors.Is(err, ErrFuture) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSizeAtUnknown(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), testOptions())
	must(t, j.AppendOutput([]byte("x")))
	must(t, j.AppendResize(100_000, 5)) // larger than the limit
	if cols, rows, err := j.SizeAt(1); cols != 0 || rows != 0 || err != nil {
		t.Errorf("%d×%d %v", cols, rows, err)
	}
}
