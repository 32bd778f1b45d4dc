package model

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// TestReopen checks that a closed tab comes back in its place with its panes, and a closed pane in its tab, or in a new
// one.
//
// FEATURES: R76
func TestReopen(t *testing.T) {
	area := layout.Rect{W: 200, H: 50}
	m := New(nil)
	var u Update
	for _, id := range []string{"a", "b", "c", "d"} {
		u.Sessions = append(u.Sessions, Session{ID: id, Name: id, State: StateRunning})
	}
	m.Update(u, epoch)
	m.AddTab(&Tab{Name: "two", Tree: layout.Row(layout.Leaf("a"), layout.Stack(layout.Leaf("b"), layout.Leaf("c"))), Focus: "b"})
	says := func(want string) {
		t.Helper()
		var tabs []string
		for i := range m.Tabs {
			tabs = append(tabs, m.Title(i)+":"+strings.Join(m.Tabs[i].Tree.Sessions(), ""))
		}
		if got := strings.Join(tabs, " ") + " " + m.Focus; got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if m.Reopen() != "" {
		t.Error("undo without a closed pane")
	}
	m.ClosePane("b")
	says("all: two:ac a")
	m.CloseTab()
	says("all: d")
	if m.Reopen() != "tab reopened" {
		t.Error("no tab")
	}
	says("all: two:ac a")
	if m.Reopen() != "pane reopened" {
		t.Error("no pane")
	}
	says("all: two:abc b")
	if p := m.Arrange(area); len(p) != 3 || p[1].Area.X != p[2].Area.X {
		t.Errorf("it was above c: %+v", p)
	}

	// New sessions stay in place, and removed ones are not waited for.
	m.ClosePane("b")
	m.Tab().Tree = m.Tab().Tree.Split("c", "d", false)
	m.Reopen()
	if ids := strings.Join(m.ShownPanes(), ""); len(ids) != 4 || !strings.Contains(ids, "d") || !strings.Contains(ids, "b") {
		t.Errorf("%s is shown", ids)
	}
	m.ClosePane("b")
	m.CloseTab()
	u.Sessions = u.Sessions[1:2]
	m.Update(u, epoch)
	m.Reopen()
	says("all: b:b b") // its tab has no session left
	if m.Reopen() != "" {
		t.Error("more is brought back than was closed")
	}
}
