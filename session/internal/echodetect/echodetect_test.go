package echodetect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"ls\r", []string{"ls", ""}},
		{"a\nb", []string{"a", "b"}},
		{"\x03", []string{"^C"}},
		{"\x7f", []string{"^?"}},
		{"a\tb", []string{"a\tb"}},
		{"\x1b[200~x\x1b[201~\r", []string{"x", ""}},
		{"\x1b[A", nil},
		{"\xff", nil},
		{"", nil},
	} {
		if got := EchoLines([]byte(c.typed)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	var l TypedTexts
	l.Add(TypedText{At: 5, Lines: []string{"ab"}, Row: 1})
	l.Add(TypedText{At: 5, Lines: []string{"c", "d"}, Row: 9}) // nothing was printed in between
	if len(l) != 1 || !slices.Equal(l[0].Lines, []string{"abc", "d"}) || l[0].Row != 1 {
		t.Fatalf("%+v", l)
	}
	for i := range uint64(2 * maxTexts) {
		l.Add(TypedText{At: 10 + i, Lines: []string{"x"}})
	}
	if len(l) != maxTexts {
		t.Errorf("got %d texts", len(l))
	}
	last := l[len(l)-1].At
	if got := l.Since(last); len(got) != 1 || got[0].At != last {
		t.Errorf("%+v", got)
	}
	if got := l.Since(last + 1); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRegion(t *testing.T) {
	const ever = 1<<64 - 1
	var r EditorRegion
	is := func(at uint64, editors bool, until uint64) {
		t.Helper()
		if e, u := r.EditorOutputAt(at); e != editors || u != until {
			t.Errorf("at %d: %v until %d, want %v until %d", at, e, u, editors, until)
		}
	}
	is(7, false, ever)
	r.HandleMark(shell.MarkPrompt, 10, 3, 0)
	is(10, false, ever)
	if r.HasRow(2) || r.HasRow(4) {
		t.Error("got rows for a prompt without input")
	}
	r.HandleMark(shell.MarkInput, 12, 3, 0)
	is(11, false, 12)
	is(12, true, ever)
	if !r.IsOpen() || !r.HasRow(3) || r.HasRow(2) {
		t.Error("got an active editor")
	}
	r.HandleMark(shell.MarkOutput, 20, 5, 0)
	b, err := json.Marshal(r)
	before := r
	if r = (EditorRegion{}); err != nil || json.Unmarshal(b, &r) != nil || r != before {
		t.Errorf("%+v became %s and %+v (%v)", before, b, r, err)
	}
	is(12, true, 20)
	is(20, false, ever)
	if first, end, ok := r.CommandRows(); first != 3 || end != 5 || !ok || r.IsOpen() {
		t.Errorf("rows %d to %d, %v", first, end, ok)
	}
	if !r.HasRow(4) || r.HasRow(5) {
		t.Error("rows do not end at the start of the output")
	}
}

// TestRegion_WithoutPromptEndMark starts the editor's output at the first input, for a shell without that mark.
func TestRegion_WithoutPromptEndMark(t *testing.T) {
	var r EditorRegion
	r.NoteTyped(5)
	if r.IsOpen() {
		t.Error("no open prompt")
	}
	r.HandleMark(shell.MarkPrompt, 10, 3, 0)
	r.NoteTyped(12)
	if e, _ := r.EditorOutputAt(12); !e {
		t.Error("not reported as editor output")
	}
}

func TestStripper(t *testing.T) {
	for _, c := range []struct {
		name, unfinished string
		typed            []string
		lines            []string // complete ones, and with ~ at the end unfinished ones
		want             []string
	}{
		{"an echo", "$ ", []string{"ls", ""}, []string{"$ ls", "ls"}, []string{"$ ", "ls"}},
		{"on its way", "$ ", []string{"ls", ""}, []string{"$ l~", "$ ls"}, []string{"$ ", "$ "}},
		{"not echoed", "", []string{"ls", ""}, []string{"other", "ls"}, []string{"other", "ls"}},
		{"two lines", "", []string{"a", "b", ""}, []string{"a", "b", "a"}, []string{"", "", "a"}},
	} {
		var x Stripper
		x.Expect(&TypedText{Lines: c.typed}, c.unfinished)
		for i, line := range c.lines {
			line, more := strings.CutSuffix(line, "~")
			if got := x.Strip(line, !more); got != c.want[i] {
				t.Errorf("%s: line %d is %q, want %q", c.name, i, got, c.want[i])
			}
		}
	}
}

func TestRowWithout(t *testing.T) {
	e := vterm.New(vterm.Options{Cols: 6, Rows: 3})
	_, _ = e.Write([]byte("$ abcdefg\r\nout"))
	var f vterm.Frame
	e.Frame(&f, vterm.Query{})
	typed := []TypedText{{Lines: []string{"abcdefg", ""}, Row: 100, Col: 2}}
	for i, want := range []string{"$ ", "", "out"} {
		if got := StripRow(&f, &f.Lines[i], 100+uint64(i), typed); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	if got := StripRow(&f, &f.Lines[0], 100, nil); got != "$ abcd" {
		t.Errorf("%q", got)
	}
}
