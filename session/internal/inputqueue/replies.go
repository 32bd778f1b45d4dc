package inputqueue

// Reply is the emulator's reply to queries in the output up to an offset.
type Reply struct {
	At   uint64 // output offset
	Data []byte
}

// Replies are replies to be typed. A reply is for the program that sent the query. If that program has ended, its reply
// is dropped: the shell's editor, or the next command, would take it for keys.
type Replies struct {
	list []Reply // oldest first
	// Unread reports that the latest input was replies.
	Unread bool
}

// Add adds a reply, unless it is empty.
func (r *Replies) Add(at uint64, data []byte) {
	if len(data) > 0 {
		r.list = append(r.list, Reply{at, data})
	}
}

// Take removes and returns all replies, oldest first.
func (r *Replies) Take() []Reply {
	list := r.list
	r.list = nil
	return list
}
