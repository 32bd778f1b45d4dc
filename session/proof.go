package session

import (
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// Answer is yes, no or unknown: what cannot be known is not said.
type Answer string

// Answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	NotKnow Answer = "unknown"
)

// Taken is what became of something that was typed.
type Taken struct {
	Read   Answer // the program read it: the kernel's queue of the terminal is empty
	Echoed Answer // its text is on the screen
	Drawn  Answer // the screen changed after it
}

// proofPoll is how often it is asked whether input was read.
const proofPoll = 10 * time.Millisecond

// Screenful is the screen at a moment, for those who look what a key changes.
type Screenful struct {
	Version uint64
	Rows    []string
	Cursor  vterm.Cursor
	Pasting bool // the program takes pastes as such
}

// Shown is the screen now.
func (s *Session) Shown(ctx context.Context) (f Screenful, err error) {
	var frame vterm.Frame
	err = s.do(ctx, func() {
		s.engine.Frame(&frame, vterm.Query{})
		f.Pasting = s.engine.Modes().BracketedPaste
	})
	f.Version, f.Cursor, f.Rows = frame.Version, frame.Cursor, make([]string, frame.Rows)
	var b []byte
	for i := range frame.Lines {
		l := &frame.Lines[i]
		b = b[:0]
		for _, c := range l.Cells {
			b = frame.AppendText(b, c)
		}
		if l.Row < len(f.Rows) {
			f.Rows[l.Row] = strings.TrimRight(string(b), " ")
		}
	}
	return f, err
}

// Untouched says that the shell is at its prompt and nothing was printed behind that: what it echoes of a line was not typed.
func (s *Session) Untouched(ctx context.Context) (is bool) {
	err := s.do(ctx, func() {
		if s.lines.shell != nil && s.lines.shell.Phase() == shell.PhasePrompt {
			is = s.lines.shell.State().InputAt == s.off
		}
	})
	return err == nil && is
}

// Prove looks for a while whether the program took what was typed: before is the screen of before it,
// text what is looked for, empty where nothing is to be seen of it. A program that has drawn something and waits for input
// again shows the text or never will (a key of an editor, say), unless it is given time: late.
func (s *Session) Prove(ctx context.Context, before Screenful, text string, echo respond.EchoState, limit time.Duration, late bool) Taken {
	t := Taken{Read: NotKnow, Echoed: No, Drawn: No}
	if text == "" {
		t.Echoed = NotKnow
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(proofPoll)
	defer look.Stop()
	for clean := 0; ; {
		st := s.Status() // before the screen: what waits again has drawn what it draws
		switch read := s.unread(ctx); {
		case read == Yes && clean < 1: // what moves between two queues is in neither for a moment
			clean++
		case read != NotKnow || t.Read == NotKnow:
			t.Read = read
		}
		if now, err := s.Shown(ctx); err == nil && now.Version != before.Version {
			t.Drawn = Yes
			if text != "" && count(now.Rows, text) > count(before.Rows, text) {
				t.Echoed = Yes
			}
		}
		if t.Read == Yes && t.Drawn == Yes && (t.Echoed != No || echo == respond.EchoOff || !late && st.Needs.Kind != "") {
			return t
		}
		if st.State != Running { // it ended of it, say: nothing more is to be seen
			return t
		}
		select {
		case <-ctx.Done():
			return t
		case <-look.C:
		}
	}
}

// unread asks the kernel whether input waits to be read.
func (s *Session) unread(ctx context.Context) Answer {
	a := NotKnow
	_ = s.do(ctx, func() {
		if s.cfg.Device == nil || s.history.record.Apart() {
			return
		}
		if _, idle := s.typing.queue.Sent(); !idle {
			a = No
			return
		}
		_ = s.cfg.Device.Control(func(fd int) error {
			m, err := sys.ReadModes(fd)
			if err != nil {
				return err
			}
			n, err := sys.UnreadInput(fd)
			switch {
			case err != nil:
			case n > 0:
				a = No
			case !m.Canonical || s.typing.last == '\r' || s.typing.last == '\n': // an unfinished line waits unseen
				a = Yes
			default: // Ctrl-C is never read, nor what stood before it
				if dropped, err := sys.DropsLine(fd, s.typing.last); err == nil && dropped {
					a = Yes
				}
			}
			return err
		})
	})
	return a
}

// count is how often a text stands on rows: in one, or broken at their ends.
func count(rows []string, text string) int {
	return strings.Count(squeeze(strings.Join(rows, "")), squeeze(text))
}

// squeeze leaves blanks and the frames of boxes out: programs break lines where they like.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0xa0 || r >= 0x2500 && r <= 0x259f {
			return -1
		}
		return r
	}, s)
}

// Tail is the end of a text, by which it is known on a screen again.
func Tail(text string) string {
	text = strings.TrimRight(text, "\r\n \t")
	if i := strings.LastIndexAny(text, "\r\n"); i >= 0 {
		text = text[i+1:]
	}
	if r := []rune(text); len(r) > 24 {
		text = string(r[len(r)-24:])
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return strings.TrimSpace(text)
}
