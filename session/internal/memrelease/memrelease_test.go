package memrelease

import "testing"

// Memory is given back after a burst, once it is over, and not for what goes on all the time.
func TestCalm(t *testing.T) {
	const mb = 1 << 20
	var c Memory
	for i, s := range []struct {
		allocated, live uint64
		want            bool
	}{
		{10 * mb, 5 * mb, false}, // the burst
		{10*mb + 1, 5 * mb, true}, {10*mb + 2, 5 * mb, true}, {10*mb + 3, 5 * mb, true}, {10*mb + 4, 5 * mb, false},
		{11 * mb, 5 * mb, false}, {11*mb + 1, 5 * mb, true}, {11*mb + 2, 5 * mb, false}, // once for what is no burst
		{12*mb + 4, 5 * mb, false}, {12*mb + 5, 300 * mb, false}, // too much to go through
		{12*mb + 6, 5 * mb, true}, {14*mb + 7, 5 * mb, false}, // a burst between
		{14*mb + 8, 5 * mb, true}, {14*mb + 9, 5 * mb, true}, {14*mb + 10, 5 * mb, true}, {14*mb + 11, 5 * mb, false},
		{17 * mb, 16 * mb, false}, {19 * mb, 16 * mb, true}, // little beside so much in use
		{19*mb + mb/2 + 1, 2 * mb, false}, {19*mb + mb/2 + 2, 2 * mb, true}, {19*mb + mb/2 + 3, 2 * mb, true}, // but much beside that
		{20*mb + 2, 5 * mb, false}, {20*mb + 3, 5 * mb, true}, {20*mb + 4, 5 * mb, false}, // bit by bit
		{20*mb + mb/2 + 3, 16 * mb, false}, {21*mb + 3, 16 * mb, true}, {21*mb + 4, 16 * mb, false},
	} {
		if got := c.due(s.allocated, s.live, true, false); got != s.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}

// A heap that was never collected and is small stays as it is, until it has grown or was collected for another reason.
func TestASmallHeapIsLeft(t *testing.T) {
	const mb = 1 << 20
	for _, s := range []struct {
		live      uint64
		collected bool
		want      bool
	}{{mb, false, false}, {3 * mb, false, true}, {mb, true, true}} {
		var c Memory
		c.last = 3 * mb
		if got := c.due(3*mb+1, s.live, s.collected, false); got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
}

// A process that comes to rest gives back little, too, once each time.
func TestRelease_SmallHeap_OncePerIdlePhase(t *testing.T) {
	const mb, kb = 1 << 20, 1 << 10
	c := Memory{freed: 10 * mb, last: 10 * mb}
	for i, s := range []struct {
		more, live  uint64
		rests, want bool
	}{
		{200 * kb, 5 * mb, false, false}, {0, 5 * mb, true, true}, {0, 5 * mb, true, false},
		{200 * kb, 5 * mb, true, false},                    // while it rests
		{0, 5 * mb, false, false}, {0, 5 * mb, true, true}, // and again
		{0, 5 * mb, false, false}, {100 * kb, 5 * mb, true, false}, // too little
		{100 * kb, 64 * mb, true, false}, {30 * kb, 5 * mb, true, true}, // beside so much; enough at last
		{0, 5 * mb, false, false}, {700 * kb, 5 * mb, true, false}, {0, 5 * mb, true, true}, {0, 5 * mb, true, false},
	} {
		if got := c.due(c.last+s.more, s.live, true, s.rests); got != s.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
}
