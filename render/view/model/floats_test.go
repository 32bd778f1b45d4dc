package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// seenOn lists the panes on the screen, from bottom to top: ~ floats, ^ is pinned, - is folded, + has the focus.
func (m *Model) seenOn(area layout.Rect) string {
	m.Places = m.Arrange(area)
	m.Visit()
	var out []string
	for _, p := range m.Places {
		sign := ""
		switch {
		case p.Pinned:
			sign = "^"
		case p.Float:
			sign = "~"
		case p.Folded:
			sign = "-"
		}
		if p.Session == m.Focus {
			sign += "+"
		}
		out = append(out, sign+p.Session)
	}
	return strings.Join(out, " ")
}

// FEATURES: R117
func TestFloats(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b", "c"), epoch)
	m.Focus = "b"
	for i, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"a grid", func() {}, "a +b c"},
		{"one floats", func() { m.ToggleFloat() }, "a c ~+b"},
		{"two do", func() { m.Focus = "c"; m.seenOn(area); m.ToggleFloat() }, "a ~b ~+c"},
		{"the last one cannot", func() { m.Focus = "a"; m.seenOn(area); m.ToggleFloat() }, "+a"},
		{"they come back, the topmost with the focus", func() { m.ToggleFloats() }, "a ~b ~+c"},
		{"what gets the focus is on top", func() { m.Focus = "b" }, "a ~c ~+b"},
		{"hidden", func() { m.ToggleFloats() }, "+a"},
		{"pinned", func() { m.ToggleFloats(); m.seenOn(area); m.TogglePin() }, "a ~c ^+b"},
		{"it stays in sight", func() { m.Focus = "a" }, "+a ^b"},
		{"in other tabs, too", func() { m.AddTab(&Tab{Tree: layout.Leaf("a"), Focus: "a"}) }, "+a ^b"},
		{"but not where it stands anyway", func() { m.AddTab(&Tab{Tree: layout.Row(layout.Leaf("a"), layout.Leaf("b")), Focus: "a"}) }, "+a b"},
		{"back", func() { m.DropTab(2); m.DropTab(1) }, "+a ^b"},
		{"closed", func() { m.Focus = "b"; m.ClosePane("b") }, "+a"},
		{"undone", func() { m.Reopen() }, "a ^+b"},
		{"no longer pinned", func() { m.TogglePin() }, "a ~c ~+b"},
		{"beside the others again", func() { m.ToggleFloat() }, "a +b"},
		{"zoomed", func() { m.ToggleFloats(); m.Zoomed = true }, "+c"},
		{"ended and gone", func() { m.Zoomed = false; m.Update(running("c"), epoch); m.Update(running("c"), epoch.Add(ForgetTime)) }, "+c"},
	} {
		step.do()
		if got := m.seenOn(area); got != step.want {
			t.Errorf("%d, %s: %s; want %s", i, step.name, got, step.want)
		}
	}
}

// TestNewFloatOverAPinnedOne checks that a new floating pane is above a pinned one, at another position, and that the
// pinned one is on top again when the focus moves elsewhere.
//
// FEATURES: R117
func TestNewFloatOverAPinnedOne(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b"), epoch)
	m.Focus = "b"
	m.TogglePin()
	if got := m.seenOn(area); got != "a ^+b" {
		t.Fatalf("pinned: %s", got)
	}
	m.Expect("n")
	m.AddFloat(m.Tab(), "n")
	m.Focus = "n"
	m.Update(running("a", "b", "n"), epoch)
	if got := m.seenOn(area); got != "a ^b ~+n" {
		t.Errorf("a new one: %s", got)
	}
	if b, n := m.Float("b").Area(area), m.Float("n").Area(area); b == n {
		t.Errorf("both lie at %v", n)
	}
	m.Focus = "a"
	if got := m.seenOn(area); got != "+a ^b" {
		t.Errorf("the focus below: %s", got)
	}
	m.ToggleFloats()
	m.seenOn(area)
	if m.Focus = "b"; m.seenOn(area) != "a ~n ^+b" {
		t.Errorf("the pinned one again: %s", m.seenOn(area))
	}
	if m.ApplyOrder(&Order{Do: "place", Session: "a2", Float: true}, area) != "" {
		t.Fatal("no place")
	}
	if n, o := m.Float("n").Area(area), m.Float("a2").Area(area); n == o || o == m.Float("b").Area(area) {
		t.Errorf("a tiled pane covers another: %v", o)
	}
}

