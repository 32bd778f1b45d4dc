package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// typist is what is typed into the session, and what is known of it. It belongs to the owner, but for
// the queue.
type typist struct {
	s       *Session
	queue   *typing.Queue
	ahead   typing.Ahead
	dedup   typing.Dedup
	ordered *typing.Numbered // nil: the ring has no memory of it
	replies typing.Replies
	texts   echo.Texts
	editor  echo.Region // of the shell's newest prompt
	begun   typing.Begun
	by      string // actor of the newest line end: see Command.By
	half    half   // what was typed since
	line    typing.LineLength
	last    byte          // that was typed
	run     atomic.Uint64 // lines of exec, before each of which what stood there is cleared
	at      wait.Anchor   // where output and screen stood when something was last typed
}

// LinesRun is how many lines of exec were typed: each clears what stood there, and ends.
func (s *Session) LinesRun() uint64 { return s.typing.run.Load() }

// checkLine returns ErrLongLine if the terminal is in line mode and would cut a line of data.
func (h *typist) checkLine(data []byte) error {
	err := h.line.Check(data)
	if err == nil || h.s.lines.lineModes().Canonical {
		return err
	}
	return nil
}

// countLine counts data as part of a line, where the terminal may be in line mode.
func (h *typist) countLine(data []byte, echo respond.EchoState) {
	if echo == respond.EchoApp {
		h.line = 0
		return
	}
	h.line.Type(data)
}

// half is a line that was typed in part, as far as its keys tell.
type half struct {
	text   []byte
	opaque bool // keys that edit are among it, or a secret
	before bool // what was typed before is not known: it was another daemon that typed it
	ahead  bool // some of it was typed while something ran, which may have read it
}

// maxHalf bounds what is told of such a line.
const maxHalf = 200

// typed notes keys. ahead: the shell is not at its prompt.
func (h *half) typed(data []byte, secret, ahead bool) {
	for _, c := range data {
		switch {
		case c == '\r', c == '\n', c == 'C'-'@', c == 'D'-'@', c == 'U'-'@':
			*h = half{}
		case c == 0x7f && !h.opaque && len(h.text) > 0 && len(h.text) < maxHalf:
			_, n := utf8.DecodeLastRune(h.text)
			h.text = h.text[:len(h.text)-n]
		case secret, c < ' ', c == 0x7f:
			h.opaque = true
		case len(h.text) < maxHalf:
			h.text = append(h.text, c)
		}
	}
	h.ahead = len(h.text) > 0 && (h.ahead || ahead)
}

// known is what stands there, where keys tell; empty: nothing, or they do not.
func (h *half) known() string {
	if h.opaque || len(h.text) == maxHalf {
		return ""
	}
	return string(h.text)
}

// halfTyped says that a line is typed in part where the program reads one. Keys that a program took one by one are no part of
// its next line: so what they tell of has to stand before the cursor, where what is typed is shown.
func (h *typist) halfTyped(echo respond.EchoState) bool {
	s, none := h.s, len(h.half.text) == 0
	if none && !h.half.before || s.history.record.Apart() {
		return false
	}
	line, shown := s.inputwait.machine.CursorLine()
	line = strings.TrimSpace(line)
	asked := strings.TrimPrefix(evidence.Words(s.Status().Needs.Reason), "…")
	switch {
	case none: // only the screen tells
		_, behind, found := strings.Cut(line, asked)
		return found && asked != "" && behind != ""
	case shown, echo == respond.EchoOff:
		return true
	}
	return h.half.known() == "" && line != "" && (asked == "" || !strings.HasSuffix(line, asked))
}

// take is what stood there, which is cleared now; empty: nothing, as far as is known. line is what stands before the cursor:
// what was typed ahead and does not stand there was read by what ran then.
func (h *half) take(line string) string {
	text := strings.ToValidUTF8(string(h.text), "")
	if h.opaque {
		text = ""
		if len(h.text) > 0 {
			text = "…"
		}
	}
	if h.ahead && !strings.Contains(line, text) {
		text = ""
	}
	*h = half{}
	return text
}

// editsLine says that the program keeps a line that is being typed: a shell at its prompt, or one that
// takes pastes as such, as editors of lines and agents do.
func (s *Session) editsLine() bool {
	return s.Status().Shell.Phase == shell.PhasePrompt || s.engine.Modes().BracketedPaste
}

