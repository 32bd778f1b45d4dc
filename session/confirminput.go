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

// Tristate is yes, no or unknown.
type Tristate string

// Values of Tristate.
const (
	Yes Tristate = "yes"
	No  Tristate = "no"
	// the outcome is unknown
	NotKnown Tristate = "unknown"
)

// InputOutcome is the result of ConfirmInput.
type InputOutcome struct {
	Read   Tristate // the program read it: the kernel's queue of the terminal is empty
	Echoed Tristate // its text is on the screen
	Drawn  Tristate // the screen changed after it
}

// confirmPoll is the interval at which ConfirmInput checks whether input was read.
const confirmPoll = 10 * time.Millisecond

// ScreenCopy is a copy of the screen, to compare with after input.
type ScreenCopy struct {
	Version       uint64
	Rows          []string
	Cursor        vterm.Cursor
	AcceptsPastes bool // the program accepts bracketed pastes
}

// CaptureScreen returns the current screen.
func (s *Session) CaptureScreen(ctx context.Context) (f ScreenCopy, err error) {
	var frame vterm.Frame
	err = s.do(ctx, func() {
		s.engine.Frame(&frame, vterm.Query{})
		f.AcceptsPastes = s.engine.Modes().BracketedPaste
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

// IsPromptUntouched reports whether the shell is at its prompt and printed nothing after it, so that a later echo is of
// new input.
func (s *Session) IsPromptUntouched(ctx context.Context) (is bool) {
	err := s.do(ctx, func() {
		if s.lines.shell != nil && s.lines.shell.Phase() == shell.PhasePrompt {
			is = s.lines.shell.State().InputAt == s.offset
		}
	})
	return err == nil && is
}

// ConfirmInput checks, until limit, whether the program consumed input. before is the screen before the input. text is
// the text to look for, or "" if none will be shown. A program that has drawn something and waits for input either
// shows the text now or never will (after an editor's key, for example), unless late allows it more time.
func (s *Session) ConfirmInput(ctx context.Context, before ScreenCopy, text string, echo respond.EchoState, limit time.Duration, late bool) InputOutcome {
	t := InputOutcome{Read: NotKnown, Echoed: No, Drawn: No}
	if text == "" {
		t.Echoed = NotKnown
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look := time.NewTicker(confirmPoll)
	defer look.Stop()
	for clean := 0; ; {
		st := s.Status() // read before the screen: a program that waits again has drawn its screen
		switch read := s.wasRead(ctx); {
		case read == Yes && clean < 1: // input that moves between two queues is in neither for a moment
			clean++
		case read != NotKnown || t.Read == NotKnown:
			t.Read = read
		}
		if now, err := s.CaptureScreen(ctx); err == nil && now.Version != before.Version {
			t.Drawn = Yes
			if text != "" && countOnRows(now.Rows, text) > countOnRows(before.Rows, text) {
				t.Echoed = Yes
			}
		}
		if t.Read == Yes && t.Drawn == Yes && (t.Echoed != No || echo == respond.EchoOff || !late && st.Needs.Kind != "") {
			return t
		}
		if st.State != Running { // the program has ended: nothing more will appear
			return t
		}
		select {
		case <-ctx.Done():
			return t
		case <-look.C:
		}
	}
}

// wasRead reports whether the kernel has no unread input.
func (s *Session) wasRead(ctx context.Context) Tristate {
	a := NotKnown
	_ = s.do(ctx, func() {
		if s.cfg.Device == nil || s.history.recorder.HasStreams() {
			return
		}
		if _, idle := s.typing.queue.AcceptedBytes(); !idle {
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
			case !m.Canonical || s.typing.lastByte == '\r' || s.typing.lastByte == '\n': // an unfinished line may wait unseen
				a = Yes
			default: // Ctrl-C is never read, nor the text before it
				if dropped, err := sys.DiscardsInput(fd, s.typing.lastByte); err == nil && dropped {
					a = Yes
				}
			}
			return err
		})
	})
	return a
}

// countOnRows returns how often a text occurs on rows, also if broken at row ends.
func countOnRows(rows []string, text string) int {
	return strings.Count(withoutBlanks(strings.Join(rows, "")), withoutBlanks(text))
}

// withoutBlanks removes blanks and box-drawing characters: programs break lines at any place.
func withoutBlanks(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0xa0 || r >= 0x2500 && r <= 0x259f {
			return -1
		}
		return r
	}, s)
}

// LastLine returns the end of a text, by which ConfirmInput finds it on a screen.
func LastLine(text string) string {
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
