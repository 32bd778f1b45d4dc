package echodetect

import (
	"encoding/json"
	"strings"
	"testing"
)

// masked returns the line with its echo replaced.
func masked(f *Finder, l Line) string {
	text := []byte(l.Text)
	for _, s := range f.EchoSpans(l) {
		copy(text[s.From:s.To], strings.Repeat("#", s.To-s.From))
	}
	return string(text)
}

// TestFinder checks that typed text is found once, however it was drawn.
//
// FEATURES: R50
func TestFinder(t *testing.T) {
	for _, c := range []struct {
		name  string
		typed string
		by    EchoSides
		at    int      // bytes of the line before it
		lines []string // with ~ at the end: incomplete
		want  []string
	}{
		{"by the terminal", "make\r", EchoSides{Tty: true}, 2, []string{"$ make", "make"}, []string{"$ ####", "make"}},
		{"something was printed in between", "yes\r", EchoSides{Tty: true}, 3, []string{"Go?wait", "yes"}, []string{"Go?wait", "###"}},
		{"not before the place it was typed at", "a\r", EchoSides{Tty: true}, 2, []string{"a a"}, []string{"a #"}},
		{"erased keys", "mx\x7fake\r", EchoSides{App: true}, 2, []string{"$ make"}, []string{"$ ####"}},
		{"an interrupt", "ab\x03", EchoSides{Tty: true}, 0, []string{"ab^C~"}, []string{"####"}},
		{"its beginning only", "make\r", EchoSides{Tty: true}, 2, []string{"$ ma~"}, []string{"$ ##"}},
		{"another line", "make\r", EchoSides{Tty: true}, 0, []string{"other"}, []string{"other"}},
	} {
		var f Finder
		f.RecordTyped([]byte(c.typed), c.by, c.at, 1, 0, false)
		if !f.HasPending() {
			t.Errorf("%s: no pending echo", c.name)
		}
		for i, text := range c.lines {
			text, more := strings.CutSuffix(text, "~")
			l := Line{Text: []byte(text), Number: uint64(1 + i), Complete: !more, Cols: 80, Editor: c.by.App}
			if got := masked(&f, l); got != c.want[i] {
				t.Errorf("%s: %q, want %q", c.name, got, c.want[i])
			}
		}
	}
}

// TestFoundAgain checks that a line which the terminal echoed early is found a second time, after the editor's prompt.
func TestFoundAgain(t *testing.T) {
	var f Finder
	f.RecordTyped([]byte("make\r"), EchoSides{Tty: true}, 0, 1, 0, false)
	for i, c := range []struct{ text, want string }{{"make", "####"}, {"$ make", "$ ####"}, {"$ make", "$ make"}} {
		if got := masked(&f, Line{Text: []byte(c.text), Number: uint64(1 + i), Complete: true, Editor: true}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestFinderForgets checks that old lines expire, that lines survive a save as JSON, and that lines can be dropped.
func TestFinderForgets(t *testing.T) {
	var f Finder
	f.RecordTyped([]byte("one\rtwo\rthree"), EchoSides{Tty: true}, 0, 1, 0, true)
	if len(f.Lines) != 3 || !f.Lines[0].Secret || f.Lines[2].Enter {
		t.Fatalf("%+v", f.Lines)
	}
	b, err := json.Marshal(f.Lines)
	if err != nil {
		t.Fatal(err)
	}
	var lines []TypedLine
	if err := json.Unmarshal(b, &lines); err != nil {
		t.Fatal(err)
	}
	var next Finder
	next.Restore(lines)
	next.DropLine(1)
	if next.DropOldest(1); len(next.Lines) != 1 || next.Lines[0].Parts[0] != "three" || next.bytes != 5 {
		t.Errorf("%+v, %d bytes", next.Lines, next.bytes)
	}
	if next.EchoSpans(Line{Text: []byte("x"), Offset: maxEchoDistance + 1}); next.HasPending() {
		t.Errorf("%+v", next.Lines)
	}
}
