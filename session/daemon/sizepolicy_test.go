//go:build unix

package daemon

import "testing"

// FEATURES: R96
func TestSizePolicies(t *testing.T) {
	var st Clients
	if _, _, ok := st.size(); ok {
		t.Error("nobody is there and somebody decides")
	}
	wide := st.Join(&Client{cols: 200, rows: 20})
	tall := st.Join(&Client{cols: 80, rows: 60})
	says := st.Join(&Client{cols: 10, rows: 10, policy: None}) // only watches
	for _, c := range []struct {
		policy     Policy
		cols, rows int
		ok         bool
	}{
		{"", 80, 60, true}, {Latest, 80, 60, true}, {Largest, 200, 60, true},
		{Smallest, 80, 20, true}, {Fixed, 0, 0, false},
	} {
		says.policy = c.policy
		if cols, rows, ok := st.size(); cols != c.cols || rows != c.rows || ok != c.ok {
			t.Errorf("%q: %d×%d, %v", c.policy, cols, rows, ok)
		}
	}
	older := st.Join(&Client{policy: Smallest})
	older.came = 0
	if cols, rows, ok := st.size(); ok {
		t.Errorf("the policy of an older client counts: %d×%d", cols, rows)
	}
	st.leave(says)
	if cols, rows, _ := st.size(); cols != 80 || rows != 20 {
		t.Errorf("the policy of one that left counts: %d×%d", cols, rows)
	}
	st.leave(older)
	says = st.Join(&Client{cols: 1, rows: 1, policy: None})
	st.active(says, 300, 300) // has no say
	st.active(wide, 0, 0)     // typed
	if cols, rows, _ := st.size(); cols != 200 || rows != 20 {
		t.Errorf("after typing: %d×%d", cols, rows)
	}
	st.active(wide, 100, 30) // resized
	if cols, _, _ := st.size(); cols != 100 {
		t.Errorf("after resizing: %d columns", cols)
	}
	st.leave(wide)
	if cols, _, _ := st.size(); cols != 80 {
		t.Errorf("after leaving: %d columns", cols)
	}
	if st.leave(tall) {
		t.Error("the watcher is still there")
	}
	if _, _, ok := st.size(); ok {
		t.Error("a watcher decides the size")
	}
}
