package session

import (
	"encoding/json"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
)

// typedMark is what a mark of PhaseTyping holds: a line given to the shell.
type typedMark struct {
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

// markNeeds is the kind of marks that hold a Needs: the input that the program waits for, from that offset on.
const markNeeds journal.MarkKind = 0x21

// noteNeeds records the input that the program waits for. If the daemon dies, the next owner starts with it until its
// own first probe.
func (h *historyHost) noteNeeds(n Needs) {
	if b, err := json.Marshal(n); err == nil && len(b) <= journal.MaxPayload/2 {
		h.note(append([]byte{byte(markNeeds)}, b...))
	}
}

// note appends a mark to the journal. A failing journal reports itself.
func (h *historyHost) note(mark []byte) {
	s := h.s
	if s.muted {
		return
	}
	if err := h.record.Mark(mark); err != nil {
		h.onJournalError(err)
	}
}

// noteInput records that input was typed, but not its content.
func (h *historyHost) noteInput(kind journal.InputKind, n int) {
	h.note(journal.Input{Kind: kind, Bytes: n}.AppendTo(nil))
}

// noteCommand records what is known of a command.
func (h *historyHost) noteCommand(p journal.Phase, v any) {
	b, err := json.Marshal(v)
	if err != nil || len(b) > journal.MaxPayload/2 {
		return // its text is in the output anyway
	}
	h.note(journal.Command{Phase: p, JSON: b}.AppendTo(nil))
}

// replayMark restores the state of a mark after a restart: waits start at the newest input, for example.
func (s *Session) replayMark(rec *journal.Record) {
	switch journal.MarkKindOf(rec.Data) {
	case journal.MarkInput:
		s.typing.at = s.moment(rec.Offset)
		s.inputwait.journaled = Needs{}
	case journal.MarkCommand:
		s.replayCommand(rec)
		s.inputwait.journaled = Needs{}
	case markNeeds:
		s.inputwait.journaled = Needs{}
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
	if err != nil || c.Phase != journal.PhaseTyping || json.Unmarshal(c.JSON, &typed) != nil || s.typing.dedup.NeverTyped(typed.ID) {
		return
	}
	s.typing.at, s.typing.by = s.moment(rec.Offset), ByExec
	s.lines.apply(shell.Event{Kind: shell.EventTyped, At: rec.Offset, Time: rec.Time, Text: typed.Text})
	s.typing.dedup.RememberLine(typed.ID)
}
