package inputqueue

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// Input that carries an id is typed once. A client whose daemon was killed during its request sends it again, and gets
// the first result. The journal stores the ids too.

// MarkID is the kind of the journal's marks that hold the id of input that was typed.
const MarkID journal.MarkKind = 0x20

const (
	// maxInputs bounds the remembered ids of input. After a break a client repeats all input that was not acknowledged,
	// some seconds of keys. If one id were forgotten, its input would be typed again and displace the next one, and so
	// on.
	maxInputs  = 1024
	maxClients = 64 // clients that number their input: one id is remembered of each
	maxLines   = 64 // remembered ids of lines
)

// TypeResult is the result of typing input.
type TypeResult struct {
	Cursor    uint64            // output offset at that time: the program's answer comes after it
	Echo      respond.EchoState // which side echoed it
	Digest    uint64            // of the input, known only to this daemon; 0: unknown, or a secret
	Duplicate bool              // the input was typed before, by its id
}

// ErrIDReused is returned for input with the id of different input.
var ErrIDReused = errors.New("the id is that of other input, and this was not typed")

// Dedup remembers the ids of typed input. The zero value is empty.
type Dedup struct {
	inputs     []input          // newest last
	saved      bool             // inputs are in their file
	lines      []string         // ids of lines that were submitted to the shell, newest last
	unfinished *ring.TypingNote // ring's note of the previous owner's last input; nil: none
}

// input is typed input, as it is saved.
type input struct {
	ID     string            `json:"id"`
	Cursor uint64            `json:"cursor"`
	Echo   respond.EchoState `json:"echo,omitempty"`
	digest uint64            // not saved: short input could be guessed from it
	client string            // the client that numbers its input (splitNumbered), or ""
	n      uint64            // the number
}

// keyLen is the length of a client's key, a UUID.
const keyLen = 36

// splitNumbered splits KEY.N (KEY:N of web pages), the id of input from a client that types in order and may be cut off.
// Only its newest id is remembered, as those before it were typed too. So other input does not displace its ids.
func splitNumbered(id string) (key string, n uint64) {
	if len(id) <= keyLen || id[keyLen] != '.' && id[keyLen] != ':' {
		return "", 0
	}
	key, number := id[:keyLen], id[keyLen+1:]
	if n, err := strconv.ParseUint(number, 10, 64); err == nil && strings.Count(key, "-") == 4 {
		return key, n
	}
	return "", 0
}

// impliedDigest is the digest of a client's input before its newest. Input with a real digest never matches it.
const impliedDigest = 1

// SetUnfinished sets the ring's note: the input that the previous owner was typing when it ended.
func (d *Dedup) SetUnfinished(t ring.TypingNote) { d.unfinished = &t }

// Matches reports whether input with a digest may be the input of t, which has the same id.
func (t TypeResult) Matches(of uint64) bool { return t.Digest == 0 || of == 0 || t.Digest == of }

// Lookup finds typed input by id. If mark is not empty, the caller must append it to the journal: only a note in the
// ring had the input.
func (d *Dedup) Lookup(id string) (t TypeResult, was bool, mark []byte) {
	if id == "" {
		return TypeResult{}, false, nil
	}
	for i := range d.inputs {
		if x := &d.inputs[i]; x.ID == id {
			return TypeResult{Cursor: x.Cursor, Echo: x.Echo, Digest: x.digest}, true, nil
		}
	}
	if client, number := splitNumbered(id); client != "" {
		for i := range d.inputs {
			if x := &d.inputs[i]; x.client == client && x.n > number {
				return TypeResult{Cursor: x.Cursor, Echo: x.Echo, Digest: impliedDigest}, true, nil
			}
		}
	}
	if n := d.unfinished; n != nil && n.ID == hash(id) {
		d.unfinished = nil
		t = resultOfNote(n)
		return t, true, d.Remember(id, t)
	}
	if by := idOfHash(hash(id)); slices.ContainsFunc(d.inputs, func(x input) bool { t = TypeResult{Cursor: x.Cursor, Echo: x.Echo}; return x.ID == by }) {
		return t, true, nil
	}
	return TypeResult{}, false, nil
}

// resultOfNote returns the result of the input in a note.
func resultOfNote(n *ring.TypingNote) TypeResult {
	t := TypeResult{Cursor: n.At}
	if n.Kind < uint64(len(noteEchoes)) {
		t.Echo = noteEchoes[n.Kind]
	}
	return t
}

// idOfHash returns an id for input that is known only by its hash in a note. No client's id starts like it.
func idOfHash(id [2]uint64) string { return fmt.Sprintf("#%016x%016x", id[0], id[1]) }

// AdoptUnfinished remembers input that only the ring's note has, and returns the mark for the journal. The next input
// replaces the note, perhaps before the client repeats its request. It returns nil if the input is known.
func (d *Dedup) AdoptUnfinished() (mark []byte) {
	n := d.unfinished
	if n == nil || n.Kind >= uint64(len(noteEchoes)) || slices.ContainsFunc(d.inputs, func(x input) bool { return hash(x.ID) == n.ID }) {
		return nil
	}
	return d.Remember(idOfHash(n.ID), resultOfNote(n))
}

