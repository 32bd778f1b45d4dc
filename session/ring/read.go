package ring

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Unread is the next contiguous run of bytes from off to head, at most limit bytes.
// It stays valid until Ack passes it. Outside [tail, head] there is nothing: what is before
// the tail was given back to the writer, and its caller has missed it (Missed).
func (r *Ring) Unread(off uint64, limit int) []byte {
	tail, head := r.hdr.tail.Load(), r.hdr.head.Load()
	if off < tail || off >= head || head-tail > uint64(len(r.data)) || limit <= 0 {
		return nil
	}
	at := r.slot(off)
	n := min(head-off, uint64(limit), uint64(len(r.data)-at))
	return r.data[at : at+int(n)]
}

// Missed is how many bytes from off on the writer got back without them having been read
// from there: a gap, to be counted as one.
func (r *Ring) Missed(off uint64) uint64 {
	if tail := r.hdr.tail.Load(); off < tail && tail <= r.hdr.head.Load() {
		return tail - off
	}
	return 0
}

// Ack gives all bytes before off back to the writer. True: the writer waits for room
// and must be told. An offset past the head is not believed.
func (r *Ring) Ack(off uint64) (wake bool) {
	if off > r.hdr.tail.Load() && off <= r.hdr.head.Load() {
		r.hdr.tail.Store(off)
	}
	return r.hdr.stalled.Load() == 1 && r.hdr.stalled.Swap(0) == 1
}

// ArmNotice is called before reading: from here on the writer sends a new notice.
func (r *Ring) ArmNotice() { r.hdr.noticed.Store(0) }

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
		n += r.load(dst[n:want], r.slot(off+uint64(n)))
	}
	return n, r.intact(off, r.hdr.head.Load())
}

// Oldest is the offset from which on CopyAt has all there is, until more is written. What is before was given back.
func (r *Ring) Oldest() uint64 {
	tail, head := r.hdr.tail.Load(), r.hdr.head.Load()
	reach := max(uint64(len(r.data)), 2*MaxWrite) - 2*MaxWrite
	return min(tail, max(r.hdr.floor.Load(), head-min(head, reach)))
}

// load copies what lies in data from a slot on, to its end at most. It reads whole words
// atomically: plain reads could be done after the look at the head that says whether they
// were in time, on machines that reorder them (arm64).
func (r *Ring) load(dst []byte, at int) int {
	const word = 8
	n := min(len(dst), len(r.data)-at)
	for done := 0; done < n; {
		in := (at + done) % word
		var b [word]byte
		binary.NativeEndian.PutUint64(b[:], (*atomic.Uint64)(unsafe.Pointer(&r.data[at+done-in])).Load())
		done += copy(dst[done:n], b[in:])
	}
	return n
}

// intact: nothing at or after off can have been overwritten while the head stood at
// head, counting what the writer may hold unpublished, and what it may have begun to write
// before its newest head is seen here.
func (r *Ring) intact(off, head uint64) bool {
	if off >= r.hdr.tail.Load() {
		return true
	}
	return off >= r.hdr.floor.Load() && head-off+2*MaxWrite <= uint64(len(r.data))
}
