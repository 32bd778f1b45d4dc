package session

import (
	"strings"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/store/journal"
)

// Input that carries an id is typed once: a client whose daemon was killed under its
// request sends it again and learns whether it was typed. The journal knows, too.

// markOnce is the kind of the journal's marks that hold the id of input that was typed.
const markOnce journal.MarkKind = 0x20

// maxOnce bounds how many ids are remembered: requests are repeated soon or not at all.
const maxOnce = 64

// onceTyped is input that was typed.
type onceTyped struct {
	id string
	Typed
}

func (s *Session) typedBefore(id string) (Typed, bool) {
	for i := range s.idTyped {
		if id != "" && s.idTyped[i].id == id {
			return s.idTyped[i].Typed, true
		}
	}
	return Typed{}, false
}

// rememberOnce notes that input was typed.
func (s *Session) rememberOnce(id string, t Typed) {
	if len(s.idTyped) == maxOnce {
		s.idTyped = append(s.idTyped[:0], s.idTyped[1:]...)
	}
	s.idTyped = append(s.idTyped, onceTyped{id, t})
}

// noteOnce has the journal remember it, too.
func (s *Session) noteOnce(id string, t Typed) {
	if id == "" {
		return
	}
	s.rememberOnce(id, t)
	s.note(append([]byte{byte(markOnce)}, string(t.Echo)+":"+id...))
}

// retellOnce does after a restart what noteOnce did.
func (s *Session) retellOnce(rec *journal.Record) {
	echo, id, ok := strings.Cut(string(rec.Data[1:]), ":")
	if ok {
		s.rememberOnce(id, Typed{Cursor: rec.Offset, Echo: respond.EchoState(echo)})
	}
}
