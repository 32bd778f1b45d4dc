package panes

import (
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm/input"
)

// link fakes a session at the other end of a slow link: input arrives, and its echo returns, when the test requests it.
type link struct {
	*stage
	p *Pane
}

func newLink(t *testing.T, predict string) *link {
	l := &link{stage: newStage(t, 20, 4)}
	l.far = true
	l.SetLocalEcho(predict)
	l.p = l.show("a")
	return l
}

func (l *link) types(text string) {
	for _, r := range text {
		k := input.Key{Code: r}
		if r == '\r' {
			k = input.Key{Code: input.KeyEnter}
		}
		l.p.SendInput(Input{Key: &k})
	}
}

// arrives lets time pass, the session receive the input up to a message, and show output.
func (l *link) arrives(taken uint64, output string) {
	l.now = l.now.Add(100 * time.Millisecond)
	f := frame(20, 3, output)
	f.Acked = taken
	l.p.Apply(f)
}

// rests lets time pass without output.
func (l *link) rests() {
	l.now = l.now.Add(200 * time.Millisecond)
	alarms := l.alarms
	l.alarms = nil
	for _, f := range alarms {
		f()
	}
}

// shows is the session's first row: underlined characters in angle brackets, the cursor as a bar.
func (l *link) shows() string {
	l.drawn()
	cells, w, _ := l.term.GetContents()
	x, y, _ := l.term.GetCursor()
	var b strings.Builder
	for i, c := range cells[w : 2*w] {
		if x == i && y == 1 {
			b.WriteByte('|')
		}
		text := string(c.Runes)
		if _, _, attr := c.Style.Decompose(); attr&tcell.AttrUnderline != 0 || c.Style.GetUnderlineStyle() != tcell.UnderlineStyleNone {
			text = "<" + text + ">"
		}
		b.WriteString(text)
	}
	return strings.TrimRight(strings.ReplaceAll(b.String(), "><", ""), " ")
}

// TestTypedAhead checks that text typed into a pane of a remote session is drawn before its echo arrives, marked, with
// the predictions of attach, and that nothing is drawn if the program does not echo.
//
// FEATURES: R75, R94
func TestTypedAhead(t *testing.T) {
	const home, ready = "\x1b[H\x1b[J", "$ a"
	for _, c := range []struct {
		name    string
		predict string
		do      func(l *link)
		want    string
	}{
		{"drawn at once, marked", "auto", func(l *link) { l.types("bc") }, "$ a<bc>|"},
		{"confirmed ones are not marked", "auto", func(l *link) { l.types("bc"); l.arrives(2, ready+"b") }, "$ ab<c>|"},
		{"all confirmed", "auto", func(l *link) { l.types("b"); l.arrives(2, ready+"b") }, "$ ab|"},
		{"backspace", "auto", func(l *link) { l.types("bc\x7f") }, "$ a<b>|"},
		{"wrong", "auto", func(l *link) { l.types("b"); l.arrives(2, ready+"*") }, "$ a*|"},
		{"not echoed", "auto", func(l *link) { l.types("b"); l.arrives(2, ready); l.rests() }, "$ a|"},
		{"a password", "auto", func(l *link) {
			l.types("\r")
			l.arrives(2, "Password: ")
			l.rests()
			l.types("secret")
			l.arrives(7, "Password: ")
		}, "Password: |"},
		{"an arrow", "auto", func(l *link) {
			l.types("b")
			l.p.SendInput(Input{Key: &input.Key{Code: input.KeyLeft}})
		}, "$ a|<b>"},
		{"pasted", "auto", func(l *link) { l.p.SendInput(Input{Paste: new(string)}); l.types("b") }, "$ a<b>|"},
		{"the connection was lost", "auto", func(l *link) { l.types("b"); l.p.Apply(Frame{Reconnecting: true}); l.types("c") }, "$ a|"},
		{"typed while it was lost", "auto", func(l *link) { l.typed += 3; l.types("b") }, "$ a|"},
		{"who looks only types nothing", "auto", func(l *link) {
			l.types("b")
			f := frame(20, 3, ready)
			f.InputRejected = true
			l.p.Apply(f)
		}, "$ a|"},
		{"another size", "auto", func(l *link) { l.types("b"); l.p.Apply(frame(19, 3, ready)) }, "$ a|"},
		{"never", "never", func(l *link) { l.types("b") }, "$ a|"},
	} {
		l := newLink(t, c.predict)
		l.arrives(0, home+"$ ")
		l.types("a")
		l.arrives(1, ready) // an echo was seen, and the link is slow
		if c.do(l); l.shows() != c.want {
			t.Errorf("%s: %q; want %q", c.name, l.shows(), c.want)
		}
	}
}

// TestTypedAheadNowhere checks that nothing is predicted for a local session, nor on a fast link, unless requested.
func TestTypedAheadNowhere(t *testing.T) {
	for _, c := range []struct {
		far     bool
		predict string
		want    string
	}{{false, "always", "$ a|"}, {true, "auto", "$ a|"}, {true, "always", "$ a<b>|"}} {
		l := newLink(t, c.predict)
		l.far = c.far
		l.p.Apply(frame(20, 3, "$ "))
		l.types("a")
		f := frame(20, 3, "$ a")
		f.Acked = l.typed
		l.p.Apply(f)
		if l.types("b"); l.shows() != c.want {
			t.Errorf("%+v: %q", c, l.shows())
		}
	}
}

// TestTypedAheadInSmallPanes checks that predictions are drawn where the session's screen is shown, and only its
// visible part.
func TestTypedAheadInSmallPanes(t *testing.T) {
	l := newLink(t, "always")
	l.p.Apply(frame(30, 6, "\r\n\r\n\r\n\r\n\r\n123456789012345678$ "))
	l.types("a")
	f := frame(30, 6, "\r\n\r\n\r\n\r\n\r\n123456789012345678$ a")
	f.Acked = 1
	l.p.Apply(f)
	l.types("bc")
	l.drawn()
	if text := l.term.Text(); !strings.Contains(text, "$ abc") {
		t.Errorf("it shows\n%s", text)
	}
	l.arrives(1, "") // smaller again
	l.drawn()
}
