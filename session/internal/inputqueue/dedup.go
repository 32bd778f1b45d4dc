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

// Input that carries an id is typed once: a client whose daemon was killed under its
// request sends it again and learns whether it was typed. The journal knows, too.

// MarkID is the kind of the journal's marks that hold the id of input that was typed.
const MarkID journal.MarkKind = 0x20

const (
	// maxInputs bounds the remembered ids of input. After a break a client repeats all input that was not acknowledged,
	// some seconds of keys. If one id were forgotten, its input would be typed again and displace the next one, and so
	// on.
	maxInputs  = 1024
	maxClients = 64 // that number their input: one id is remembered of each
	maxLines   = 64 // ids of lines
)

// Typed describes input that was typed.
type Typed struct {
	Cursor uint64            // offset of the output then: what answers it lies after
	Echo   respond.EchoState // which side echoed it
	Of     uint64            // digest of the input, known for as long as this daemon lives; 0: unknown, or a secret
	Again  bool              // it was typed before, by its id
}

// ErrOther is returned for input whose id is that of other input.
var ErrOther = errors.New("the id is that of other input, and this was not typed")

// Dedup remembers by id what was typed. The zero value remembers nothing.
type Dedup struct {
	inputs     []input  // newest last
	saved      bool     // inputs are in their file
	lines      []string // ids of lines that were given to the shell, newest last
	unfinished *ring.TypingNote
}

