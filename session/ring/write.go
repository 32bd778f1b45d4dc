package ring

// Room returns the next contiguous free region, at most MaxWrite bytes, or nil if the ring is full. The writer fills a
// prefix of it and calls Publish.
func (r *Ring) Room() []byte {
	head := r.hdr.head.Load()
	free := uint64(len(r.data)) - (head - r.validTail(head))
	if free == 0 {
		return nil
	}
	at := r.slot(head)
	n := min(uint64(len(r.data)-at), free, MaxWrite)
	return r.data[at : at+int(n)]
}

// validTail returns the newest valid tail. It protects the writer from an invalid one of the reader: a tail that moves
// backwards or past head would let unread bytes be overwritten.
func (r *Ring) validTail(head uint64) uint64 {
	if t := r.hdr.tail.Load(); t >= r.lastTail && t <= head {
		r.lastTail = t
	}
	return r.lastTail
}

// Publish makes n bytes written into Room visible to the reader.
func (r *Ring) Publish(n int) { r.hdr.head.Add(uint64(n)) }

// ShouldNotify reports whether the writer must send a notice. It returns false while the reader has not handled the
// last one (ArmNotice), so that a flood causes one notice per read.
func (r *Ring) ShouldNotify() bool { return r.hdr.noticed.Swap(1) == 0 }

// Stall must be called by a writer that found no Room. It returns true if space became free since, so that the writer
// can continue. Otherwise the writer must wait for a wake-up by the reader, which sees the flag.
func (r *Ring) Stall() (room bool) {
	r.hdr.stalled.Store(1)
	if r.Room() == nil {
		return false
	}
	r.hdr.stalled.Store(0)
	return true
}

// Trim releases the memory of a ring without unread bytes to the system, so that an idle session uses a page. Only the
// writer may call it.
func (r *Ring) Trim() error {
	if r.mem == nil || r.hdr.head.Load() != r.hdr.tail.Load() {
		return nil
	}
	r.hdr.floor.Store(r.hdr.head.Load())
	return releasePages(r.data)
}