// TestFloatsOnLittle checks that a terminal too small for floating panes shows the one with the focus.
func TestFloatsOnLittle(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b"), epoch)
	m.Focus = "b"
	m.ToggleFloat()
	for _, c := range []struct {
		w, h int
		want string
	}{{120, 40, "a ~+b"}, {20, 8, "a ~+b"}, {19, 8, "+b"}, {20, 7, "+b"}, {1, 1, "+b"}} {
		if got := m.seenOn(layout.Rect{W: c.w, H: c.h}); got != c.want {
			t.Errorf("%d×%d: %s; want %s", c.w, c.h, got, c.want)
		}
	}
}

// FEATURES: R117
func TestStacks(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b", "c"), epoch)
	m.Focus = "b"
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { m.ToggleStack(area) }, "-a +b c"},
		{func() { m.Focus = "a" }, "+a -b c"},
		{func() { m.Focus = "c" }, "a -b +c"},
		{func() { m.ToggleStack(area) }, "-a -b +c"},
		{func() { m.Toward(0, -1) }, "-a +b -c"},
		{func() { m.Swap(area, 1) }, "-a -c +b"},
		{func() { m.ToggleStack(area) }, "-a c +b"},
		{func() { m.ClosePane("c") }, "a +b"},
		{func() { m.Focus = "a"; m.ToggleFloat(); m.Focus = "b"; m.ToggleStack(area) }, "+b"},
	} {
		step.do()
		if got := m.seenOn(area); got != step.want {
			t.Errorf("%d: %s; want %s: %s", i, got, step.want, &m)
		}
	}
}

// TestStackOnLittle checks that titles without space are omitted, and those nearest to the open pane stay.
func TestStackOnLittle(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b", "c", "d", "e"), epoch)
	m.Tabs = []*Tab{{Tree: layout.NewStack("c", "a", "b", "c", "d", "e")}}
	m.Focus = "c"
	for _, c := range []struct {
		h    int
		want string
	}{{40, "-a -b +c -d -e"}, {7, "-a -b +c -d -e"}, {5, "-b +c -d"}, {3, "+c"}, {2, "+c"}, {1, "+c"}} {
		if got := m.seenOn(layout.Rect{W: 40, H: c.h}); got != c.want {
			t.Errorf("%d rows: %s; want %s", c.h, got, c.want)
		}
	}
}

// TestFloatingPanes_SavedWithLayout checks that floating, pinned and stacked panes are saved with a layout, and
// restored.
//
// FEATURES: R117
func TestFloatingPanes_SavedWithLayout(t *testing.T) {
	m := New(nil)
	m.Update(running("a", "b", "c", "d", "e"), epoch)
	m.Tabs = []*Tab{{Tree: layout.Stack(layout.NewStack("b", "a", "b"), layout.Leaf("c"))}}
	m.Focus = "c"
	m.seenOn(area)
	for _, o := range []Order{
		{Do: "place", Session: "d", Float: true, Area: &layout.Float{X: 0.1, Y: 0.2, W: 0.5, H: 0.5}},
		{Do: "place", Session: "e", Pinned: true},
	} {
		if m.ApplyOrder(&o, area) != "" {
			t.Fatalf("%+v is refused", o)
		}
	}
	const want = "-a b +c ~d ^e"
	if got := m.seenOn(area); got != want {
		t.Fatalf("%s; want %s", got, want)
	}
	if at := m.Places[3].Area; at != (layout.Rect{X: 12, Y: 8, W: 60, H: 20}) {
		t.Errorf("it floats at %v", at)
	}
	b, err := json.Marshal(m.Layout())
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseLayout(b)
	if err != nil {
		t.Fatal(err)
	}
	again := New(nil)
	again.Update(running("a", "b", "c", "d", "e"), epoch)
	if again.UseLayout(f); again.seenOn(area) != want {
		t.Errorf("%s is read back as %s", want, again.seenOn(area))
	}
	o := Order{Do: "place", Session: "d", Beside: "a", Stacked: true}
	if why := again.ApplyOrder(&o, area); why != "" || again.seenOn(area) != "-a -b d +c ^e" && again.seenOn(area) != "-a d -b +c ^e" {
		t.Errorf("stacked: %s", again.seenOn(area))
	}
	if why := again.ApplyOrder(&Order{Do: "close", Session: "e"}, area); why != "" || strings.Contains(again.seenOn(area), "e") {
		t.Errorf("closed: %s", again.seenOn(area))
	}
}

