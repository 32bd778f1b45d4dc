//go:build unix

package sizepolicy

import (
	"slices"
	"testing"
	"time"
)

// TestSeen checks that clients are listed in the order of their arrival. One that a user made view-only types nothing
// and does not affect the size, until that is undone. One that came as view-only cannot be allowed to type.
//
// FEATURES: R119
func TestSeen(t *testing.T) {
	var st Clients
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	gone := st.Join(&Client{})
	left := 0
	a := st.Join(&Client{Cols: 80, Rows: 24, Identity: Identity{Kind: "terminal", Terminal: "pts/1"}})
	b := st.Join(&Client{Cols: 100, Rows: 30, Policy: Largest, Identity: Identity{Kind: "viewer"}})
	c := st.Join(&Client{Policy: None, Identity: Identity{Kind: "page", ViewOnly: true}})
	st.OnDetach(a, func() { left++ })
	st.Leave(gone)
	if !st.MayType(b, now) || st.MayType(c, now) {
		t.Error("wrong clients may type")
	}
	for n, want := range map[int]bool{3: true, 1: false, 9: false} {
		if _, known := st.SetViewOnly(n, true); known != want {
			t.Errorf("client %d is listed: %v", n, known)
		}
	}
	if st.MayType(b, now.Add(time.Second)) || !st.MayType(a, time.Time{}) {
		t.Error("a view-only client types")
	}
	if cols, _, ok := st.Size(); !ok || cols != 80 || st.Policy() != Latest {
		t.Errorf("%d columns, %s: a view-only client affects the size", cols, st.Policy())
	}
	var got []int
	for _, s := range st.List() {
		got = append(got, s.N)
		if s.N == 3 && (!s.MadeViewOnly || !s.Typed.Equal(now) || s.Kind != "viewer") || s.N == 2 && (s.MadeViewOnly || !s.Typed.IsZero() || s.Terminal != "pts/1") {
			t.Errorf("%+v", s)
		}
	}
	if !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("seen: %v", got)
	}
	st.SetViewOnly(3, false)
	st.SetViewOnly(4, false)
	if !st.MayType(b, now) || st.MayType(c, now) || st.Policy() != Largest {
		t.Error("after that was undone")
	}
	for n, want := range map[int][2]bool{2: {true, true}, 3: {true, false}, 9: {false, false}} {
		if known, asked := st.Detach(n); known != want[0] || asked != want[1] {
			t.Errorf("detach %d: %v, %v", n, known, asked)
		}
	}
	if left != 1 {
		t.Errorf("asked to leave %d times", left)
	}
}
