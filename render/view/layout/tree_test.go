package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// show writes a tree as text: (a|b) side by side, [a/b] stacked.
func show(n *Node) string {
	if n == nil {
		return "-"
	}
	if len(n.Kids) == 0 {
		return n.Session
	}
	var kids []string
	for _, k := range n.Kids {
		kids = append(kids, show(k))
	}
	if n.Stacked {
		return "[" + strings.Join(kids, "/") + "]"
	}
	return "(" + strings.Join(kids, "|") + ")"
}

// FEATURES: R76
func TestTree(t *testing.T) {
	var n *Node
	steps := []struct {
		do   func()
		want string
	}{
		{func() { n = n.Split("", "a", false) }, "a"},
		{func() { n = n.Split("a", "b", false) }, "(a|b)"},
		{func() { n = n.Split("a", "c", false) }, "(a|c|b)"},
		{func() { n = n.Split("c", "d", true) }, "(a|[c/d]|b)"},
		{func() { n = n.Split("c", "e", true) }, "(a|[c/e/d]|b)"},
		{func() { n = n.Split("e", "f", false) }, "(a|[c/(e|f)/d]|b)"},
		{func() { n = n.Split("nowhere", "g", true) }, "((a|[c/(e|f)/d]|b)|g)"},
		{func() { n.Swap("a", "f") }, "((f|[c/(e|a)/d]|b)|g)"},
		{func() { n.Rename("g", "h") }, "((f|[c/(e|a)/d]|b)|h)"},
		{func() { n = n.Without("c") }, "(f|[(e|a)/d]|b|h)"},
		{func() { n = n.Without("d") }, "(f|e|a|b|h)"},
		{func() { n = n.Filter(func(s string) bool { return s > "e" }) }, "(f|h)"},
		{func() { n = n.Without("f") }, "h"},
		{func() { n = n.Without("h") }, "-"},
	}
	for i, s := range steps {
		s.do()
		if got := show(n); got != s.want {
			t.Fatalf("step %d: %s; want %s", i, got, s.want)
		}
	}
}

func TestArrange(t *testing.T) {
	n := Row(Leaf("a"), Stack(Leaf("b"), Leaf("c")))
	places, dividers, fits := n.Arrange(Rect{0, 0, 81, 24}, 1)
	want := []Place{{Session: "a", Area: Rect{0, 0, 40, 24}}, {Session: "b", Area: Rect{41, 0, 40, 12}}, {Session: "c", Area: Rect{41, 12, 40, 12}}}
	if !slices.Equal(places, want) || len(dividers) != 2 || !fits {
		t.Errorf("%v %v %v", places, dividers, fits)
	}
	if _, _, fits := n.Arrange(Rect{0, 0, 20, 4}, 1); fits {
		t.Error("three panes fit into 20×4")
	}
	for _, d := range dividers {
		if d.Stacked {
			d.Move(-5)
			continue
		}
		d.Move(1000) // as far as it goes
	}
	places, _, _ = n.Arrange(Rect{0, 0, 81, 24}, 1)
	if places[0].Area.W != 70 || places[1].Area.H != 7 || places[2].Area.Y != 7 {
		t.Errorf("after moving the dividers: %v", places)
	}
	for _, s := range []struct {
		session string
		stacked bool
		by      int
		want    [3]int // width of a, height of b, height of c
	}{{"a", false, -10, [3]int{60, 7, 17}}, {"c", false, 5, [3]int{55, 7, 17}}, {"b", true, 2, [3]int{55, 9, 15}}, {"c", true, 2, [3]int{55, 7, 17}}, {"a", true, 2, [3]int{55, 7, 17}}} {
		n.Grow(s.session, Rect{0, 0, 81, 24}, 1, s.stacked, s.by)
		places, _, _ = n.Arrange(Rect{0, 0, 81, 24}, 1)
		if got := [3]int{places[0].Area.W, places[1].Area.H, places[2].Area.H}; got != s.want {
			t.Errorf("%+v: %v", s, got)
		}
	}
	n.Even()
	if places, _, _ = n.Arrange(Rect{0, 0, 81, 24}, 1); !slices.Equal(places, want) {
		t.Errorf("evened out: %v", places)
	}
}

// TestArrangeInvariants checks that for any tree the panes are inside and do not overlap, and every session has one.
func TestArrangeInvariants(t *testing.T) {
	for _, a := range Arrangements {
		for n := range 14 {
			var ids []string
			for i := range n {
				ids = append(ids, fmt.Sprint("s", i))
			}
			for _, size := range []Rect{{0, 0, 20, 4}, {0, 0, 81, 24}, {3, 5, 500, 200}} {
				tree := a.Make(size, ids)
				places, _, fits := tree.Arrange(size, 1)
				if !slices.Equal(tree.Sessions(), ids) || len(places) != n && !tree.IsStack { // a stack may omit titles
					t.Fatalf("%s of %d: %v", a.Name, n, tree.Sessions())
				}
				if !fits {
					continue
				}
				cells := 0
				for i, p := range places {
					cells += p.Area.W * p.Area.H
					for _, q := range places[:i] {
						if p.Area.X < q.Area.X+q.Area.W && q.Area.X < p.Area.X+p.Area.W && p.Area.Y < q.Area.Y+q.Area.H && q.Area.Y < p.Area.Y+p.Area.H {
							t.Fatalf("%s of %d in %v: %v and %v overlap", a.Name, n, size, p, q)
						}
					}
				}
				if cells > size.W*size.H {
					t.Fatalf("%s of %d: %d cells in %v", a.Name, n, cells, size)
				}
			}
		}
	}
}

