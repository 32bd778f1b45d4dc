package session

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/admit"
	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// inputState holds the session's input and its state. It belongs to the owner, except for the queue.
type inputState struct {
	s          *Session
	queue      *inputqueue.Queue
	typeAhead  inputqueue.TypeAhead    // detects input that the program has not read
	dedup      inputqueue.Dedup        // ids of typed input
	sequencer  *inputqueue.Sequencer   // types numbered input; nil: the ring has no record of input
	replies    inputqueue.Replies      // replies to queries on their way to the terminal
	typedTexts echodetect.TypedTexts   // recently typed text, to find its echo
	editor     echodetect.EditorRegion // of the shell's newest prompt
	partial    inputqueue.PartialLine  // the user's unfinished line
	lineAuthor string                  // actor of the newest line end: see Command.By
	lineText   admit.LineText          // of the line typed since that line end
	lineLength inputqueue.LineLength   // length of the line being typed
	lastByte   byte                    // last byte that was typed
	linesRun   atomic.Uint64           // lines typed by Exec; each clears a partial line before it
	lastInput  wait.Anchor             // output and screen when input was last typed
}

// LinesRun returns how many lines Exec has typed. Each clears a partial line and ends.
func (s *Session) LinesRun() uint64 { return s.typing.linesRun.Load() }

// countLine counts data as part of a line, where the terminal may be in line mode.
func (h *inputState) countLine(data []byte, echo respond.EchoState) {
	if echo == respond.EchoApp {
		h.lineLength = 0
		return
	}
	h.lineLength.Type(data)
}

// Echo implements admit.Terminal.
func (h *inputState) Echo() respond.EchoState { return h.s.echoState() }

// IsCanonical implements admit.Terminal.
func (h *inputState) IsCanonical() bool { return h.s.lines.lineModes().Canonical }

// CursorLine implements admit.Terminal.
func (h *inputState) CursorLine() (line string, partial bool) {
	return h.s.inputwait.machine.CursorLine()
}

// Prompt implements admit.Terminal.
func (h *inputState) Prompt() string {
	return strings.TrimPrefix(inputdetect.PromptText(h.s.Status().Needs.Reason), "…")
}

// editsLine reports whether the program keeps a line that is being typed: a shell at its prompt, or a program that
// accepts pastes, such as a line editor or an agent.
func (s *Session) editsLine() bool {
	return s.Status().Shell.Phase == shell.PhasePrompt || s.engine.Modes().BracketedPaste
}

// rememberTyped records data for the detection of its echo.
func (h *inputState) rememberTyped(data []byte) {
	s := h.s
	if s.lines.shell != nil && s.lines.shell.Phase() == shell.PhasePrompt {
		h.editor.NoteTyped(s.offset)
	}
	lines := echodetect.EchoLines(data)
	if lines == nil {
		return
	}
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows, only the cursor
	h.typedTexts.Add(echodetect.TypedText{At: s.offset, Lines: lines, Row: s.topRow() + uint64(f.Cursor.Row), Col: f.Cursor.Col})
}

// HasUnreadInput implements admit.Terminal.
func (h *inputState) HasUnreadInput() bool {
	s := h.s
	if s.cfg.Device == nil || s.history.recorder.HasStreams() { // pipes show nothing
		return false
	}
	return h.typeAhead.MayBeUnread(h.queue, func() (n int) {
		_ = s.cfg.Device.Control(func(fd int) (err error) {
			n, err = sys.UnreadInput(fd)
			return err
		})
		return n
	})
}

// noteID records the id of input in the journal.
func (h *inputState) noteID(mark []byte) {
	s := h.s
	if len(mark) > 0 {
		s.history.appendMark(mark)
	}
}

// inputNote returns a function that records in the ring that input is being typed, or nil without an id.
func (h *inputState) inputNote(id string, t TypeResult) func() {
	return h.ringNote(id, inputqueue.InputNote(id, t))
}

// lineNote returns a function like inputNote's for a line with a journal mark.
func (h *inputState) lineNote(id string) func() {
	return h.ringNote(id, inputqueue.LineTyping(id, h.s.offset))
}

