package session

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Input that carries an id is typed once: a client whose daemon was killed under its
// request sends it again and learns whether it was typed. The journal knows, too.

// onceFile has the ids that a checkpoint makes a replay pass by, in a session's directory. It
// is written before the checkpoint.
const onceFile = "inputs.json"

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
	if id == "" {
		return Typed{}, false
	}
	for i := range s.idTyped {
		if s.idTyped[i].id == id {
			return s.idTyped[i].Typed, true
		}
	}
	if t := s.leftTyping; t != nil && t.ID == onceHash(id) {
		r := Typed{Cursor: t.At}
		if int(t.Kind) < len(onceEchoes) {
			r.Echo = onceEchoes[t.Kind]
		}
		s.leftTyping = nil
		s.noteOnce(id, r) // from here on the journal knows
		return r, true
	}
	return Typed{}, false
}

// onceEchoes are echo states as a note in the ring has them.
var onceEchoes = [...]respond.EchoState{"", respond.EchoOn, respond.EchoOff, respond.EchoApp}

// onceHash names an id in a note.
func onceHash(id string) [2]uint64 {
	h := sha256.Sum256([]byte(id))
	return [2]uint64{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])}
}

// onceNote notes in the ring that input is being typed. The journal is told when it was: a
// daemon that is killed between the two, or in the very write, leaves the note. nil: nothing is
// to be noted.
func (s *Session) onceNote(id string, t Typed) func() {
	if id == "" || s.ring == nil {
		return nil
	}
	n := ring.Typing{ID: onceHash(id), At: t.Cursor, Kind: uint64(max(0, slices.Index(onceEchoes[:], t.Echo)))}
	return func() { s.ring.NoteTyping(n) }
}

// Notes of a shell's lines: the journal is told before they are typed, so one that is marked
// and of which the note says that it was not typed yet is typed by the next owner.
const (
	noteLineMarked = 0x100 + iota // it is being marked
	noteLineTyping                // it is marked, and being typed
)

// markLine notes in the ring that a line is being marked.
func (s *Session) markLine(id string) {
	if id != "" && s.ring != nil {
		s.ring.NoteTyping(ring.Typing{ID: lineHash(id), At: s.off, Kind: noteLineMarked})
	}
}

// lineNote notes that it is being typed.
func (s *Session) lineNote(id string) func() {
	if id == "" || s.ring == nil {
		return nil
	}
	n := ring.Typing{ID: lineHash(id), At: s.off, Kind: noteLineTyping}
	return func() { s.ring.NoteTyping(n) }
}

// neverTyped says of a line that is marked that the owner before was killed before it typed it.
func (s *Session) neverTyped(id string) bool {
	t := s.leftTyping
	return id != "" && t != nil && t.Kind == noteLineMarked && t.ID == lineHash(id)
}

// lineHash names a line in a note, apart from input of the same id.
func lineHash(id string) [2]uint64 { return onceHash("line\x00" + id) }

// takeLeftTyping takes what the owner before this one was typing when it ended.
func (s *Session) takeLeftTyping() {
	if s.ring == nil {
		return
	}
	if t, ok := s.ring.Typing(); ok {
		s.leftTyping = &t
	}
}

// rememberOnce notes that input was typed.
func (s *Session) rememberOnce(id string, t Typed) {
	if _, was := s.typedBefore(id); was {
		return
	}
	s.idsSaved = false
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

// onceState is one input of the file's content.
type onceState struct {
	ID     string            `json:"id"`
	Cursor uint64            `json:"cursor"`
	Echo   respond.EchoState `json:"echo,omitempty"`
}

// saveOnce writes the ids down, unless that was done.
func (s *Session) saveOnce() {
	if s.idsSaved || len(s.idTyped) == 0 {
		return
	}
	list := make([]onceState, len(s.idTyped))
	for i, t := range s.idTyped {
		list[i] = onceState{t.id, t.Cursor, t.Echo}
	}
	path := filepath.Join(s.cfg.Dir, onceFile)
	b, err := json.Marshal(list)
	if err == nil {
		err = errors.Join(os.WriteFile(path+".tmp", b, 0o600), os.Rename(path+".tmp", path))
	}
	if err != nil {
		s.log.Warn("write down what was typed; it may be typed twice", "session", s.cfg.ID, "err", err)
		return
	}
	s.idsSaved = true
}

// resumeOnce reads what saveOnce wrote.
func (s *Session) resumeOnce() {
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, onceFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var list []onceState
	if err == nil {
		err = json.Unmarshal(b, &list)
	}
	if err != nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
		return
	}
	for _, t := range list {
		s.rememberOnce(t.ID, Typed{Cursor: t.Cursor, Echo: t.Echo})
	}
	s.idsSaved = true
}
