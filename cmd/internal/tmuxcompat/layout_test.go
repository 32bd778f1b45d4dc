//go:build unix

package tmuxcompat

import (
	"slices"
	"strings"
	"testing"
)

func window(t *testing.T, text string) *tree {
	t.Helper()
	d, ok := parseLayout(addChecksum(text))
	if !ok {
		t.Fatalf("%s is no layout", text)
	}
	return d
}

// TestLayouts checks that the layouts are those of tmux 3.3a after the same commands.
// FEATURES: R106
func TestLayouts(t *testing.T) {
	const three = "120x40,0,0{83x40,0,0[83x20,0,0,0,83x19,0,21,2],36x40,84,0,1}"
	for _, c := range []struct {
		name string
		do   func(*tree)
		want string
	}{
		{"as it is", func(*tree) {}, three},
		{"resize-pane -x 50", func(d *tree) { d.sizeTo(d.find(0), beside, 50) }, "120x40,0,0{50x40,0,0[50x20,0,0,0,50x19,0,21,2],69x40,51,0,1}"},
		{"resize-pane -U 5 of the last", func(d *tree) { d.grow(d.find(2), below, -5) }, "120x40,0,0{83x40,0,0[83x15,0,0,0,83x24,0,16,2],36x40,84,0,1}"},
		{"the first of two goes", func(d *tree) { d.remove(d.find(0)) }, "120x40,0,0{83x40,0,0,2,36x40,84,0,1}"},
		{"the last of all goes", func(d *tree) { d.remove(d.find(1)) }, "120x40,0,0[120x20,0,0,0,120x19,0,21,2]"},
		{"no more than there is", func(d *tree) { d.sizeTo(d.find(1), beside, 500) }, "120x40,0,0{1x40,0,0[1x20,0,0,0,1x19,0,21,2],118x40,2,0,1}"},
	} {
		d := window(t, three)
		if c.do(d); d.root.String() != c.want {
			t.Errorf("%s: %s, not %s", c.name, d.root, c.want)
		}
	}
	if got := addChecksum(three); !strings.HasPrefix(got, "d69f,") {
		t.Errorf("the sum is %s", got)
	}
}

func TestNamedLayouts(t *testing.T) {
	panes := []*pane{{place: place{Pane: 0}}, {place: place{Pane: 2}}, {place: place{Pane: 1}}}
	for name, want := range map[string]string{
		"tiled":           "d6f7,120x40,0,0[120x19,0,0{59x19,0,0,0,60x19,60,0,2},120x20,0,20,1]",
		"main-vertical":   "de7f,120x40,0,0{80x40,0,0,0,39x40,81,0[39x19,81,0,2,39x20,81,20,1]}",
		"main-horizontal": "88ea,120x40,0,0[120x24,0,0,0,120x15,0,25{59x15,0,25,2,60x15,60,25,1}]",
		"even-h":          "2758,120x40,0,0{39x40,0,0,0,39x40,40,0,2,40x40,80,0,1}",
		"even-vertical":   "0b9f,120x40,0,0[120x12,0,0,0,120x12,0,13,2,120x14,0,26,1]",
	} {
		if root, _ := arrangeByName(name, panes, 120, 40); addChecksum(root.String()) != want {
			t.Errorf("%s: %s, not %s", name, addChecksum(root.String()), want)
		}
	}
	if root, _ := arrangeByName("bogus", panes, 120, 40); root != nil {
		t.Error("bogus is a layout")
	}
}

// TestLayoutsThatAreNone checks that a caller's text is no layout if it does not add up.
func TestLayoutsThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", ",", "80x24", "80x24,0,0{", "80x24,0,0{}", "80x24,0,0{80x24,0,0,1}", "80x24,0,0{40x24,0,0,1,40x24,41,0,2}", "80x24,0,0,1,", "0x24,0,0,1", "80x24,0,0[80x12,0,0,1,79x11,0,13,2]",
		"99999999999x1,0,0,1", strings.Repeat("80x24,0,0{", 1000), "80x24,0,0,x",
	} {
		if _, ok := parseLayout(addChecksum(text)); ok {
			t.Errorf("%q is a layout", text)
		}
	}
	if _, ok := parseLayout("abcd,80x24,0,0,1"); ok {
		t.Error("a wrong checksum is accepted")
	}
}

func FuzzLayout(f *testing.F) {
	f.Add("120x40,0,0{83x40,0,0[83x20,0,0,0,83x19,0,21,2],36x40,84,0,1}", uint8(0), int16(7))
	f.Fuzz(func(t *testing.T, text string, which uint8, n int16) {
		d, ok := parseLayout(addChecksum(text))
		if !ok {
			return
		}
		leaves := d.root.leaves()
		c := leaves[int(which)%len(leaves)]
		d.grow(c, beside, int(n))
		d.sizeTo(c, below, int(n))
		if made := d.split(c, axis("hv"[which&1]), int(n), which&2 > 0, which&4 > 0); made != nil {
			d.spread(made)
		}
		d.remove(c)
		d.resize(max(1, int(n)), 20)
		if slices.ContainsFunc(d.root.leaves(), func(c *cell) bool { return c.w < 1 || c.h < 1 }) {
			t.Errorf("%q: a pane without cells: %s", text, d.root)
		}
		if !d.root.isComplete() {
			t.Errorf("%q does not add up: %s", text, d.root)
		}
	})
}
