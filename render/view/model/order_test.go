package model

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// FEATURES: R117
func TestObey(t *testing.T) {
	area := layout.Rect{W: 160, H: 50}
	now := time.Unix(0, 0)
	fresh := func() *Model {
		m := New(nil)
		m.Update(Update{Sessions: []Session{{ID: "a", State: StateRunning}, {ID: "b", State: StateRunning}, {ID: "c", State: StateRunning}}}, now)
		m.Tabs = []*Tab{{Tree: layout.Row(layout.Leaf("a"), layout.Leaf("b")), Focus: "a"}, {Name: "two", Tree: layout.Leaf("c"), Focus: "c"}}
		m.Current, m.Focus = 0, "a"
		return &m
	}
	for name, c := range map[string]struct {
		o         Order
		ok        bool
		first     []string
		tabs, now int
		focus     string
	}{
		"beside the focus":     {Order{Do: "place", Session: "c"}, true, []string{"a", "c", "b"}, 2, 0, "a"},
		"below another":        {Order{Do: "place", Session: "c", Beside: "b", Below: true}, true, []string{"a", "b", "c"}, 2, 0, "a"},
		"one that is there":    {Order{Do: "place", Session: "a", Beside: "b"}, true, []string{"b", "a"}, 2, 0, "a"},
		"beside itself":        {Order{Do: "place", Session: "a", Beside: "a"}, false, []string{"a", "b"}, 2, 0, "a"},
		"in a new tab":         {Order{Do: "place", Session: "b", Tab: "new"}, true, []string{"a", "b"}, 3, 0, "a"},
		"beside, in a new tab": {Order{Do: "place", Session: "b", Tab: "new", Beside: "a"}, false, []string{"a", "b"}, 2, 0, "a"},
		"beside, of another":   {Order{Do: "place", Session: "a", Tab: "two", Beside: "b"}, false, []string{"a", "b"}, 2, 0, "a"},
		"in another tab":       {Order{Do: "place", Session: "a", Tab: "two"}, true, []string{"a", "b"}, 2, 0, "a"},
		"one to come":          {Order{Do: "place", Session: "d"}, true, []string{"a", "d", "b"}, 2, 0, "a"},
		"closed":               {Order{Do: "close", Session: "b"}, true, []string{"a"}, 2, 0, "a"},
		"closed, its tab":      {Order{Do: "close", Session: "c"}, true, []string{"a", "b"}, 1, 0, "a"},
		"closed, not there":    {Order{Do: "close", Session: "d"}, false, []string{"a", "b"}, 2, 0, "a"},
		"focus":                {Order{Do: "focus", Session: "c"}, true, []string{"a", "b"}, 2, 1, "c"},
		"focus on nothing":     {Order{Do: "focus", Session: "d"}, false, []string{"a", "b"}, 2, 0, "a"},
		"no layout":            {Order{Do: "apply"}, false, []string{"a", "b"}, 2, 0, "a"},
		"something unknown":    {Order{Do: "dance", Session: "a"}, false, []string{"a", "b"}, 2, 0, "a"},
		"a layout":             {Order{Do: "apply", Layout: &Layout{Version: LayoutVersion, Tabs: []TabFile{{Tree: layout.Leaf("c"), Focus: "c"}}}}, true, []string{"c"}, 1, 0, "c"},
		"beside, other tab":    {Order{Do: "place", Session: "a", Beside: "c"}, true, []string{"a", "b"}, 2, 0, "a"},
		"unknown beside one":   {Order{Do: "place", Session: "c", Beside: "zz"}, true, []string{"a", "b", "c"}, 2, 0, "a"},
	} {
		m := fresh()
		why := m.ApplyOrder(&c.o, area)
		ok := why == ""
		got := m.Tabs[0].Tree.Sessions()
		same := len(got) == len(c.first)
		for i := range got {
			same = same && got[i] == c.first[i]
		}
		if ok != c.ok || !same || len(m.Tabs) != c.tabs || m.Current != c.now || m.Focus != c.focus {
			t.Errorf("%s: %v %v, %d tabs, tab %d, focus %s", name, ok, got, len(m.Tabs), m.Current, m.Focus)
		}
	}

	m := fresh() // removes a session to test what depends on running ones
	m.Tabs = []*Tab{{Auto: true, Focus: "a"}}
	if m.ApplyOrder(&Order{Do: "close", Session: "b"}, area) != "" || m.Tabs[0].Auto || m.Tabs[0].Tree.Has("b") || len(m.Tabs[0].Tree.Sessions()) != 2 {
		t.Errorf("closed in the grid: %+v", m.Tabs[0])
	}
}

// TestObey_ErrorsNameRemedy checks that the error of an order that cannot be done names the remedy.
// FEATURES: R117
func TestObey_ErrorsNameRemedy(t *testing.T) {
	area := layout.Rect{W: 160, H: 50}
	m := New(nil)
	m.Update(Update{Sessions: []Session{{ID: "a", Name: "alpha", State: StateRunning}, {ID: "b", Name: "beta", State: StateRunning}}}, time.Unix(0, 0))
	m.Tabs = append([]*Tab{{Auto: true, Focus: "a"}}, &Tab{Name: "all", Auto: true})
	m.Current, m.Focus = 0, "a"
	for _, c := range []struct {
		o    Order
		want string
	}{
		{Order{Do: "place", Session: "a", Stacked: true}, "alpha has the focus: name another session with --beside"},
		{Order{Do: "place", Session: "b", Beside: "zz", Stacked: true}, "zz has no pane to stack beta with: name another session with --beside"},
		{Order{Do: "place", Session: "b", Beside: "b"}, "beta cannot be placed beside itself: name another session with --beside"},
		{Order{Do: "place", Session: "b", Tab: "all"}, "the tab shows all sessions: go there first, or place beta in a new tab (--tab NAME)"},
		{Order{Do: "focus", Session: "zz"}, "zz is not shown here: `longterm layout place` shows it"},
		{Order{Do: "place", Session: "b", Beside: "a", Stacked: true}, ""},
	} {
		if why := m.ApplyOrder(&c.o, area); why != c.want {
			t.Errorf("%+v: %q; want %q", c.o, why, c.want)
		}
	}
}
