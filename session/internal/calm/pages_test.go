package calm

import "testing"

// Pages are left once a process has come to rest, and again when enough has come back; not for what is used all the time.
func TestPagesAreLeft(t *testing.T) {
	var p Pages
	for i, s := range []struct {
		faults uint64
		want   bool
	}{
		{2000, false}, {2100, false}, // it begins
		{2104, true}, {2150, false}, // what it uses all the time comes back
		{2151, false}, {2156, false},
		{2179, false}, {2180, false}, // somebody asks for something
		{2300, false}, {2302, true}, {2350, false}, // for more
		{2358, false}, {2366, false}, {2374, false}, {2382, true}, // bit by bit
		{2420, false}, {2421, false},
	} {
		if got := p.Due(s.faults); got != s.want {
			t.Errorf("step %d, %d faults: %v", i, s.faults, got)
		}
	}
}
