package admit

import (
	"errors"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/respond"
)

// terminal is a Terminal with constant facts.
type terminal struct {
	echo      respond.EchoState
	canonical bool
	unread    bool
	line      string
	partial   bool
	prompt    string
}

func (t terminal) Echo() respond.EchoState             { return t.echo }
func (t terminal) IsCanonical() bool                   { return t.canonical }
func (t terminal) HasUnreadInput() bool                { return t.unread }
func (t terminal) CursorLine() (string, bool)          { return t.line, t.partial }
func (t terminal) Prompt() string                      { return t.prompt }
func terminalEchoing(e respond.EchoState) (t terminal) { t.echo = e; return t }
func typedLine(text string, ahead bool) (l LineText)   { l.Type([]byte(text), false, ahead); return l }

// FEATURES: R90
// FAULT: G6
func TestAdmit(t *testing.T) {
	now := time.Unix(1e9, 0)
	var begun inputqueue.PartialLine
	begun.NoteTyped([]byte("rm -rf"), now)
	var long inputqueue.LineLength
	long.Type(make([]byte, 4000))
	first := inputqueue.TypeResult{Cursor: 3, Digest: 9}
	empty := func() []byte { return nil }
	for _, c := range []struct {
		name  string
		state State
		in    Input
		want  Verdict
		err   error
	}{
		{"plain text", State{Terminal: terminalEchoing(respond.EchoOn)}, Input{Bytes: []byte("x")}, Accept, nil},
		{"an ended session", State{Ended: "exited", Terminal: terminalEchoing(respond.EchoOn)}, Input{Bytes: []byte("x")}, Reject, inputqueue.ErrEnded},
		{"the same request again", State{Earlier: Earlier{Known: true, First: first}}, Input{Digest: 9}, Duplicate, nil},
		{"other input with the id", State{Earlier: Earlier{Known: true, First: first}}, Input{Digest: 8}, Reject, inputqueue.ErrIDReused},
		{"the same request, still being typed", State{Earlier: Earlier{Pending: new(inputqueue.Pending)}}, Input{}, Await, nil},
		{"another screen", State{Version: 7}, Input{Version: 6}, Reject, ErrStale},
		{"a secret where it is echoed", State{Terminal: terminalEchoing(respond.EchoOn)}, Input{Secret: true}, Reject, inputqueue.ErrEcho},
		{"a secret where a program may echo it", State{Terminal: terminalEchoing(respond.EchoApp)}, Input{Secret: true}, Reject, inputqueue.ErrMayEcho},
		{"a secret at a password prompt", State{Terminal: terminalEchoing(respond.EchoOff)}, Input{Secret: true, Bytes: []byte("s")}, Accept, nil},
		{"a secret behind unread input", State{Terminal: terminal{echo: respond.EchoOff, unread: true}}, Input{Secret: true}, Reject, inputqueue.ErrUnreadInput},
		{"a forced secret", State{Terminal: terminalEchoing(respond.EchoOn)}, Input{Secret: true, Force: true, Bytes: []byte("s")}, Accept, nil},
		{"keys without bytes in these modes", State{Terminal: terminalEchoing(respond.EchoOn)}, Input{Encode: empty}, Skip, nil},
		{"more than the line takes", State{Length: long, Terminal: terminal{canonical: true}}, Input{Bytes: make([]byte, 200)}, Reject, inputqueue.ErrLongLine},
		{"the same by a user", State{Length: long, Terminal: terminal{canonical: true}}, Input{Bytes: make([]byte, 200), FromUser: true}, Accept, nil},
		{"the same outside line mode", State{Length: long, Terminal: terminal{}}, Input{Bytes: make([]byte, 200)}, Accept, nil},
		{"into a user's line", State{Partial: &begun, EditsLine: true, Terminal: terminal{}}, Input{Bytes: []byte("x")}, Reject, inputqueue.ErrUserTyping},
		{"by the user", State{Partial: &begun, EditsLine: true, Terminal: terminal{}}, Input{Bytes: []byte("x"), FromUser: true}, Accept, nil},
		{"forced into it", State{Partial: &begun, EditsLine: true, Terminal: terminal{}}, Input{Bytes: []byte("x"), Force: true}, Accept, nil},
		{"an answer behind a partial line", State{Text: ptr(typedLine("ec", false)), Terminal: terminal{line: "$ ", partial: true}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Reject, ErrPartialLine},
		{"an answer after keys that a program read", State{Text: ptr(typedLine("q", true)), Terminal: terminal{line: "", prompt: ""}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Accept, nil},
		{"an answer at an empty prompt", State{Terminal: terminal{}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Accept, nil},
		{"an answer behind an inherited line", State{Text: ptr(InheritedLine()), Terminal: terminal{line: "sure? ye", prompt: "sure?"}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Reject, ErrPartialLine},
		{"an answer at an inherited prompt", State{Text: ptr(InheritedLine()), Terminal: terminal{line: "sure? ", prompt: "sure?"}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Accept, nil},
		{"an answer on pipes", State{Text: ptr(InheritedLine()), Pipes: true, Terminal: terminal{line: "sure? ye", prompt: "sure?"}}, Input{Bytes: []byte("y\r"), MustStartLine: true}, Accept, nil},
	} {
		st := c.state
		st.Now, st.Offset = now, 100
		if st.Text == nil {
			st.Text = new(LineText)
		}
		if st.Partial == nil {
			st.Partial = new(inputqueue.PartialLine)
		}
		if d := Admit(&st, &c.in); d.Verdict != c.want || !errors.Is(d.Err, c.err) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}

// ptr returns a pointer to v.
func ptr[T any](v T) *T { return &v }