// FuzzTree checks that any tree that is read from a file is made valid.
func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"kids":[{"session":"a"},{"session":"a"},{"kids":[{"session":"b"},null]},{"kids":[]}]}`))
	f.Add([]byte(`{"stacked":true,"kids":[{"session":"a","share":-1},{"session":"b","share":1e308},{"session":"c","share":1e308}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n *Node
		if json.Unmarshal(b, &n) != nil {
			return
		}
		n = n.Filter(func(string) bool { return true })
		places, dividers, _ := n.Arrange(Rect{0, 0, 100, 40}, 1)
		seen := map[string]bool{}
		for _, p := range places {
			if seen[p.Session] || p.Session == "" || p.Area.W < 0 || p.Area.H < 0 || p.Area.X+p.Area.W > 200 {
				t.Fatalf("%s: %+v", b, places)
			}
			seen[p.Session] = true
		}
		for i := range dividers {
			dividers[i].Move(1)
		}
	})
}

// TestSplitBy checks that a new pane is at the requested place, with the requested part of the space, and that no other
// pane gives any.
//
// FEATURES: R119
func TestSplitBy(t *testing.T) {
	area := Rect{W: 100, H: 40}
	for _, c := range []struct {
		name  string
		tree  *Node
		s     Splitting
		order string
		is    Rect // of the new one
	}{
		{"to the right", Leaf("a"), Splitting{Share: 0.25}, "a x", Rect{X: 75, W: 25, H: 40}},
		{"to the left", Leaf("a"), Splitting{Share: 0.25, Before: true}, "x a", Rect{W: 25, H: 40}},
		{"above", Leaf("a"), Splitting{Stacked: true, Before: true}, "x a", Rect{W: 100, H: 20}},
		{"in a group", Row(Leaf("a"), Leaf("b")), Splitting{Share: 0.2}, "a x b", Rect{X: 40, W: 10, H: 40}},
		{"before, in a group", Row(Leaf("a"), Leaf("b")), Splitting{Before: true}, "x a b", Rect{W: 25, H: 40}},
		{"below all", Row(Leaf("a"), Leaf("b")), Splitting{Stacked: true, FullLength: true, Share: 0.25}, "a b x", Rect{Y: 30, W: 100, H: 10}},
		{"right of all", Row(Leaf("a"), Leaf("b")), Splitting{FullLength: true}, "a b x", Rect{X: 50, W: 50, H: 40}},
		{"left of all", Stack(Leaf("a"), Leaf("b")), Splitting{FullLength: true, Before: true, Share: 0.1}, "x a b", Rect{W: 10, H: 40}},
		{"of a pile", NewStack("a", "a", "b"), Splitting{Before: true}, "x a b", Rect{W: 50, H: 40}},
		{"no tree", nil, Splitting{Before: true, Share: 0.3}, "x", area},
	} {
		n := c.tree.SplitBy("a", "x", c.s)
		if got := strings.Join(n.Sessions(), " "); got != c.order {
			t.Errorf("%s: %s, want %s", c.name, got, c.order)
		}
		places, _, _ := n.Arrange(area, 0)
		for _, p := range places {
			if p.Session == "x" && p.Area != c.is {
				t.Errorf("%s: at %+v, want %+v", c.name, p.Area, c.is)
			}
		}
	}
}

// TestReorder checks that sessions swap their places, and that the places stay the same.
func TestReorder(t *testing.T) {
	n := Row(Leaf("a"), NewStack("c", "b", "c"))
	n.Reorder([]string{"c", "a", "b"})
	if got := strings.Join(n.Sessions(), " "); got != "c a b" || n.Kids[1].Open != "b" {
		t.Errorf("%s, %s is open", got, n.Kids[1].Open)
	}
}

// TestMoveBorder checks that a border moves as in tmux (3.3a, resize-pane -L and -R): the one after a pane, or before
// the last one. It pushes those in its way, as far as panes keep a minimal size.
//
// FEATURES: R119
func TestMoveBorder(t *testing.T) {
	for _, c := range []struct {
		session string
		by      int
		want    string
	}{
		{"a", -3, "29 35 34"}, {"a", 3, "35 29 34"},
		{"b", -3, "32 29 37"}, {"b", 3, "32 35 31"},
		{"c", -3, "32 29 37"}, {"c", 3, "32 35 31"},
		{"c", -40, "14 10 74"}, {"a", 40, "72 10 16"}, {"c", -400, "10 10 78"}, {"a", -50, "10 54 34"}, {"c", 50, "32 56 10"},
		{"c", 0, "32 32 34"},
	} {
		n := &Node{Kids: []*Node{{Session: "a", Share: 32}, {Session: "b", Share: 32}, {Session: "c", Share: 34}}}
		area := Rect{0, 0, 100, 30}
		if n.MoveBorder(c.session, area, 1, true, c.by) {
			t.Error("a row has no border to move up or down")
		}
		if !n.MoveBorder(c.session, area, 1, false, c.by) {
			t.Errorf("%s has no border", c.session)
		}
		places, _, _ := n.Arrange(area, 1)
		var got []string
		for _, p := range places {
			got = append(got, strconv.Itoa(p.Area.W))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s by %d: %s, want %s", c.session, c.by, text, c.want)
		}
	}
}
