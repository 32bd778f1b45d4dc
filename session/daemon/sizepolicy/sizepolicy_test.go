//go:build unix

package sizepolicy

import "testing"

// FEATURES: R96
func TestSizePolicies(t *testing.T) {
	var st Clients
	if _, _, ok := st.Size(); ok {
		t.Error("without clients the set has a size")
	}
	wide := st.Join(&Client{Cols: 200, Rows: 20})
	tall := st.Join(&Client{Cols: 80, Rows: 60})
	says := st.Join(&Client{Cols: 10, Rows: 10, Policy: None}) // only watches
	for _, c := range []struct {
		policy     Policy
		cols, rows int
		ok         bool
	}{
		{"", 80, 60, true}, {Latest, 80, 60, true}, {Largest, 200, 60, true},
		{Smallest, 80, 20, true}, {Fixed, 0, 0, false},
	} {
		says.Policy = c.policy
		if cols, rows, ok := st.Size(); cols != c.cols || rows != c.rows || ok != c.ok {
			t.Errorf("%q: %d×%d, %v", c.policy, cols, rows, ok)
		}
	}
	older := st.Join(&Client{Policy: Smallest})
	older.joined = 0
	if cols, rows, ok := st.Size(); ok {
		t.Errorf("the policy of an older client counts: %d×%d", cols, rows)
	}
	st.Leave(says)
	if cols, rows, _ := st.Size(); cols != 80 || rows != 20 {
		t.Errorf("the policy of a client that left counts: %d×%d", cols, rows)
	}
	st.Leave(older)
	says = st.Join(&Client{Cols: 1, Rows: 1, Policy: None})
	st.NoteActivity(says, 300, 300) // does not affect the size
	st.NoteActivity(wide, 0, 0)     // typed
	if cols, rows, _ := st.Size(); cols != 200 || rows != 20 {
		t.Errorf("after typing: %d×%d", cols, rows)
	}
	st.NoteActivity(wide, 100, 30) // resized
	if cols, _, _ := st.Size(); cols != 100 {
		t.Errorf("after resizing: %d columns", cols)
	}
	st.Leave(wide)
	if cols, _, _ := st.Size(); cols != 80 {
		t.Errorf("after leaving: %d columns", cols)
	}
	if st.Leave(tall) {
		t.Error("the watcher is still there")
	}
	if _, _, ok := st.Size(); ok {
		t.Error("a watcher decides the size")
	}
}