// TestFloatIsMoved checks that a floating pane that is moved or resized stays inside, and keeps a minimal size.
func TestFloatIsMoved(t *testing.T) {
	in := layout.Rect{X: 3, Y: 2, W: 100, H: 30}
	f := layout.NewFloat("a", 0)
	first := f.Area(in)
	for range 7 { // by cells, for any shares
		f.Move(in, 1, 1)
	}
	if got := f.Area(in); got != (layout.Rect{X: first.X + 7, Y: first.Y + 7, W: first.W, H: first.H}) {
		t.Errorf("moved from %v to %v", first, got)
	}
	f.Move(in, 1000, -1000)
	if got := f.Area(in); got.X+got.W != in.X+in.W || got.Y != in.Y || f.Move(in, 1, -1) {
		t.Errorf("moved to the corner: %v in %v", got, in)
	}
	f.Grow(in, -1000, -1000)
	if got := f.Area(in); got.W != layout.FloatMinWidth || got.H != layout.FloatMinHeight {
		t.Errorf("as small as can be: %v", got)
	}
	f.Grow(in, 1000, 1000)
	if got := f.Area(in); got != in {
		t.Errorf("as large as can be: %v in %v", got, in)
	}
}

// FuzzArrange checks that after any actions in any order on any terminal, each cell belongs to one tiled pane, no
// session is shown twice, none has an empty place, shown panes are inside, and the focus is on one of them.
func FuzzArrange(f *testing.F) {
	f.Add([]byte{0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22}, uint16(120), uint16(40))
	f.Add([]byte{1, 3, 3, 1, 3, 4, 4, 7, 7, 7, 9, 9, 2, 2, 12, 12, 15, 3, 6, 5}, uint16(1), uint16(1))
	f.Add([]byte{20, 20, 20, 8, 8, 8, 1, 5, 5, 5, 6, 6, 6}, uint16(20), uint16(5))
	f.Add([]byte{7, 1, 3, 2, 21, 3, 13, 4, 17, 18, 19, 16, 15, 14}, uint16(1000), uint16(500))
	f.Fuzz(func(t *testing.T, ops []byte, w, h uint16) {
		m := New(nil)
		ids := []string{"a", "b", "c", "d", "e", "f", "g"}
		m.Update(running(ids...), epoch)
		area := layout.Rect{W: int(w)%1000 + 1, H: int(h)%500 + 1}
		for i, op := range ops[:min(len(ops), 200)] {
			id := ids[int(op/32)%len(ids)]
			fuzzStep(t, &m, op%32, id, &area)
			m.Places = m.Arrange(area)
			m.Visit()
			if problem := impossible(&m, area); problem != "" {
				t.Fatalf("after %d of %v in %d×%d: %s\n%v\n%s", i, ops, area.W, area.H, problem, m.Places, &m)
			}
		}
	})
}

