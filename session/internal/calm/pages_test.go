package calm

import "testing"

// Pages are left once a process has come to rest, and again when enough has come back; not for what is used all the time.
func TestPagesAreLeft(t *testing.T) {
	var p Pages
	for i, s := range []struct {
		faults     uint64
		want, calm bool
	}{
		{2000, false, false}, {2100, false, false}, // it begins
		{2104, true, false}, {2150, false, false}, // what it uses all the time comes back
		{2151, false, false}, {2156, false, false},
		{2179, false, false}, {2180, false, false}, // somebody asks for something
		{2300, false, false}, {2302, true, false}, {2350, false, false}, // for more
		{2358, false, false}, {2366, false, false}, {2374, false, false}, {2382, true, false}, // bit by bit
		{2420, false, false}, {2421, false, false},
		{2900, true, true}, {2950, false, false}, {2951, false, false}, {2990, false, false}, {2991, true, false},
	} {
		if got := p.Due(s.faults, s.calm); got != s.want {
			t.Errorf("step %d, %d faults: %v", i, s.faults, got)
		}
	}
}
