package predict

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// link fakes a terminal on a slow link: input arrives, and its echo returns, when the test requests it. plain is a
// terminal that shows only the other end's output.
type link struct {
	t           *Terminal
	real, plain *vterm.Terminal
	n           uint64
	now         time.Time
}

func newLink(cols, rows int) *link {
	size := vterm.Options{Cols: cols, Rows: rows, ScrollbackLines: 1}
	return &link{t: NewTerminal(cols, rows), real: vterm.New(size), plain: vterm.New(size), now: epoch}
}

func (l *link) out(b []byte) { _, _ = l.real.Write(b) }

func (l *link) types(text string) {
	for _, r := range text {
		l.n++
		l.out(l.t.Type([]byte(string(r)), l.n, l.now))
	}
}

func (l *link) key(seq string) {
	l.n++
	l.out(l.t.Type([]byte(seq), l.n, l.now))
}

// arrives lets time pass, the other end receive the input up to a message, and print.
func (l *link) arrives(taken uint64, output string) {
	l.now = l.now.Add(100 * time.Millisecond)
	l.out(l.t.HandleAck(taken, l.now))
	_, _ = l.plain.Write([]byte(output))
	l.out(l.t.Write([]byte(output), l.now))
}

// passes lets time pass without output.
func (l *link) passes(d time.Duration) {
	l.now = l.now.Add(d)
	l.out(l.t.Tick(l.now))
}

// shows returns what a terminal shows: underlined characters in angle brackets, the cursor as a bar.
func shows(v *vterm.Terminal) string {
	var f vterm.Frame
	v.Frame(&f, vterm.Query{})
	var b strings.Builder
	for i, line := range f.Lines {
		var row strings.Builder
		for col := range f.Cols {
			c := vterm.Cell(0)
			if col < len(line.Cells) {
				c = line.Cells[col]
			}
			if i == f.Cursor.Row && col == f.Cursor.Col {
				row.WriteByte('|')
			}
			text := string(f.AppendText(nil, c))
			if f.Style(c).Underline != 0 {
				text = "<" + text + ">"
			}
			row.WriteString(text)
		}
		fmt.Fprintln(&b, strings.TrimRight(row.String(), " "))
	}
	return strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "><", "")
}

// ready is a prompt at which an echo was seen.
func ready() *link {
	l := newLink(20, 3)
	l.arrives(0, "$ ")
	l.types("a")
	l.arrives(1, "a")
	l.types("b")
	return l
}