func fuzzStep(t *testing.T, m *Model, op byte, id string, area *layout.Rect) {
	switch op {
	case 0:
		m.Step(1)
	case 1:
		m.ToggleFloat()
	case 2:
		m.ToggleFloats()
	case 3:
		m.TogglePin()
	case 4:
		m.ToggleStack(*area)
	case 5:
		m.MoveFloat(*area, 3, -2)
	case 6:
		m.Grow(*area, false, 4)
	case 7:
		m.Grow(*area, true, -2)
	case 8:
		m.Rearrange(*area)
	case 9:
		m.Swap(*area, 1)
	case 10:
		m.ClosePane(m.Focus)
	case 11:
		m.Reopen()
	case 12:
		m.CloseTab()
	case 13:
		m.MoveToTab()
	case 14:
		m.StepTab(1)
	case 15:
		m.Zoomed = !m.Zoomed
	case 16:
		m.ToggleAll()
	case 17:
		m.Gap = 1 - m.Gap
	case 18:
		m.ApplyOrder(&Order{Do: "place", Session: id, Float: true}, *area)
	case 19:
		m.ApplyOrder(&Order{Do: "place", Session: id, Pinned: true, Area: &layout.Float{X: 9, Y: -1, W: 1e300, H: 0.001}}, *area)
	case 20:
		m.ApplyOrder(&Order{Do: "place", Session: id, Stacked: true}, *area)
	case 21:
		m.ApplyOrder(&Order{Do: "place", Session: id, Below: true}, *area)
	case 22:
		m.ApplyOrder(&Order{Do: "close", Session: id}, *area)
	case 23:
		m.GoTo(id)
	case 24:
		m.Forget(id)
	case 25:
		m.Update(running("a", "b", "c", "d", "e", "f", "g"), epoch)
	case 26:
		*area = layout.Rect{W: area.H, H: area.W%500 + 1}
	case 27:
		m.Toward(1, 0)
	case 28:
		m.Toward(0, -1)
	case 29:
		m.Expect(id)
		m.AddFloat(m.Tab(), id)
		m.Focus = id
	case 30:
		if t := m.MakeManual(*area); !t.Auto && !t.Tree.Has(id) {
			m.unfloat(t, id)
			t.Tree = t.Tree.Split(m.LastTiled(), id, true)
		}
	default:
		b, err := json.Marshal(m.Layout())
		if err != nil {
			t.Fatal(err)
		}
		f, err := ParseLayout(b)
		if err != nil {
			t.Fatal(err)
		}
		m.UseLayout(f)
	}
}

// impossible returns an error in the arrangement of panes; empty: none.
func impossible(m *Model, area layout.Rect) string {
	seen := map[string]bool{}
	for i, p := range m.Places {
		a := p.Area
		switch {
		case seen[p.Session]:
			return p.Session + " is shown twice"
		case a.W < 1 || a.H < 1:
			return p.Session + " has no room"
		case a.X < area.X || a.Y < area.Y || a.X+a.W > area.X+area.W || a.Y+a.H > area.Y+area.H:
			return p.Session + " lies outside"
		}
		seen[p.Session] = true
		for _, q := range m.Places[:i] {
			b := q.Area
			if !p.Float && a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				return fmt.Sprintf("%s lies over %s", p.Session, q.Session)
			}
		}
	}
	if shown := m.ShownPanes(); len(shown) > 0 && !seen[m.Focus] || len(shown) == 0 && m.Focus != "" {
		return fmt.Sprintf("the focus is on %q, of %v", m.Focus, shown)
	}
	for i := range m.Places {
		switch p := m.Places[i]; {
		case p.Folded && p.Session == m.Focus:
			return "the focus is on a title"
		case p.Float && p.Session == m.Focus && i < len(m.Places)-1:
			return "something lies over the focus"
		}
	}
	if m.Current < 0 || m.Current >= len(m.Tabs) || slices.ContainsFunc(m.Tabs, func(t *Tab) bool { return !t.Auto && t.Tree == nil }) {
		return "a tab without panes"
	}
	return ""
}
