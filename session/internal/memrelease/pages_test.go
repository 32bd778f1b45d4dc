package memrelease

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
		{2151, false, false}, {2156, false, false}, {2165, false, false}, {2166, true, false}, // and bit by bit more
		{2200, false, false}, {2213, false, false}, // somebody asks for something
		{2300, false, false}, {2302, true, false}, {2350, false, false}, // for more
		{2365, false, false}, {2366, true, false}, {2420, false, false},
		{2900, true, true}, {2950, false, false}, {2951, false, false}, {2965, false, false}, {2966, true, false}, // memory was given back
	} {
		if got := p.Due(s.faults, s.calm); got != s.want {
			t.Errorf("step %d, %d faults: %v", i, s.faults, got)
		}
	}
}