// input is input that was typed, as its file has it, too.
type input struct {
	ID     string            `json:"id"`
	Cursor uint64            `json:"cursor"`
	Echo   respond.EchoState `json:"echo,omitempty"`
	of     uint64            // not for a disk: what is short could be guessed by it
	client string            // the client that numbers its input (numbered), or ""
	n      uint64
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

// inOrder is the digest of a client's input before its newest. Input with a real digest never matches it.
const inOrder = 1

// SetUnfinished takes the note in the ring: what the owner before this one was typing when it ended.
func (d *Dedup) SetUnfinished(t ring.TypingNote) { d.unfinished = &t }

// Same reports whether input may be the one that was typed before with its id.
func (t Typed) Same(of uint64) bool { return t.Of == 0 || of == 0 || t.Of == of }

// Before looks up input by id. A mark that is not empty must be written to the journal: only a note in the ring had the
// input.
func (d *Dedup) Before(id string) (t Typed, was bool, mark []byte) {
	if id == "" {
		return Typed{}, false, nil
	}
	for i := range d.inputs {
		if x := &d.inputs[i]; x.ID == id {
			return Typed{Cursor: x.Cursor, Echo: x.Echo, Of: x.of}, true, nil
		}
	}
	if client, number := splitNumbered(id); client != "" {
		for i := range d.inputs {
			if x := &d.inputs[i]; x.client == client && x.n > number {
				return Typed{Cursor: x.Cursor, Echo: x.Echo, Of: inOrder}, true, nil
			}
		}
	}
	if n := d.unfinished; n != nil && n.ID == hash(id) {
		d.unfinished = nil
		t = unfinishedTyped(n)
		return t, true, d.Remember(id, t)
	}
	if by := byHash(hash(id)); slices.ContainsFunc(d.inputs, func(x input) bool { t = Typed{Cursor: x.Cursor, Echo: x.Echo}; return x.ID == by }) {
		return t, true, nil
	}
	return Typed{}, false, nil
}

// unfinishedTyped returns a note's description of input.
func unfinishedTyped(n *ring.TypingNote) Typed {
	t := Typed{Cursor: n.At}
	if n.Kind < uint64(len(noteEchoes)) {
		t.Echo = noteEchoes[n.Kind]
	}
	return t
}

// byHash returns an id for input that is known only by its hash in a note. No client's id starts like it.
func byHash(id [2]uint64) string { return fmt.Sprintf("#%016x%016x", id[0], id[1]) }

// KeepUnfinished remembers input that only the note has, and returns the mark for the journal. It must be kept as the
// next input replaces the note, perhaps before its client repeats it. It returns nil if the input is known.
func (d *Dedup) KeepUnfinished() (mark []byte) {
	n := d.unfinished
	if n == nil || n.Kind >= uint64(len(noteEchoes)) || slices.ContainsFunc(d.inputs, func(x input) bool { return hash(x.ID) == n.ID }) {
		return nil
	}
	return d.Remember(byHash(n.ID), unfinishedTyped(n))
}

// Remember notes that input was typed, and returns the mark that has the journal remember it, too.
// It is empty for input without an id, or for input that was known.
func (d *Dedup) Remember(id string, t Typed) (mark []byte) {
	if id == "" {
		return nil
	}
	if _, was, mark := d.Before(id); was {
		return mark
	}
	d.saved = false
	x := input{ID: id, Cursor: t.Cursor, Echo: t.Echo, of: t.Of}
	if t.Of == 0 {
		x.client, x.n = splitNumbered(id)
	}
	d.makeRoom(&x)
	d.inputs = append(d.inputs, x)
	return append([]byte{byte(MarkID)}, string(t.Echo)+":"+id...)
}

// makeRoom forgets what a client typed before, or else the oldest of its kind where there are too many.
func (d *Dedup) makeRoom(x *input) {
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

// Replay restores a mark of the journal at an offset.
func (d *Dedup) Replay(mark []byte, at uint64) {
	if echo, id, ok := strings.Cut(string(mark[1:]), ":"); ok {
		d.Remember(id, Typed{Cursor: at, Echo: respond.EchoState(echo)})
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

// MarkSaved notes that State is in its file.
func (d *Dedup) MarkSaved() { d.saved = true }

// MarkUnsaved notes that State may not be in its file, so that it is saved again.
func (d *Dedup) MarkUnsaved() { d.saved = false }

// Resume restores saved state.
func (d *Dedup) Resume(state []byte) error {
	var list []input
	if err := json.Unmarshal(state, &list); err != nil {
		return err
	}
	for _, x := range list {
		d.Remember(x.ID, Typed{Cursor: x.Cursor, Echo: x.Echo})
	}
	d.saved = true
	return nil
}

// noteEchoes are echo states as a note in the ring has them.
var noteEchoes = [...]respond.EchoState{"", respond.EchoOn, respond.EchoOff, respond.EchoApp}

// hash names an id in a note.
func hash(id string) [2]uint64 {
	h := sha256.Sum256([]byte(id))
	return [2]uint64{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])}
}

// InputNote returns the note for the ring while input is being typed. The journal records the input after it was typed;
// the note covers a daemon that is killed in between, or during the write.
func InputNote(id string, t Typed) ring.TypingNote {
	return ring.TypingNote{ID: hash(id), At: t.Cursor, Kind: uint64(max(0, slices.Index(noteEchoes[:], t.Echo)))}
}

// Notes of a shell's lines: the journal records a line before it is typed. A line that is recorded, and not typed
// according to the note, is typed by the next owner.
const (
	lineMarked = 0x100 + iota // it is being marked
	lineTyping                // it is marked, and being typed
)

// LineMarked returns the note for a line whose mark is about to be written.
func LineMarked(id string, at uint64) ring.TypingNote { return lineNote(id, at, lineMarked) }

// LineTyping returns the note for a marked line that is being typed.
func LineTyping(id string, at uint64) ring.TypingNote { return lineNote(id, at, lineTyping) }

func lineNote(id string, at, kind uint64) ring.TypingNote {
	return ring.TypingNote{ID: lineHash(id), At: at, Kind: kind}
}

// lineHash names a line in a note, apart from input of the same id.
func lineHash(id string) [2]uint64 { return hash("line\x00" + id) }

// NeverTyped reports whether the previous owner was killed after it marked a line and before it typed it.
func (d *Dedup) NeverTyped(id string) bool {
	n := d.unfinished
	return id != "" && n != nil && n.Kind == lineMarked && n.ID == lineHash(id)
}

// RememberLine notes that a line was given to the shell.
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
