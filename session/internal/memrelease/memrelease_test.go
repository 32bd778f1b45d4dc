package memrelease

import "testing"

// TestMemory_ReleasesAfterBurst checks that memory is released once after a burst, and not during continuous work.
func TestMemory_ReleasesAfterBurst(t *testing.T) {
	const mb = 1 << 20
	var c Memory
	for i, s := range []struct {
		allocated, live uint64
		want            bool
	}{
		{10 * mb, 5 * mb, false}, // the burst
		{10*mb + 1, 5 * mb, true}, {10*mb + 2, 5 * mb, true}, {10*mb + 3, 5 * mb, true}, {10*mb + 4, 5 * mb, false},
		{11 * mb, 5 * mb, false}, {11*mb + 1, 5 * mb, true}, {11*mb + 2, 5 * mb, false}, // once after less than a burst
		{12*mb + 4, 5 * mb, false}, {12*mb + 5, 300 * mb, false}, // the heap is too large to be scanned
		{12*mb + 6, 5 * mb, true}, {14*mb + 7, 5 * mb, false}, // a burst in between
		{14*mb + 8, 5 * mb, true}, {14*mb + 9, 5 * mb, true}, {14*mb + 10, 5 * mb, true}, {14*mb + 11, 5 * mb, false},
		{17 * mb, 16 * mb, false}, {19 * mb, 16 * mb, true}, // little garbage compared to the heap
		{19*mb + mb/2 + 1, 2 * mb, false}, {19*mb + mb/2 + 2, 2 * mb, true}, {19*mb + mb/2 + 3, 2 * mb, true}, // much garbage compared to the heap
		{20*mb + 2, 5 * mb, false}, {20*mb + 3, 5 * mb, true}, {20*mb + 4, 5 * mb, false}, // slowly accumulated
		{20*mb + mb/2 + 3, 16 * mb, false}, {21*mb + 3, 16 * mb, true}, {21*mb + 4, 16 * mb, false},
	} {
		if got := c.isDue(s.allocated, s.live, true, false); got != s.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

// TestMemory_KeepsSmallHeap checks that a small heap without a collection is kept until it has grown or was collected.
func TestMemory_KeepsSmallHeap(t *testing.T) {
	const mb = 1 << 20
	for _, s := range []struct {
		live      uint64
		collected bool
		want      bool
	}{{mb, false, false}, {3 * mb, false, true}, {mb, true, true}} {
		var c Memory
		c.allocatedAtLastCall = 3 * mb
		if got := c.isDue(3*mb+1, s.live, s.collected, false); got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

// TestRelease_SmallHeap_OncePerIdlePhase checks that a process which becomes idle releases little garbage too, once.
func TestRelease_SmallHeap_OncePerIdlePhase(t *testing.T) {
	const mb, kb = 1 << 20, 1 << 10
	c := Memory{allocatedAtRelease: 10 * mb, allocatedAtLastCall: 10 * mb}
	for i, s := range []struct {
		more, live  uint64
		rests, want bool
	}{
		{200 * kb, 5 * mb, false, false}, {0, 5 * mb, true, true}, {0, 5 * mb, true, false},
		{200 * kb, 5 * mb, true, false},                    // while it is idle
		{0, 5 * mb, false, false}, {0, 5 * mb, true, true}, // idle again
		{0, 5 * mb, false, false}, {100 * kb, 5 * mb, true, false}, // too little
		{100 * kb, 64 * mb, true, false}, {30 * kb, 5 * mb, true, true}, // compared to the heap; enough in the end
		{0, 5 * mb, false, false}, {700 * kb, 5 * mb, true, false}, {0, 5 * mb, true, true}, {0, 5 * mb, true, false},
	} {
		if got := c.isDue(c.allocatedAtLastCall+s.more, s.live, true, s.rests); got != s.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
