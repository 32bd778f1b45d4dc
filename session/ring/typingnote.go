package ring

// TypingNote is the reader's note of the input that it is typing, in memory that outlives the reader. A reader that is
// killed after typing, before it has journaled the input, leaves the note to its successor, which then does not type
// the input again.
type TypingNote struct {
	ID   [2]uint64 // identifies the input; a hash, no text
	At   uint64    // offset of the stream that the reader had read
	Kind uint64    // defined by the reader
}

// SetTypingNote replaces the note.
func (r *Ring) SetTypingNote(t TypingNote) {
	n := &r.hdr.typing
	n.noted.Store(0)
	for i, w := range t.ID {
		n.id[i].Store(w)
	}
	n.at.Store(t.At)
	n.kind.Store(t.Kind)
	n.noted.Store(1)
}

// TypingNote returns the note, if there is one.
func (r *Ring) TypingNote() (t TypingNote, ok bool) {
	n := &r.hdr.typing
	if n.noted.Load() != 1 {
		return TypingNote{}, false
	}
	return TypingNote{ID: [2]uint64{n.id[0].Load(), n.id[1].Load()}, At: n.at.Load(), Kind: n.kind.Load()}, true
}
