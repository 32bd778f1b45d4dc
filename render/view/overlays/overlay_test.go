package overlays

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// stage is an overlay on a separate terminal, as in the viewer.
type stage struct {
	t         *testing.T
	term      *screentest.Screen
	screen    Screen
	over      Overlay // nil: closed
	previewed string
}

func show(t *testing.T, cols, rows int, o Overlay) *stage {
	t.Helper()
	keys, err := keymap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys.PrefixName = "Ctrl-Space"
	d := &stage{t: t, term: screentest.Started(t, cols, rows), over: o}
	c := canvas.New(d.term, false)
	d.screen = Screen{Canvas: &c, Theme: theme.Mono, Keys: keys, Bar: &statusbar.Bar{}, Preview: func(_ layout.Rect, id string) { d.previewed = id }}
	d.draw()
	return d
}

func (d *stage) draw() {
	if d.over != nil {
		d.over.Draw(&d.screen)
		d.screen.Canvas.Show()
	}
}

// done handles a result as the viewer does.
func (d *stage) done(r Result) {
	if r.Close {
		d.over = nil
	}
	if r.Then != nil {
		r.Then()
	}
	d.draw()
}

// keys presses keys by name; those of one character type it.
func (d *stage) keys(names ...string) {
	d.t.Helper()
	for _, n := range names {
		k, err := input.ParseKey(n)
		if err != nil {
			d.t.Fatal(err)
		}
		if r := []rune(n); len(r) == 1 {
			k.Text = n
		}
		d.done(d.over.Key(k))
	}
}

func fruits(taken *string) *List {
	return &List{Title: "Fruits", Preview: true, Items: func() []Item {
		var out []Item
		for _, name := range []string{"apple", "banana", "cherry", "date"} {
			out = append(out, Item{Text: name, Extra: fmt.Sprint(len(name)), Sign: "●", Session: "id-" + name, Do: func() { *taken = name }})
		}
		return out
	}}
}

func TestList(t *testing.T) {
	for _, c := range []struct {
		name, keys, chosen, taken string
		open                      bool
	}{
		{"the first", "Enter", "apple", "apple", false},
		{"down", "Down Down Enter", "cherry", "cherry", false},
		{"round", "Up Enter", "date", "date", false},
		{"Ctrl-n and Ctrl-p", "C-n C-n C-p Enter", "banana", "banana", false},
		{"typed", "n a n Enter", "banana", "banana", false},
		{"typed and deleted", "n a n Backspace Backspace Backspace Down", "banana", "", true},
		{"nothing fits", "z z Enter", "", "", false},
		{"closed", "Down Escape", "banana", "", false},
	} {
		taken := ""
		l := fruits(&taken)
		d := show(t, 60, 20, l)
		d.keys(strings.Fields(c.keys)...)
		chosen := ""
		if it := l.choice(); it != nil {
			chosen = it.Text
		}
		if chosen != c.chosen || taken != c.taken || (d.over != nil) != c.open {
			t.Errorf("%s: %q is chosen, %q accepted, open %v", c.name, chosen, taken, d.over != nil)
		}
	}
}

func TestListDrawn(t *testing.T) {
	taken := ""
	d := show(t, 40, 14, fruits(&taken))
	d.keys("a", "n")
	for _, want := range []string{"┌─ Fruits  1 ──", "│ › an   ", "│ ● banana                           6 │"} {
		if got := d.term.Text(); !strings.Contains(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	if d.previewed != "" {
		t.Error("there is a preview on a narrow terminal")
	}
	if d := show(t, 100, 20, fruits(&taken)); d.previewed != "id-apple" {
		t.Errorf("%q is shown outside of the list", d.previewed)
	}
}

func TestListMouse(t *testing.T) {
	taken := ""
	l := fruits(&taken)
	d := show(t, 40, 14, l)
	click := func(x, y int) { d.done(l.Mouse(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, 0), 0)) }
	d.done(l.Mouse(tcell.NewEventMouse(0, 0, tcell.WheelDown, 0), 0))
	if l.choice().Text != "banana" {
		t.Errorf("the wheel chooses %s", l.choice().Text)
	}
	click(l.area.X+1, l.area.Y+3)
	if taken != "date" || d.over != nil {
		t.Errorf("a click accepted %q", taken)
	}
	taken = ""
	d.over = l
	click(0, 13)
	if taken != "" || d.over != nil {
		t.Error("a click outside of a list does not close it")
	}
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"a b Enter", "oldab"},
		{"Backspace x Enter", "olx"},
		{"Home n Space Enter", "n old"},
		{"C-a Delete C-e C-h Enter", "l"},
		{"C-u Enter", ""},
		{"Space n e w C-w Enter", "old "},
		{"Left Left X Right Y Enter", "oXlYd"},
		{"x Escape", "cancelled"},
		{"x C-g", "cancelled"},
	} {
		got := "open"
		p := NewPrompt("name: ", "old", func(text string) { got = text })
		p.Cancel = func() { got = "cancelled" }
		d := show(t, 40, 5, p)
		d.keys(strings.Fields(c.keys)...)
		if got != c.want || d.over != nil {
			t.Errorf("%s: %q; want %q", c.keys, got, c.want)
		}
	}
}

