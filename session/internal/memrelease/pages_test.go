package memrelease

import "testing"

// TestPages_IsDue checks that pages are released once a process is idle, and again when enough have returned.
func TestPages_IsDue(t *testing.T) {
	var p Pages
	for i, s := range []struct {
		faults     uint64
		want, calm bool
	}{
		{2000, false, false}, {2100, false, false}, // start of the process
		{2104, true, false}, {2150, false, false}, // pages in use return
		{2151, false, false}, {2156, false, false}, {2165, false, false}, {2166, true, false}, // and slowly others
		{2200, false, false}, {2213, false, false}, // some work
		{2300, false, false}, {2302, true, false}, {2350, false, false}, // more work
		{2365, false, false}, {2366, true, false}, {2420, false, false},
		{2900, true, true}, {2950, false, false}, {2951, false, false}, {2965, false, false}, {2966, true, false}, // memory was released
	} {
		if got := p.IsDue(s.faults, s.calm); got != s.want {
			t.Errorf("step %d, %d faults: %v", i, s.faults, got)
		}
	}
}
