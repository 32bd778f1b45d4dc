//go:build unix

package output

import (
	"io"
	"testing"

	"github.com/creack/pty"
)

// TestTableLook_Colour checks that a terminal has colours unless its user, its kind or a flag excludes them.
func TestTableLook_Colour(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = master.Close(), terminal.Close() }()
	if err := pty.Setsize(terminal, &pty.Winsize{Cols: 70, Rows: 20}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		color         Color
		noColor, term string
		w             io.Writer
		width         int
		colour        bool
	}{
		{"", "", "xterm", terminal, 70, true},
		{"", "1", "xterm", terminal, 70, false},
		{"", "", "dumb", terminal, 70, false},
		{"never", "", "xterm", terminal, 70, false},
		{"always", "1", "dumb", io.Discard, 0, true},
		{"", "", "xterm", io.Discard, 0, false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		p := Printer{Stdout: c.w, Color: c.color}
		if look := p.TableLook(); look.Width != c.width || look.Colour != c.colour {
			t.Errorf("%+v: %+v", c, look)
		}
	}
	if err := new(Color).Set("purple"); err == nil {
		t.Error("a wrong value is accepted")
	}
}