// rememberTyped notes what is being typed, for those who look for its answer.
func (h *typist) rememberTyped(data []byte) {
	s := h.s
	if s.lines.shell != nil && s.lines.shell.Phase() == shell.PhasePrompt {
		h.editor.Typed(s.off)
	}
	lines := echo.Lines(data)
	if lines == nil {
		return
	}
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // the cursor only
	h.texts.Add(echo.Text{At: s.off, Lines: lines, Row: s.topRow() + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}

// typedAhead says whether input that was typed may still wait to be read.
func (h *typist) typedAhead() bool {
	s := h.s
	if s.cfg.Device == nil || s.history.record.Apart() { // pipes show nothing
		return false
	}
	return h.ahead.Waits(h.queue, func() (n int) {
		_ = s.cfg.Device.Control(func(fd int) (err error) {
			n, err = sys.UnreadInput(fd)
			return err
		})
		return n
	})
}

// noteID has the journal remember by its id what was typed.
func (h *typist) noteID(mark []byte) {
	s := h.s
	if len(mark) > 0 {
		s.history.note(mark)
	}
}

// inputNote notes in the ring that input is being typed. nil: nothing is to be noted.
func (h *typist) inputNote(id string, t Typed) func() {
	return h.ringNote(id, typing.InputNote(id, t))
}

// lineNote notes that a line is being typed that was marked.
func (h *typist) lineNote(id string) func() { return h.ringNote(id, typing.LineTyping(id, h.s.off)) }

func (h *typist) ringNote(id string, n ring.Typing) func() {
	s := h.s
	if id == "" || s.ring == nil {
		return nil
	}
	return func() { s.ring.NoteTyping(n) }
}

// markLine notes in the ring that a line is being marked.
func (h *typist) markLine(id string) {
	s := h.s
	if note := h.ringNote(id, typing.LineMarked(id, s.off)); note != nil {
		note()
	}
}

// takeLeftTyping takes what the owner before this one was typing when it ended.
func (h *typist) takeLeftTyping() {
	s := h.s
	if s.ring == nil {
		return
	}
	if t, ok := s.ring.Typing(); ok {
		h.dedup.Left(t)
	}
	h.ordered = typing.NewNumbered(s.ring.Inputs())
}

// inOrder is what is typed as input with a number; nil: it has none. What is told of by a digest, and secrets, may be typed
// in any order.
func (h *typist) inOrder(t *Typing) *typing.InOrder {
	if t.Of != 0 || t.Secret {
		return nil
	}
	return h.ordered.Of(t.ID)
}

// dedupFile has the ids that a checkpoint makes a replay pass by, in a session's directory. It
// is written before the checkpoint.
const dedupFile = "inputs.json"

// keepLeft writes down what was taken, once the journal stands.
func (h *typist) keepLeft() { h.noteID(h.dedup.KeepLeft()) }

// dedupState is what a checkpoint takes along of the ids; nil: nothing new.
func (h *typist) dedupState() ([]byte, error) {
	b, err := h.dedup.State()
	if b != nil {
		h.dedup.Saved()
	}
	return b, err
}

// resumeDedup reads what was written.
func (h *typist) resumeDedup() {
	s := h.s
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, dedupFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		err = h.dedup.Resume(b)
	}
	if err != nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
	}
}

// markStart is how the shell's marks begin.
var markStart = []byte("\x1b]133;")

// maxParts bounds the parts of one piece of output: what asks in the rest is taken to have
// asked at its end.
const maxParts = 64

// emulate gives the emulator the bytes at s.off. Those of a shell are given in parts that end at
// its marks, so that it is known on which side of one a program asked.
func (h *typist) emulate(p []byte) {
	s := h.s
	if s.lines.shell == nil {
		_, _ = s.engine.Write(p) // never fails
		return
	}
	for parts, at := 0, s.off; len(p) > 0; parts++ {
		n := len(p)
		if i := bytes.Index(p[1:], markStart); i >= 0 && parts < maxParts {
			n = i + 1
		}
		_, _ = s.engine.Write(p[:n]) // never fails
		p, at = p[n:], at+uint64(n)
		h.replies.Add(at, s.engine.Replies(nil))
	}
}

// typeReplies types the emulator's replies to queries. On pipes no program asks: what looks like a
// query is data, and the input is not the emulator's.
func (h *typist) typeReplies() {
	s := h.s
	h.replies.Add(s.off, s.engine.Replies(nil))
	for _, r := range h.replies.Take() {
		if s.history.record.Apart() || s.lines.shell != nil && s.lines.askerEnded(r.At) {
			continue
		}
		h.queue.Reply(r.Data)
		h.replies.Unread = true
		if s.lines.shell != nil {
			s.lines.machine.Replied()
		}
	}
}

// askerEnded says that the command that printed what stands before an offset has ended.
func (h *lineHost) askerEnded(at uint64) bool {
	st := h.shell.State()
	switch {
	case st.Running != nil && st.Done:
		return at <= st.Running.End
	case st.Running == nil && h.last.Number > 0 && !h.last.Running:
		return at <= h.last.End
	}
	return false
}