func TestSearchPrompt(t *testing.T) {
	var told []string
	p := &Prompt{Label: "search: ", Search: true, Change: func(text string, regexp bool) { told = append(told, fmt.Sprint(text, regexp)) }}
	d := show(t, 60, 5, p)
	if got := d.term.Row(4); !strings.HasPrefix(got, " search: ") || !strings.HasSuffix(got, "Ctrl-R: regular expression") {
		t.Errorf("%q", got)
	}
	p.Note = func() string { return "3 found" }
	d.keys("a", "C-r", "Left")
	d.done(p.Paste("b\x1bc"))
	if got, want := strings.Join(told, " "), "afalse atrue atrue bcatrue"; got != want {
		t.Errorf("message %q; want %q", got, want)
	}
	if got := d.term.Row(4); !strings.HasPrefix(got, " regexp: bca") || !strings.HasSuffix(got, "3 found") {
		t.Errorf("%q", got)
	}
}

func TestQuestion(t *testing.T) {
	for key, want := range map[string]bool{"y": true, "Y": true, "n": false, "Enter": false, "Escape": false} {
		yes := false
		d := show(t, 40, 5, &Confirmation{Text: "kill a?", Yes: func() { yes = true }})
		if got := d.term.Row(4); got != " kill a? y/n" {
			t.Errorf("%q", got)
		}
		if d.keys(key); yes != want || d.over != nil {
			t.Errorf("%s means yes: %v", key, yes)
		}
	}
}

func TestHelpScrolls(t *testing.T) {
	d := show(t, 80, 12, &Help{})
	first := d.term.Row(4)
	d.keys("Down")
	if d.term.Row(3) != first {
		t.Errorf("a row down:\n%s", d.term.Text())
	}
	d.keys("End")
	if !strings.Contains(d.term.Text(), "Ctrl-Space twice") {
		t.Errorf("at the end:\n%s", d.term.Text())
	}
	d.keys("z", "o", "o", "m")
	if got := d.term.Text(); !strings.Contains(got, "show only this pane") || strings.Contains(got, "twice") {
		t.Errorf("keys for zooming:\n%s", got)
	}
	d.keys("q", "q")
	if got := d.term.Text(); !strings.Contains(got, "No matching key.") {
		t.Errorf("no entry has this name:\n%s", got)
	}
	if d.keys("Escape"); d.over != nil {
		t.Error("Escape does not close the help")
	}
}

// TestHintsInWholeGroups checks that a group is in one column, if there is space for that.
func TestHintsInWholeGroups(t *testing.T) {
	group, row := hintCell{group: "g"}, hintCell{row: &keymap.Row{}}
	cells := []hintCell{group, row, row, row, group, row, group, row, row}
	for _, c := range []struct {
		fit, most int
		want      string
	}{{3, 9, "[4 2 3]"}, {2, 9, "[4 5]"}, {1, 9, "[9]"}, {1, 8, "[]"}, {9, 3, "[]"}} {
		got := []int{}
		for _, column := range hintsInWhole(cells, c.fit, c.most) {
			got = append(got, len(column))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d columns of %d lines: %v; want %s", c.fit, c.most, got, c.want)
		}
	}
}

func TestHintColumns(t *testing.T) {
	group, row := hintCell{group: "g"}, hintCell{row: &keymap.Row{}}
	for _, c := range []struct {
		cells []hintCell
		lines int
		want  string
	}{
		{[]hintCell{group, row, row, group, row}, 5, "[5]"},
		{[]hintCell{group, row, row, group, row}, 4, "[3 2]"}, // a group's name is not separated from its rows
		{[]hintCell{group, row, row, row}, 2, "[2 2]"},
		{[]hintCell{group, row}, 1, "[1 1]"},
	} {
		var got []int
		for _, column := range hintColumns(c.cells, c.lines) {
			got = append(got, len(column))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d cells in lines of %d: %v; want %s", len(c.cells), c.lines, got, c.want)
		}
	}
}
