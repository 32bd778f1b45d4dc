package echodetect

import (
	"encoding/json"
	"strings"
	"testing"
)

// masked is a line with what is found in it blotted out.
func masked(f *Finder, l Line) string {
	text := []byte(l.Text)
	for _, s := range f.Mask(l) {
		copy(text[s.From:s.To], strings.Repeat("#", s.To-s.From))
	}
	return string(text)
}

// Typed text is found where it was typed, whatever way it came there; each line is found once.
//
// FEATURES: R50
func TestFinder(t *testing.T) {
	for _, c := range []struct {
		name  string
		typed string
		by    Shown
		at    int      // bytes of the line before it
		lines []string // with ~ at the end: not complete
		want  []string
	}{
		{"by the terminal", "make\r", Shown{Tty: true}, 2, []string{"$ make", "make"}, []string{"$ ####", "make"}},
		{"something was printed in between", "yes\r", Shown{Tty: true}, 3, []string{"Go?wait", "yes"}, []string{"Go?wait", "###"}},
		{"not before the place it was typed at", "a\r", Shown{Tty: true}, 2, []string{"a a"}, []string{"a #"}},
		{"erased keys", "mx\x7fake\r", Shown{App: true}, 2, []string{"$ make"}, []string{"$ ####"}},
		{"an interrupt", "ab\x03", Shown{Tty: true}, 0, []string{"ab^C~"}, []string{"####"}},
		{"its beginning only", "make\r", Shown{Tty: true}, 2, []string{"$ ma~"}, []string{"$ ##"}},
		{"another line", "make\r", Shown{Tty: true}, 0, []string{"other"}, []string{"other"}},
	} {
		var f Finder
		f.RecordTyped([]byte(c.typed), c.by, c.at, 1, 0, false)
		if !f.Pending() {
			t.Errorf("%s: nothing is looked for", c.name)
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

// What the terminal echoed before the program read it a line editor shows again, after its prompt.
func TestFoundAgain(t *testing.T) {
	var f Finder
	f.RecordTyped([]byte("make\r"), Shown{Tty: true}, 0, 1, 0, false)
	for i, c := range []struct{ text, want string }{{"make", "####"}, {"$ make", "$ ####"}, {"$ make", "$ make"}} {
		if got := masked(&f, Line{Text: []byte(c.text), Number: uint64(1 + i), Complete: true, Editor: true}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What is not echoed soon is forgotten; lines can be written down, and dropped.
func TestFinderForgets(t *testing.T) {
	var f Finder
	f.RecordTyped([]byte("one\rtwo\rthree"), Shown{Tty: true}, 0, 1, 0, true)
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
	next.Take(lines)
	next.Drop(1)
	if next.Forget(1); len(next.Lines) != 1 || next.Lines[0].Parts[0] != "three" || next.bytes != 5 {
		t.Errorf("%+v, %d bytes", next.Lines, next.bytes)
	}
	if next.Mask(Line{Text: []byte("x"), Offset: echoReach + 1}); next.Pending() {
		t.Errorf("%+v", next.Lines)
	}
}
