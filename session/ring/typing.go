package ring

// Typing is the reader's note of input that is typed just now. It is memory that outlives
// the reader: one that is killed between typing and writing down what it typed leaves its
// successor the note, and the input is not typed a second time.
type Typing struct {
	ID   [2]uint64 // names the input; a hash, no text
	At   uint64    // what was read of the stream then, bytes
	Kind uint64    // the reader's own
}

// NoteTyping replaces the note by t.
func (r *Ring) NoteTyping(t Typing) {
	n := &r.hdr.typing
	n.noted.Store(0)
	for i, w := range t.ID {
		n.id[i].Store(w)
	}
	n.at.Store(t.At)
	n.kind.Store(t.Kind)
	n.noted.Store(1)
}

// Typing returns the note, if any.
func (r *Ring) Typing() (t Typing, ok bool) {
	n := &r.hdr.typing
	if n.noted.Load() != 1 {
		return Typing{}, false
	}
	return Typing{ID: [2]uint64{n.id[0].Load(), n.id[1].Load()}, At: n.at.Load(), Kind: n.kind.Load()}, true
}
