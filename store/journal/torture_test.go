package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// tortured is a journal on a disk that fails, and its expected content.
type tortured struct {
	t    *testing.T
	rnd  *rand.Rand // of the workload: the same for every fault
	disk *memDisk
	opt  Options
	j    *Journal

	all     []entry // acknowledged
	end     uint64
	synced  int     // of all, are safe from a loss of power
	flight  []entry // of the append that failed
	dropped uint64  // requested start of the journal
}

const tortureDir = "journal"

func newTortured(t *testing.T, seed uint64) *tortured {
	x := &tortured{t: t, rnd: rand.New(rand.NewPCG(seed, 20)), disk: newMemDisk(rand.New(rand.NewPCG(seed, 21)))}
	x.opt = testOptions()
	x.opt.FS, x.opt.SegmentBytes = x.disk, 3000+x.rnd.Int64N(30_000)
	x.opt.Plain = seed%2 == 0
	x.disk.ops = 0
	return x
}

// work appends, syncs, compacts, retires and reopens. It ignores failures, and ends when the process is dead.
func (x *tortured) work(steps int) {
	var err error
	if x.j, _, err = Open(tortureDir, x.opt); err != nil {
		return
	}
	for range steps {
		x.step(x.rnd.IntN(24))
		if x.disk.dead() || x.j == nil {
			return
		}
	}
}

func (x *tortured) step(what int) {
	switch what {
	case 0, 1:
		_, _ = x.j.Compact(x.t.Context())
	case 2, 3, 4:
		n := len(x.all)
		if x.j.Sync() == nil {
			x.synced = n
		}
	case 5:
		off := x.end / 2
		x.dropped = max(x.dropped, off)
		_ = x.j.DropBefore(off)
	case 6:
		_ = x.j.Close()
		j, _, err := Open(tortureDir, x.opt)
		if err != nil {
			x.j = nil
			return
		}
		x.j = j
	case 7, 8:
		cols := 1 + x.rnd.IntN(200)
		x.append(x.j.AppendResize(cols, 50), entry{Kind: KindResize, Offset: x.end, Cols: cols, Rows: 50})
	case 9:
		x.append(x.j.AppendGap(70), entry{Kind: KindGap, Offset: x.end, Lost: 70})
	default:
		size := 1 + x.rnd.IntN(2000)
		if what > 16 {
			size = 1 + x.rnd.IntN(40_000)
		}
		p := prose(x.rnd, size)
		var m model
		m.end = x.end
		m.output(string(p))
		x.append(x.j.AppendOutput(p), m.all...)
	}
}

// append records appended and attempted records.
func (x *tortured) append(err error, entries ...entry) {
	if err != nil {
		x.flight = entries
		return
	}
	x.all = append(x.all, entries...)
	last := entries[len(entries)-1]
	x.end = last.Offset + uint64(len(last.Data)) + last.Lost
}

// check opens the journal on a disk and compares it. Without a power loss all acknowledged records must exist, else the
// synced ones. Besides them, only the start of an unfinished append may exist.
func (x *tortured) check(what string, d *memDisk, need int) {
	x.t.Helper()
	o := x.opt
	o.FS = d
	j, _, err := Open(tortureDir, o)
	if err != nil {
		x.t.Fatalf("%s: %v", what, err)
	}
	got := entries(x.t, j, j.Start())
	want := append(append([]entry{}, x.all...), x.flight...)
	at, next := j.Start(), 0
	if at > x.dropped {
		x.t.Fatalf("%s: it starts at %d, only up to %d should be retired", what, at, x.dropped)
	}
	for _, e := range got {
		if e.Offset != at {
			x.t.Fatalf("%s: record at %d, expected at %d", what, e.Offset, at)
		}
		at += uint64(len(e.Data)) + e.Lost
		if e.Kind == KindGap {
			continue
		}
		for next < len(want) && want[next] != e {
			x.mayMiss(what, want[next], next, need, j.Start())
			next++
		}
		if next == len(want) {
			x.t.Fatalf("%s: %.80s was not appended, or not there", what, e)
		}
		next++
	}
	for ; next < need; next++ {
		x.mayMiss(what, want[next], next, need, j.Start())
	}
	if at != j.End() {
		x.t.Fatalf("%s: records end at %d, the journal at %d", what, at, j.End())
	}
	must(x.t, j.AppendOutput([]byte("and on")))
	if n, _, _, err := j.ReadAt(at, make([]byte, 10)); n != 6 || err != nil {
		x.t.Fatalf("%s: later records: %d bytes, %v", what, n, err)
	}
}

// mayMiss reports a missing record that must exist.
func (x *tortured) mayMiss(what string, e entry, i, need int, start uint64) {
	x.t.Helper()
	if i < need && e.Kind != KindGap && e.Offset >= start && !(e.Offset == start && e.Data == "") {
		x.t.Fatalf("%s: record %d is missing: %.80s", what, i, e)
	}
}

const tortureSteps = 30

// TestDeathAtEachOperation ends the process at each operation on the disk in turn, in the middle of a write or before
// anything else, also during compaction. The next process finds all acknowledged records, or all synced ones after a
// power loss.
//
// FEATURES: R37, R90, R93
func TestDeathAtEachOperation(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			whole := newTortured(t, seed)
			whole.work(tortureSteps)
			for fault := 1; fault <= whole.disk.ops; fault++ {
				x := newTortured(t, seed)
				x.disk.fault, x.disk.err = fault, errDead
				x.work(tortureSteps)
				if !x.disk.dead() {
					t.Fatalf("it did not die at operation %d of %d", fault, whole.disk.ops)
				}
				x.check(fmt.Sprintf("killed at operation %d", fault), x.disk.killed(), len(x.all))
				x.check(fmt.Sprintf("power lost at operation %d", fault), x.disk.unplugged(true), x.synced)
				x.check(fmt.Sprintf("some written at operation %d", fault), x.disk.unplugged(false), x.synced)
			}
		})
	}
}

// TestFailureAtEachOperation checks that a disk that is full, or fails, for some operations from each one on loses no
// acknowledged record, and that all works again with the disk.
//
// FEATURES: R37, R93, R97
func TestFailureAtEachOperation(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for seed := range uint64(2) {
		for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
			t.Run(fmt.Sprint(seed, cause), func(t *testing.T) {
				whole := newTortured(t, seed)
				whole.work(tortureSteps)
				for fault := 1; fault <= whole.disk.ops; fault++ {
					x := newTortured(t, seed)
					x.disk.fault, x.disk.until, x.disk.err = fault, fault+x.disk.rnd.IntN(6), cause
					x.work(tortureSteps)
					x.disk.fault = 0
					if x.j == nil {
						t.Fatalf("operation %d: the journal could not be opened", fault)
					}
					what := fmt.Sprintf("%v at operation %d", cause, fault)
					x.flight = nil
					if got := entries(t, x.j, x.j.Start()); errors.Is(cause, syscall.ENOSPC) && len(got) == 0 && len(x.all) > 0 {
						t.Errorf("%s: no record exists", what)
					}
					must(t, x.j.Sync())
					x.check(what, x.disk.killed(), len(x.all))
					x.check(what+", power lost", x.disk.unplugged(true), len(x.all))
				}
			})
		}
	}
}
