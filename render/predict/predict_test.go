package predict

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// link is a terminal on a slow link: what is typed is taken, and its echo comes, when the test says so. plain is a
// terminal that shows the other end's output alone.
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

// arrives has time pass, the other end take what was typed up to a message, and print.
func (l *link) arrives(taken uint64, output string) {
	l.now = l.now.Add(100 * time.Millisecond)
	l.out(l.t.Acknowledged(taken, l.now))
	_, _ = l.plain.Write([]byte(output))
	l.out(l.t.Write([]byte(output), true, l.now))
}

// passes has time pass in which nothing comes.
func (l *link) passes(d time.Duration) {
	l.now = l.now.Add(d)
	l.out(l.t.Tick(l.now))
}

// shows is what a terminal shows: underlined characters in angle brackets, the cursor as a bar.
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
		{"output with attributes goes on", func(l *link) { l.arrives(1, "\x1b[4m"); l.arrives(2, "bZ") }, "$ a<bZ>|"},
	} {
		l := ready()
		c.do(l)
		if got := shows(l.real); got != c.want {
			t.Errorf("%s: it shows\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// On a fast link nothing is drawn ahead, unless it is asked for.
func TestFastLinks(t *testing.T) {
	for _, always := range []bool{false, true} {
		l := newLink(20, 1)
		l.t.Always = always
		_, _ = l.t.vt.Write([]byte("$ "))
		l.out(l.t.Write(nil, true, l.now))
		l.types("a")
		l.out(l.t.Acknowledged(1, l.now.Add(time.Millisecond)))
		l.out(l.t.Write([]byte("a"), true, l.now))
		l.types("b")
		if got := strings.Contains(shows(l.real), "<b>"); got != always {
			t.Errorf("always %v: %s", always, shows(l.real))
		}
	}
}

// Whatever is typed and printed, and however it is cut: when all has come, the terminal shows what the other end printed
// and nothing else, and its state is the one that further output relies on.
func FuzzGuesses(f *testing.F) {
	f.Add([]byte("tatbEabtcTxPhello\x1b[4mEtdte"))
	f.Add([]byte("P\x1b[2;5r\x1b[?6htaEaTtbEbR"))
	f.Add([]byte("P\x1b(0taEqTtbtcW\x1b7xtdEd"))
	f.Add([]byte("tat0Ea02000000000\x1b70000000"))
	f.Add([]byte("P\x04\x1b[4htatbEatc0\x03\x1b[b"))
	f.Add([]byte("tatbEatc0\x03\x1b[b"))
	f.Add([]byte("P\x1b[?69h\x1b[3;9staEaTtbtctdtx"))
	f.Fuzz(func(t *testing.T, script []byte) {
		l := newLink(12, 4)
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
				if echo := string(rune(arg)); !strings.ContainsAny(echo, begins) { // arrives says that it is whole
					l.arrives(l.n, echo)
				}
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
				whole := op == 'P' && utf8.Valid(text) && !bytes.ContainsAny(text, begins) && !endsWithin(text)
				l.now = l.now.Add(time.Millisecond)
				_, _ = l.plain.Write(text)
				l.out(l.t.Write(text, whole, l.now))
				if !whole { // what was begun is ended, as the next piece would
					end := []byte("\x18")
					_, _ = l.plain.Write(end)
					l.out(l.t.Write(end, true, l.now))
				}
			}
		}
		l.out(l.t.Clear(l.n))
		same := func(when string) {
			if got, want := shows(l.real), shows(l.plain); got != want {
				t.Fatalf("%s it shows\n%s\nwant\n%s", when, got, want)
			}
		}
		same("at the end")
		more := []byte("Zq\r\nX\x1b8Y")
		_, _ = l.plain.Write(more)
		l.out(more)
		same("after more output")
	})
}

// begins are the characters that a sequence begins with.
const begins = "\x1b\u0090\u0098\u009b\u009d\u009e\u009f"

func endsWithin(b []byte) bool { return len(b) > 0 && b[len(b)-1] >= 0x80 }
