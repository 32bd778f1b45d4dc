//go:build unix

package sizepolicy

import (
	"slices"
	"testing"
)

// TestClients checks that clients come, run in sessions, change their size, and leave, and that a client's size policy
// ends with it.
//
// FEATURES: R96
func TestClients(t *testing.T) {
	var st Clients
	called := 0
	st.IfEmpty(func() { called++ })
	a := st.Join(&Client{Cols: 80, Rows: 24, Inside: []string{"outer"}})
	b := st.Join(&Client{Cols: 100, Rows: 30})
	st.IfEmpty(func() { called++ })
	if called != 1 || st.Count() != 2 {
		t.Errorf("%d clients, called %d times for none", st.Count(), called)
	}
	if got := st.ShownIn(); !slices.Equal(got, []string{"outer"}) {
		t.Errorf("shown in %v", got)
	}
	size := func(want [2]int) {
		t.Helper()
		if cols, rows, ok := st.Size(); !ok || cols != want[0] || rows != want[1] {
			t.Errorf("%d×%d, %v; want %v", cols, rows, ok, want)
		}
	}
	size([2]int{100, 30})
	st.NoteActivity(a, 0, 0) // typed
	size([2]int{80, 24})
	st.NoteActivity(b, 120, 40)
	size([2]int{120, 40})
	st.NoteActivity(b, 0, 7) // no size
	size([2]int{120, 40})
	if st.Leave(b) {
		t.Error("the last one is not gone")
	}
	size([2]int{80, 24})
	if !st.Leave(a) || st.Leave(a) != true {
		t.Error("the last one is gone")
	}
	if _, _, ok := st.Size(); ok {
		t.Error("a size without clients")
	}
	if got := st.ShownIn(); len(got) != 0 {
		t.Errorf("shown in %v", got)
	}
}

// TestWhoseSize checks that the session's own policy holds if no client has one, and that otherwise the policy of the
// newest client with one decides.
//
// FEATURES: R96
func TestWhoseSize(t *testing.T) {
	var st Clients
	st.Join(&Client{Cols: 80, Rows: 24})
	st.Join(&Client{Cols: 100, Rows: 20})
	for _, c := range []struct {
		set        Policy
		cols, rows int
		ok         bool
	}{{Latest, 100, 20, true}, {Largest, 100, 24, true}, {Smallest, 80, 20, true}, {Fixed, 0, 0, false}} {
		st.SetPolicy(c.set)
		if cols, rows, ok := st.Size(); cols != c.cols || rows != c.rows || ok != c.ok {
			t.Errorf("%s: %d×%d, %v", c.set, cols, rows, ok)
		}
	}
	first := st.Join(&Client{Cols: 10, Rows: 10, Policy: Largest})
	second := st.Join(&Client{Cols: 10, Rows: 10, Policy: Smallest})
	if cols, rows, ok := st.Size(); !ok || cols != 10 || rows != 10 {
		t.Errorf("the newest one: %d×%d, %v", cols, rows, ok)
	}
	st.Leave(second)
	if cols, rows, ok := st.Size(); !ok || cols != 100 || rows != 24 {
		t.Errorf("the one before: %d×%d, %v", cols, rows, ok)
	}
	st.Leave(first)
	if _, _, ok := st.Size(); ok {
		t.Error("the session's own policy is forgotten")
	}
}
