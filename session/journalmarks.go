package session

import (
	"encoding/json"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
)

// typedMark is the content of a mark of PhaseTyping: a line submitted to the shell, or one that was typed by keys and runs.
type typedMark struct {
	Text    string `json:"text"`
	ID      string `json:"id,omitempty"`
	IsTyped bool   `json:"keys,omitempty"` // a user or client typed it with keys
	TypedAt uint64 `json:"at,omitempty"`   // output offset at which it was ended
	Author  string `json:"by,omitempty"`
}

// markInputNeed is the kind of marks that hold an InputNeed: the input that the program waits for, from that offset on.
const markInputNeed journal.MarkKind = 0x21

// recordInputNeed records the input that the program waits for. If the daemon dies, the next owner starts with it until
// its own first probe.
func (h *historyHost) recordInputNeed(n InputNeed) {
	if b, err := json.Marshal(n); err == nil && len(b) <= journal.MaxPayload/2 {
		h.appendMark(append([]byte{byte(markInputNeed)}, b...))
	}
}

// appendMark appends a mark to the journal. A failing journal reports itself.
func (h *historyHost) appendMark(mark []byte) {
	s := h.s
	if s.publishMuted {
		return
	}
	if err := h.recorder.AppendMark(mark); err != nil {
		h.onJournalError(err)
	}
}

// recordInput records that input was typed, but not its content.
func (h *historyHost) recordInput(kind journal.InputKind, n int) {
	h.appendMark(journal.Input{Kind: kind, Bytes: n}.AppendTo(nil))
}

// recordCommand records a command's start or end.
func (h *historyHost) recordCommand(p journal.Phase, v any) {
	b, err := json.Marshal(v)
	if err != nil || len(b) > journal.MaxPayload/2 {
		return // its text is in the output anyway
	}
	h.appendMark(journal.Command{Phase: p, JSON: b}.AppendTo(nil))
}

// replayMark restores the state of a mark after a restart: waits start at the newest input, for example.
func (s *Session) replayMark(rec *journal.Record) {
	switch journal.MarkKindOf(rec.Data) {
	case journal.MarkInput:
		s.typing.lastInput = s.anchorAt(rec.Offset)
		s.inputwait.journaled = InputNeed{}
	case journal.MarkCommand:
		s.replayCommand(rec)
		s.inputwait.journaled = InputNeed{}
	case markInputNeed:
		s.inputwait.journaled = InputNeed{}
		_ = json.Unmarshal(rec.Data[1:], &s.inputwait.journaled) // if it is unreadable, nothing is known until a probe
	case inputqueue.MarkID:
		s.typing.dedup.Replay(rec.Data, rec.Offset)
	}
}

// replayCommand applies a submitted line to the tracker.
func (s *Session) replayCommand(rec *journal.Record) {
	if s.lines.shell == nil {
		return
	}
	c, err := journal.DecodeCommand(rec.Data)
	var typed typedMark
	if err != nil || c.Phase != journal.PhaseTyping || json.Unmarshal(c.JSON, &typed) != nil || s.typing.dedup.WasNeverTyped(typed.ID) {
		return
	}
	s.typing.lastInput, s.typing.lineAuthor = s.anchorAt(rec.Offset), ByExec
	if typed.IsTyped {
		s.typing.lineAuthor = typed.Author
	}
	s.lines.applyEvent(shell.Event{Kind: shell.EventTyped, At: rec.Offset, Time: rec.Time, Text: typed.Text, TypedAt: typed.TypedAt})
	s.typing.dedup.RememberLine(typed.ID)
}
