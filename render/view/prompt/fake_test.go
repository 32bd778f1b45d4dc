package prompt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

var update = flag.Bool("update", false, "write the golden screens")

// grid is a canvas of text.
type grid struct {
	w, h  int
	cells [][]string
	out   bool // something was drawn outside
}

func newGrid(w, h int) *grid {
	g := &grid{w: w, h: h, cells: make([][]string, h)}
	for i := range g.cells {
		g.cells[i] = strings.Split(strings.Repeat("·", w), "")
	}
	return g
}

func (g *grid) Text(x, y, w int, text string, _ tcell.Style) {
	if x < 0 || y < 0 || x+w > g.w || y >= g.h || uniseg.StringWidth(text) > w {
		g.out = true
		return
	}
	for c := uniseg.NewGraphemes(text); c.Next(); x, w = x+c.Width(), w-c.Width() {
		g.cells[y][x] = c.Str()
		for i := 1; i < c.Width(); i++ {
			g.cells[y][x+i] = ""
		}
	}
	for i := range w {
		g.cells[y][x+i] = " "
	}
}

// screen returns the prompt as it is drawn, with the cursor's position.
func screen(t *testing.T, p *Prompt, w, most int) string {
	t.Helper()
	h := p.Height(w, most)
	g := newGrid(w, h)
	x, y := p.Draw(g, w, h)
	if g.out || h > most {
		t.Errorf("something is drawn outside of %d×%d", w, h)
	}
	var b strings.Builder
	for _, row := range g.cells {
		b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	fmt.Fprintf(&b, "cursor %d,%d\n", x, y)
	return b.String()
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s (%v):\n%s\nwant\n%s", name, err, got, want)
	}
}

// press types a script of keys: <Name> is a key, the rest characters.
func press(t *testing.T, p *Prompt, script string) []Action {
	t.Helper()
	var all []Action
	for script != "" {
		if rest, ok := strings.CutPrefix(script, "<"); ok {
			name, after, ok := strings.Cut(rest, ">")
			if name == "" { // <> is <
				all = append(all, p.Event(tcell.NewEventKey(tcell.KeyRune, '<', 0))...)
				script = after
				continue
			}
			if !ok {
				t.Fatalf("script %q", script)
			}
			all = append(all, p.Event(keyEvent(t, name))...)
			script = after
			continue
		}
		r := []rune(script)[0]
		all = append(all, p.Event(tcell.NewEventKey(tcell.KeyRune, r, 0))...)
		script = script[len(string(r)):]
	}
	return all
}

func keyEvent(t *testing.T, name string) tcell.Event {
	t.Helper()
	mods := tcell.ModNone
	for {
		if rest, ok := strings.CutPrefix(name, "M-"); ok && rest != "" {
			mods, name = mods|tcell.ModAlt, rest
			continue
		}
		if rest, ok := strings.CutPrefix(name, "C-"); ok && len([]rune(rest)) > 1 {
			mods, name = mods|tcell.ModCtrl, rest
			continue
		}
		break
	}
	for key, n := range namedKeys {
		if n == name && key != tcell.KeyBackspace {
			return tcell.NewEventKey(key, 0, mods)
		}
	}
	if rest, ok := strings.CutPrefix(name, "C-"); ok {
		c := strings.ToUpper(rest)[0]
		return tcell.NewEventKey(tcell.Key(c-'@'), rune(c-'@'), mods|tcell.ModCtrl)
	}
	if r := []rune(name); len(r) == 1 {
		return tcell.NewEventKey(tcell.KeyRune, r[0], mods)
	}
	t.Fatalf("no key %q", name)
	return nil
}
