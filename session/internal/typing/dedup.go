package typing

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
	// maxInputs is how many ids of input are remembered. All that a client had typed and was not told of comes again after
	// a break, some seconds of keys: where one of them is forgotten by then, it is typed again, takes the place of the
	// next, and so all of them are.
	maxInputs  = 1024
	maxClients = 64 // that number their input: one id is remembered of each
	maxLines   = 64 // ids of lines
)

// Typed is what there is to say of something that was typed.
type Typed struct {
	Cursor uint64            // offset of the output then: what answers it lies after
	Echo   respond.EchoState // who showed it
	Of     uint64            // digest of what it was, for as long as this daemon lives; 0: not known, or a secret
	Again  bool              // it was typed before, by its id
}

// ErrOther is returned for input whose id is that of other input.
var ErrOther = errors.New("the id is that of other input, and this was not typed")

// Dedup remembers by id what was typed. The zero value remembers nothing.
type Dedup struct {
	inputs []input  // newest last
	saved  bool     // inputs are in their file
	lines  []string // ids of lines that were given to the shell, newest last
	left   *ring.Typing
}

// input is input that was typed, as its file has it, too.
type input struct {
	ID     string            `json:"id"`
	Cursor uint64            `json:"cursor"`
	Echo   respond.EchoState `json:"echo,omitempty"`
	of     uint64            // not for a disk: what is short could be guessed by it
	client string            // who numbers its input (numbered); empty: nobody
	n      uint64
}

// keyLen is the length of a client's key: a UUID, which no other client has.
const keyLen = 36

// numbered are the parts of KEY.N, or KEY:N as pages have it, the id of what a client types in order that may be cut off.
// Only its newest is remembered: those before it were typed, too. So what others type meanwhile has none of its forgotten.
func numbered(id string) (key string, n uint64) {
	if len(id) <= keyLen || id[keyLen] != '.' && id[keyLen] != ':' {
		return "", 0
	}
	key, number := id[:keyLen], id[keyLen+1:]
	if n, err := strconv.ParseUint(number, 10, 64); err == nil && strings.Count(key, "-") == 4 {
		return key, n
	}
	return "", 0
}

// inOrder is the digest of what a client typed before its newest: what has one of its own was not that.
const inOrder = 1

// Left takes the note in the ring: what the owner before this one was typing when it ended.
func (d *Dedup) Left(t ring.Typing) { d.left = &t }

// Same says that input may be what was typed before under its id.
func (t Typed) Same(of uint64) bool { return t.Of == 0 || of == 0 || t.Of == of }

// Before tells of input that was typed before. A mark that is not empty is what the journal has to
// learn: only a note in the ring knew it.
func (d *Dedup) Before(id string) (t Typed, was bool, mark []byte) {
	if id == "" {
		return Typed{}, false, nil
	}
	for i := range d.inputs {
		if x := &d.inputs[i]; x.ID == id {
			return Typed{Cursor: x.Cursor, Echo: x.Echo, Of: x.of}, true, nil
		}
	}
	if client, number := numbered(id); client != "" {
		for i := range d.inputs {
			if x := &d.inputs[i]; x.client == client && x.n > number {
				return Typed{Cursor: x.Cursor, Echo: x.Echo, Of: inOrder}, true, nil
			}
		}
	}
	if n := d.left; n != nil && n.ID == hash(id) {
		d.left = nil
		t = leftTyped(n)
		return t, true, d.Remember(id, t)
	}
	if by := byHash(hash(id)); slices.ContainsFunc(d.inputs, func(x input) bool { t = Typed{Cursor: x.Cursor, Echo: x.Echo}; return x.ID == by }) {
		return t, true, nil
	}
	return Typed{}, false, nil
}

// leftTyped is what a note says of input.
func leftTyped(n *ring.Typing) Typed {
	t := Typed{Cursor: n.At}
	if n.Kind < uint64(len(noteEchoes)) {
		t.Echo = noteEchoes[n.Kind]
	}
	return t
}

// byHash is input of which only the note is known, as an id: no client's begins so.
func byHash(id [2]uint64) string { return fmt.Sprintf("#%016x%016x", id[0], id[1]) }

// KeepLeft remembers input that only the note knows, and returns the mark that has the journal remember it, too: what is
// typed next takes the note's place, whether or not its client has asked again by then. Empty: it is known.
func (d *Dedup) KeepLeft() (mark []byte) {
	n := d.left
	if n == nil || n.Kind >= uint64(len(noteEchoes)) || slices.ContainsFunc(d.inputs, func(x input) bool { return hash(x.ID) == n.ID }) {
		return nil
	}
	return d.Remember(byHash(n.ID), leftTyped(n))
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
		x.client, x.n = numbered(id)
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

// Replay takes a mark that stands in the journal at an offset.
func (d *Dedup) Replay(mark []byte, at uint64) {
	if echo, id, ok := strings.Cut(string(mark[1:]), ":"); ok {
		d.Remember(id, Typed{Cursor: at, Echo: respond.EchoState(echo)})
	}
}

// State is what has to be written down before a checkpoint makes a replay pass the marks by; nil:
// nothing new. Saved says that it was.
func (d *Dedup) State() ([]byte, error) {
	if d.saved || len(d.inputs) == 0 {
		return nil, nil
	}
	return json.Marshal(d.inputs)
}

// Saved notes that State is in its file.
func (d *Dedup) Saved() { d.saved = true }

// Unsaved notes that it may not be.
func (d *Dedup) Unsaved() { d.saved = false }

// Resume goes on with what was written down.
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

// InputNote is the note that stands in the ring while input is being typed. The journal is told when
// it was: a daemon that is killed between the two, or in the very write, leaves the note.
func InputNote(id string, t Typed) ring.Typing {
	return ring.Typing{ID: hash(id), At: t.Cursor, Kind: uint64(max(0, slices.Index(noteEchoes[:], t.Echo)))}
}

// Notes of a shell's lines: the journal is told before they are typed, so one that is marked
// and of which the note says that it was not typed yet is typed by the next owner.
const (
	lineMarked = 0x100 + iota // it is being marked
	lineTyping                // it is marked, and being typed
)

// LineMarked is the note that a line is being marked, LineTyping that it is being typed.
func LineMarked(id string, at uint64) ring.Typing { return lineNote(id, at, lineMarked) }

// LineTyping is the note that a line that was marked is being typed.
func LineTyping(id string, at uint64) ring.Typing { return lineNote(id, at, lineTyping) }

func lineNote(id string, at, kind uint64) ring.Typing {
	return ring.Typing{ID: lineHash(id), At: at, Kind: kind}
}

// lineHash names a line in a note, apart from input of the same id.
func lineHash(id string) [2]uint64 { return hash("line\x00" + id) }

// NeverTyped says of a line that is marked that the owner before was killed before it typed it.
func (d *Dedup) NeverTyped(id string) bool {
	n := d.left
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

// HasLine says that the line with an id was given to the shell.
func (d *Dedup) HasLine(id string) bool { return slices.Contains(d.lines, id) }

// Lines are the ids of the newest lines, oldest first; SetLines goes on with them.
func (d *Dedup) Lines() []string { return d.lines }

// SetLines goes on with lines that an earlier owner remembered.
func (d *Dedup) SetLines(ids []string) { d.lines = ids }