// Remember records typed input, and returns the mark for the journal. The mark is empty for input without an id, or
// for known input.
func (d *Dedup) Remember(id string, t TypeResult) (mark []byte) {
	if id == "" {
		return nil
	}
	if _, was, mark := d.Lookup(id); was {
		return mark
	}
	d.saved = false
	x := input{ID: id, Cursor: t.Cursor, Echo: t.Echo, digest: t.Digest}
	if t.Digest == 0 {
		x.client, x.n = splitNumbered(id)
	}
	d.evictFor(&x)
	d.inputs = append(d.inputs, x)
	return append([]byte{byte(MarkID)}, string(t.Echo)+":"+id...)
}

// evictFor removes the client's earlier input, or else the oldest of its kind above the limit.
func (d *Dedup) evictFor(x *input) {
	oldest, alike := -1, 0
	for i := range d.inputs {
		o := &d.inputs[i]
		if x.client != "" && o.client == x.client {
			d.inputs = slices.Delete(d.inputs, i, i+1)
			return
		}
		if (o.client == "") != (x.client == "") {
			continue
		}
		if alike++; oldest < 0 {
			oldest = i
		}
	}
	most := maxInputs
	if x.client != "" {
		most = maxClients
	}
	if alike >= most {
		d.inputs = slices.Delete(d.inputs, oldest, oldest+1)
	}
}

// Replay restores input from a mark of the journal at an offset.
func (d *Dedup) Replay(mark []byte, at uint64) {
	if echo, id, ok := strings.Cut(string(mark[1:]), ":"); ok {
		d.Remember(id, TypeResult{Cursor: at, Echo: respond.EchoState(echo)})
	}
}

// State returns the state to save before a checkpoint, from which a replay skips the marks. It returns nil if nothing
// is new. Call MarkSaved after saving.
func (d *Dedup) State() ([]byte, error) {
	if d.saved || len(d.inputs) == 0 {
		return nil, nil
	}
	return json.Marshal(d.inputs)
}

// MarkSaved records that State is in its file.
func (d *Dedup) MarkSaved() { d.saved = true }

// MarkUnsaved records that State may not be in its file, so that it is saved again.
func (d *Dedup) MarkUnsaved() { d.saved = false }

// Restore restores saved state.
func (d *Dedup) Restore(state []byte) error {
	var list []input
	if err := json.Unmarshal(state, &list); err != nil {
		return err
	}
	for _, x := range list {
		d.Remember(x.ID, TypeResult{Cursor: x.Cursor, Echo: x.Echo})
	}
	d.saved = true
	return nil
}

// noteEchoes lists the echo states, by their number in a note.
var noteEchoes = [...]respond.EchoState{"", respond.EchoOn, respond.EchoOff, respond.EchoApp}

// hash returns the hash that identifies an id in a note.
func hash(id string) [2]uint64 {
	h := sha256.Sum256([]byte(id))
	return [2]uint64{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])}
}

// InputNote returns the note for the ring while input is being typed. The journal records the input after it was typed;
// the note covers a daemon that is killed in between, or during the write.
func InputNote(id string, t TypeResult) ring.TypingNote {
	return ring.TypingNote{ID: hash(id), At: t.Cursor, Kind: uint64(max(0, slices.Index(noteEchoes[:], t.Echo)))}
}

// Kinds of notes of a shell's lines. The journal records a line before it is typed. If a line is recorded, and not
// typed according to the note, the next owner types it.
const (
	lineMarked = 0x100 + iota // its mark is being written
	lineTyping                // its mark is written, and it is being typed
)

// LineMarked returns the note for a line whose mark is about to be written.
func LineMarked(id string, at uint64) ring.TypingNote { return lineNote(id, at, lineMarked) }

// LineTyping returns the note for a marked line that is being typed.
func LineTyping(id string, at uint64) ring.TypingNote { return lineNote(id, at, lineTyping) }

// lineNote returns a note of a kind for a line.
func lineNote(id string, at, kind uint64) ring.TypingNote {
	return ring.TypingNote{ID: lineHash(id), At: at, Kind: kind}
}

// lineHash identifies a line in a note. It differs from the hash of input with the same id.
func lineHash(id string) [2]uint64 { return hash("line\x00" + id) }

// WasNeverTyped reports whether the previous owner was killed after it marked a line and before it typed it.
func (d *Dedup) WasNeverTyped(id string) bool {
	n := d.unfinished
	return id != "" && n != nil && n.Kind == lineMarked && n.ID == lineHash(id)
}

// RememberLine records that a line was submitted to the shell.
func (d *Dedup) RememberLine(id string) {
	if id == "" {
		return
	}
	d.lines = append(d.lines, id)
	d.lines = d.lines[max(0, len(d.lines)-maxLines):]
}

// HasLine reports whether the line with an id was typed into the shell.
func (d *Dedup) HasLine(id string) bool { return slices.Contains(d.lines, id) }

// Lines returns the ids of the newest lines, oldest first.
func (d *Dedup) Lines() []string { return d.lines }

// SetLines restores the lines of an earlier owner.
func (d *Dedup) SetLines(ids []string) { d.lines = ids }
