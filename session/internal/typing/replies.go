package typing

// Reply is what the emulator replied to queries up to an offset of the output.
type Reply struct {
	At   uint64
	Data []byte
}

// Replies are replies that are to be typed. A reply to a query is for the program that asked: one that
// has ended by the time its query is read gets none, because the shell's editor, or the next command,
// would take it for keys.
type Replies struct {
	list []Reply // oldest first
	// Unread says that replies were typed since anything else was.
	Unread bool
}

// Add keeps a reply; an empty one is none.
func (r *Replies) Add(at uint64, data []byte) {
	if len(data) > 0 {
		r.list = append(r.list, Reply{at, data})
	}
}

// Take hands all replies out, oldest first.
func (r *Replies) Take() []Reply {
	list := r.list
	r.list = nil
	return list
}
