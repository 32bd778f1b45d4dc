//go:build unix

package canvas

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// TestLookalikes checks that a terminal without UTF-8 gets similar characters for those that programs print often, not
// a row of question marks.
//
// FEATURES: R76
func TestLookalikes(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LC_ALL", "C")
	e := screentest.NewEmulated(20, 3)
	screen, err := Terminal(nil, func() (tcell.Tty, error) { return e, nil }, func(theme.Background) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	defer screen.Fini()
	c := New(screen, true)
	for i, r := range []rune("“it’s” … ▀▀ ❯ ✓") {
		c.Put(i, 0, 1, string(r), Plain)
	}
	c.Show()
	if got, want := e.Texts()[0], `"it's" ~ ## > +`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBetterName checks that an xterm has its colours, though its name implies eight.
//
// FEATURES: R76
func TestBetterName(t *testing.T) {
	for _, c := range []struct{ term, version, want string }{
		{"xterm", "XTerm(379)", "xterm-256color"},
		{"xterm", "XTerm(331)", "xterm-256color"},
		{"xterm", "XTerm(271)", ""},
		{"xterm", "", ""},
		{"xterm", "XTerm(x)", ""},
		{"screen", "XTerm(379)", ""}, // a multiplexer in it
		{"xterm-direct", "XTerm(379)", ""},
	} {
		got := betterName(func(name string) string { return map[string]string{"TERM": c.term, "XTERM_VERSION": c.version}[name] })
		if got != c.want {
			t.Errorf("%s, %s: %q; want %q", c.term, c.version, got, c.want)
		}
	}
}
