package session

import (
	"encoding/json"

	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
)

// typedMark is what a mark of PhaseTyping holds: a line given to the shell.
type typedMark struct {
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
}

// markAsks is the kind of marks that say what the program waits for input for, from there on: a Needs.
const markAsks journal.MarkKind = 0x21

// noteAsks notes what is waited for, or that nothing is any more, for the owner that goes on should this one's daemon die: a
// look of its own comes later, and finds no older question than itself.
func (h *historyHost) noteAsks(n Needs) {
	if b, err := json.Marshal(n); err == nil && len(b) <= journal.MaxPayload/2 {
		h.note(append([]byte{byte(markAsks)}, b...))
	}
}

// note puts a mark into the journal. A journal that fails says so by itself.
func (h *historyHost) note(mark []byte) {
	s := h.s
	if s.quiet {
		return
	}
	if err := h.record.Mark(mark); err != nil {
		h.journalFails(err)
	}
}

// noteInput notes that something was typed; what it was is not recorded.
func (h *historyHost) noteInput(kind journal.InputKind, n int) {
	h.note(journal.Input{Kind: kind, Bytes: n}.AppendTo(nil))
}

// noteCommand notes what is known of a command.
func (h *historyHost) noteCommand(p journal.Phase, v any) {
	b, err := json.Marshal(v)
	if err != nil || len(b) > journal.MaxPayload/2 {
		return // its text is in the output anyway
	}
	h.note(journal.Command{Phase: p, JSON: b}.AppendTo(nil))
}

// replayMark does after a restart what a mark says: what was typed is where waits begin.
func (s *Session) replayMark(rec *journal.Record) {
	switch journal.MarkKindOf(rec.Data) {
	case journal.MarkInput:
		s.typing.at = s.moment(rec.Offset)
		s.inputwait.asked = Needs{}
	case journal.MarkCommand:
		s.replayCommand(rec)
		s.inputwait.asked = Needs{}
	case markAsks:
		s.inputwait.asked = Needs{}
		_ = json.Unmarshal(rec.Data[1:], &s.inputwait.asked) // nothing is known otherwise, until a look
	case typing.MarkID:
		s.typing.dedup.Replay(rec.Data, rec.Offset)
	}
}

// replayCommand tells the tracker of a line that was given to the shell.
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
	s.lines.tell(shell.Event{Kind: shell.EventTyped, At: rec.Offset, Time: rec.Time, Text: typed.Text})
	s.typing.dedup.RememberLine(typed.ID)
}