// ringNote returns a function that records in the ring that input of a kind is being typed.
func (h *inputState) ringNote(id string, n ring.TypingNote) func() {
	s := h.s
	if id == "" || s.ring == nil {
		return nil
	}
	return func() { s.ring.SetTypingNote(n) }
}

// noteLineMark records in the ring that a line's mark is about to be written.
func (h *inputState) noteLineMark(id string) {
	s := h.s
	if note := h.ringNote(id, inputqueue.LineMarked(id, s.offset)); note != nil {
		note()
	}
}

// loadUnfinishedInput loads the ring's record of the input that the previous owner was typing when it ended.
func (h *inputState) loadUnfinishedInput() {
	s := h.s
	if s.ring == nil {
		return
	}
	if t, ok := s.ring.TypingNote(); ok {
		h.dedup.SetUnfinished(t)
	}
	h.sequencer = inputqueue.NewSequencer(s.ring.Inputs())
}

// numberedInput returns the handle of numbered input, or nil for other input. Input with a digest, and secrets, may be
// typed in any order.
func (h *inputState) numberedInput(t *TypeRequest) *inputqueue.NumberedInput {
	if t.Digest != 0 || t.Secret {
		return nil
	}
	return h.sequencer.Input(t.ID)
}

// dedupFile, in a session's directory, has the ids of input that a replay from the checkpoint does not cover. It is
// written before the checkpoint.
const dedupFile = "inputs.json"

// journalUnfinishedInput records the result of loadUnfinishedInput, once the journal is open.
func (h *inputState) journalUnfinishedInput() { h.noteID(h.dedup.AdoptUnfinished()) }

// dedupState returns the ids to write with a checkpoint, or nil if none is new.
func (h *inputState) dedupState() ([]byte, error) {
	b, err := h.dedup.State()
	if b != nil {
		h.dedup.MarkSaved()
	}
	return b, err
}

// restoreDedup reads dedupFile.
func (h *inputState) restoreDedup() {
	s := h.s
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, dedupFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil {
		err = h.dedup.Restore(b)
	}
	if err != nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
	}
}

// markStart is the start of the shell's marks.
var markStart = []byte("\x1b]133;")

// maxParts bounds the parts of one piece of output. Queries in the remainder count as made at its end.
const maxParts = 64

// emulate feeds the emulator the bytes at s.off. A shell's output is fed in parts that end at its marks, so that each
// query is known to come before or after a mark.
func (h *inputState) emulate(p []byte) {
	s := h.s
	if s.lines.shell == nil {
		_, _ = s.engine.Write(p) // never fails
		return
	}
	for parts, at := 0, s.offset; len(p) > 0; parts++ {
		n := len(p)
		if i := bytes.Index(p[1:], markStart); i >= 0 && parts < maxParts {
			n = i + 1
		}
		_, _ = s.engine.Write(p[:n]) // never fails
		p, at = p[n:], at+uint64(n)
		h.replies.Add(at, s.engine.Replies(nil))
	}
}

// typeReplies types the emulator's replies to queries. On pipes the output contains no queries: what looks like one is
// data.
func (h *inputState) typeReplies() {
	s := h.s
	h.replies.Add(s.offset, s.engine.Replies(nil))
	for _, r := range h.replies.Take() {
		if s.history.recorder.HasStreams() || s.lines.shell != nil && s.lines.queryCommandEnded(r.At) {
			continue
		}
		h.queue.Reply(r.Data)
		h.replies.Unread = true
		if s.lines.shell != nil {
			s.lines.machine.NoteReply()
		}
	}
}

// queryCommandEnded reports whether the command that printed a query at an offset has ended.
func (h *lineHost) queryCommandEnded(at uint64) bool {
	st := h.shell.State()
	switch {
	case st.Running != nil && st.HasEnded:
		return at <= st.Running.End
	case st.Running == nil && h.lastCommand.Number > 0 && !h.lastCommand.Running:
		return at <= h.lastCommand.End
	}
	return false
}
