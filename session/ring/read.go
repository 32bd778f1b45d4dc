package ring

// Unread is the next contiguous run of bytes from off to head, at most limit bytes.
// It stays valid until Ack passes it. off must lie in [tail, head].
func (r *Ring) Unread(off uint64, limit int) []byte {
	n := min(r.hdr.head.Load()-off, uint64(limit))
	at := r.slot(off)
	n = min(n, uint64(len(r.data)-at))
	return r.data[at : at+int(n)]
}

// Ack gives all bytes before off back to the writer. True: the writer waits for room
// and must be told. An offset past the head is not believed.
func (r *Ring) Ack(off uint64) (wake bool) {
	if off > r.hdr.tail.Load() && off <= r.hdr.head.Load() {
		r.hdr.tail.Store(off)
	}
	return r.hdr.stalled.Load() == 1 && r.hdr.stalled.Swap(0) == 1
}

// Look is called before reading: from here on the writer sends a new notice.
func (r *Ring) Look() { r.hdr.noticed.Store(0) }

// CopyAt copies bytes from off into dst even when they were acknowledged, as long as
// they were not overwritten. ok is false when they are gone (read the journal) or
// not there yet; n is 0 when off is the head.
func (r *Ring) CopyAt(off uint64, dst []byte) (n int, ok bool) {
	head := r.hdr.head.Load()
	if off > head || !r.intact(off, head) {
		return 0, false
	}
	want := min(uint64(len(dst)), head-off)
	for uint64(n) < want {
		n += copy(dst[n:want], r.data[r.slot(off+uint64(n)):])
	}
	return n, r.intact(off, r.hdr.head.Load())
}

// intact: nothing at or after off can have been overwritten while the head stood at
// head, counting what the writer may hold unpublished.
func (r *Ring) intact(off, head uint64) bool {
	if off >= r.hdr.tail.Load() {
		return true
	}
	return off >= r.hdr.floor.Load() && head-off+MaxWrite <= uint64(len(r.data))
}