// FEATURES: R94
func TestGuesses(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(l *link)
		want string
	}{
		{"drawn at once, marked", func(l *link) { l.types("cd") }, "$ a<bcd>|"},
		{"confirmed ones are not marked", func(l *link) { l.types("cd"); l.arrives(2, "b") }, "$ ab<cd>|"},
		{"all confirmed", func(l *link) { l.types("c"); l.arrives(3, "bc") }, "$ abc|"},
		{"backspace", func(l *link) { l.types("cd\x7f") }, "$ a<bc>|"},
		{"backspace of what was there", func(l *link) { l.arrives(2, "b"); l.types("\x7f\x7f") }, "$ |"},
		{"backspace confirmed", func(l *link) { l.types("\x7f"); l.arrives(3, "b\b \b") }, "$ a|"},
		{"not into the prompt", func(l *link) { l.arrives(2, "b"); l.types("\x7f\x7f\x7f") }, "$ ab|"},
		{"left", func(l *link) { l.key("\x1b[D") }, "$ a|<b>"},
		{"left and right", func(l *link) { l.key("\x1bOD"); l.key("\x1bOD"); l.key("\x1bOC") }, "$ a|<b>"},
		{"left confirmed", func(l *link) { l.key("\x1b[D"); l.arrives(3, "b\b") }, "$ a|b"},
		{"right of nothing", func(l *link) { l.key("\x1b[C") }, "$ a|"},
		{"in the middle of a line it is to be seen", func(l *link) { l.key("\x1b[D"); l.types("x") }, "$ a|"},
		{"wrong", func(l *link) { l.types("c"); l.arrives(3, "**") }, "$ a**|"},
		{"not echoed in time", func(l *link) {
			l.types("c")
			l.arrives(3, "")
			l.passes(settleTime)
		}, "$ a|"},
		{"other output moves it away", func(l *link) { l.arrives(1, "\r\nmessage\r\n$ a"); l.arrives(2, ""); l.passes(settleTime) }, "$ a\nmessage\n$ a|"},
		{"Enter ends it", func(l *link) { l.key("\r") }, "$ a|"},
		{"after Enter nothing is drawn before an echo", func(l *link) {
			l.key("\r")
			l.arrives(3, "b\r\nPassword: ")
			l.passes(settleTime)
			l.types("secret")
			l.arrives(5, "")
		}, "$ ab\nPassword: |"},
		{"a password is not drawn at all", func(l *link) {
			l.key("\r")
			l.arrives(3, "b\r\nPassword: ")
			l.passes(settleTime)
			l.types("aa  aaPassword: ")
			for n := range uint64(16) {
				l.arrives(4+n, "")
				l.passes(settleTime)
			}
			l.types("x")
		}, "$ ab\nPassword: |"},
		{"a password that is asked for while nothing is typed", func(l *link) {
			l.arrives(2, "b")
			l.arrives(2, "\r\nPassword: ")
			l.types("secret")
		}, "$ ab\nPassword: |"},
		{"not into a prompt that came behind the echo", func(l *link) {
			l.arrives(2, "b")
			l.arrives(2, "\r\nname: ")
			l.types("x")
			l.arrives(3, "x")
			l.types("y\x7f\x7f\x7f")
		}, "$ ab\nname: x|"},
		{"typed before the answer to Enter", func(l *link) {
			l.key("\r")
			l.types("lsx")
			l.arrives(3, "b\r\n$ ")
			l.passes(settleTime)
			l.arrives(4, "l")
		}, "$ ab\n$ l<sx>|"},
		{"the end of the row", func(l *link) { l.types("cdefghijklmnopqrstuvw") }, "$ a|"},
		{"wide characters are to be seen", func(l *link) { l.types("漢") }, "$ a|"},
		{"with colours, bracketed paste and a scroll region", func(l *link) {
			l.arrives(2, "\x1b[1;2r\x1b[1;4H\x1b[?2004h\x1b[44;38;5;2mb")
			l.types("cd")
		}, "$ ab<cd>|"},
		{"output with attributes goes on", func(l *link) { l.arrives(1, "\x1b[4m"); l.arrives(2, "bZ") }, "$ a<bZ>|"},
	} {
		l := ready()
		c.do(l)
		if got := shows(l.real); got != c.want {
			t.Errorf("%s: it shows\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestFastLinks checks that on a fast link nothing is predicted, unless requested.
func TestFastLinks(t *testing.T) {
	for _, always := range []bool{false, true} {
		l := newLink(20, 1)
		l.t.Always = always
		_, _ = l.t.vt.Write([]byte("$ "))
		l.out(l.t.Write(nil, l.now))
		l.types("a")
		l.out(l.t.HandleAck(1, l.now.Add(time.Millisecond)))
		l.out(l.t.Write([]byte("a"), l.now))
		l.types("b")
		if got := strings.Contains(shows(l.real), "<b>"); got != always {
			t.Errorf("always %v: %s", always, shows(l.real))
		}
	}
}

// FuzzGuesses checks that for any input and output, in any pieces, the terminal without the predictions shows exactly
// the other end's output, and its state is the one that further output relies on.
func FuzzGuesses(f *testing.F) {
	for _, script := range seeds {
		f.Add([]byte(script))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if diff := play(script); diff != "" {
			t.Fatalf("%q: %s", script, diff)
		}
	})
}

// seeds are scripts that once failed.
var seeds = []string{
	"tatbEabtcTxPhello\x1b[4mEtdte",
	"P\x1b[2;5r\x1b[?6htaEaTtbEbR",
	"P\x1b(0taEqTtbtcW\x1b7xtdEd",
	"tat0Ea02000000000\x1b70000000",
	"P\x04\x1b[4htatbEatc0\x03\x1b[b",
	"tatbEatc0\x03\x1b[b",
	"P\x1b[?69h\x1b[3;9staEaTtbtctdtx",

	// REP after predictions were erased earlier, after a NUL, a mark, a character without a cell.
	"taEatbk\x03P\x03\x1b[b",
	"taEatbP\x05\x00\x1b[2b",
	"taEatxP\x06\u0301\x1b[3b",
	"taEaP\x02\x1bht P\x03\u200b",

	// Characters that join the one before the cursor.
	"taEat P\x04\U0001f3fb",

	// Drawn within a sequence, a character, a string.
	"taEaP\x01\x1btb",
	"taEaP\x01\xc2tb",
	"taEatqP\x02\x1bXEq",

	// VT52 mode, guarded area, link of the pen.
	"P\x05\x1b[?2ltaEatb",
	"P\x02\x1bVtaEatq",
	"P\x08\x1b]8;;a\x1b\\taEak\x02",

	// Protected cells, lines of double width, images, wide characters, attributes of blanks.
	"taEatbP\x06 \x1b[1\"q",
	"P\x01\ttaEatqP\x03\x1b#6EqEq",
	"P\x02aataEat P\x05\x1b#3ab",
	"taEatxP\x06\x1bPq~\x1b\\",
	"taEatxP\x08\U0001f1e6\x1b[ @",
	"taEatxP\x04\x1b[8mP\x05a\x1b[${",

	// A size that the program sets.
	"P\x05babaataEatxP\x09ba\x1b[8;;9t",
	"P\x01\ttaEatxP\x08\x1b[8;;9ta",
}

// play runs a script of operations, each a letter and an argument, and returns how the terminal then differs from one
// without predictions; "": it does not.
func play(script []byte) string {
	l, scriptLen := newLink(12, 4), len(script)
	l.t.Always = true
	l.arrives(0, "$ ")
	for len(script) > 1 {
		op, arg := script[0], script[1]
		script = script[2:]
		switch op {
		case 't':
			l.key(string(rune(arg)))
		case 'k':
			l.key([]string{"\x1b[D", "\x1b[C", "\x7f", "\r"}[arg%4])
		case 'E':
			l.arrives(l.n, string(rune(arg)))
		case 'T':
			l.passes(time.Duration(arg) * 10 * time.Millisecond)
		case 'R':
			cols, rows := 5+int(arg%16), 2+int(arg/16)
			l.out(l.t.Resize(cols, rows, l.n))
			l.real.Resize(cols, rows)
			l.plain.Resize(cols, rows)
		default:
			text := script[:min(len(script), int(arg%32))]
			script = script[len(text):]
			l.now = l.now.Add(time.Millisecond)
			_, _ = l.plain.Write(text)
			l.out(l.t.Write(text, l.now))
		}
	}
	l.out(l.t.Clear(l.n))
	if diff := difference(l.real, l.plain); diff != "" {
		return diff
	}
	more := []byte([...]string{"\x1b[bZq\r\nX\x1b8Y", "\u0301", "\U0001f3fb"}[scriptLen%3])
	_, _ = l.plain.Write(more)
	l.out(more)
	if diff := difference(l.real, l.plain); diff != "" {
		return fmt.Sprintf("after %q more, %s", more, diff)
	}
	return ""
}

// difference returns how a terminal differs from the one that it should equal; "": it does not.
func difference(got, want *vterm.Terminal) string {
	var f, g vterm.Frame
	got.Frame(&f, vterm.Query{})
	want.Frame(&g, vterm.Query{})
	var what string
	state, wanted := got.AppendOutputState(nil), want.AppendOutputState(nil)
	switch {
	case f.Cursor != g.Cursor:
		what = fmt.Sprintf("its cursor is %+v, want %+v", f.Cursor, g.Cursor)
	case !bytes.Equal(state, wanted):
		what = fmt.Sprintf("its state is %q, want %q", state, wanted)
	default:
		what = differentCell(&f, &g)
	}
	if what == "" {
		return ""
	}
	return fmt.Sprintf("%s; it shows\n%s\nwant\n%s", what, shows(got), shows(want))
}

// differentCell describes the first row or cell that differs between two frames of the same size; "": none does.
func differentCell(f, g *vterm.Frame) string {
	for row := range g.Lines {
		a, b := &f.Lines[row], &g.Lines[row]
		if a.Wrapped != b.Wrapped || a.Size != b.Size {
			return fmt.Sprintf("row %d is wrapped %v of size %v, want %v of %v", row, a.Wrapped, a.Size, b.Wrapped, b.Size)
		}
		for col := range g.Cols {
			if x, y := describe(f, a, col), describe(g, b, col); x != y {
				return fmt.Sprintf("row %d column %d has %+v, want %+v", row, col, x, y)
			}
		}
	}
	return ""
}

// cell is all about a cell, without the indices of its frame.
type cell struct {
	text  string
	blank bool
	flags vterm.Cell
	width int
	style vterm.Style
	link  vterm.Link
}

func describe(f *vterm.Frame, l *vterm.Line, col int) (d cell) {
	c := vterm.Cell(0)
	if col < len(l.Cells) {
		c = l.Cells[col]
	}
	d = cell{string(f.AppendText(nil, c)), c.Blank(), c & (vterm.CellProtected | vterm.CellISOGuard | vterm.CellImage), c.Width(), f.Style(c), vterm.Link{}}
	if d.style.Link > 0 {
		d.link, d.style.Link = f.Links[d.style.Link], 0
	}
	return d
}
