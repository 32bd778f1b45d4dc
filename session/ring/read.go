package ring

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// BytesAt returns the next contiguous bytes from off to head, at most limit. They stay valid until Ack passes them. It
// returns nil outside [tail, head]: bytes before the tail were released to the writer, and the caller has missed them
// (MissedBytes).
func (r *Ring) BytesAt(off uint64, limit int) []byte {
	tail, head := r.hdr.tail.Load(), r.hdr.head.Load()
	if off < tail || off >= head || head-tail > uint64(len(r.data)) || limit <= 0 {
		return nil
	}
	at := r.slot(off)
	n := min(head-off, uint64(limit), uint64(len(r.data)-at))
	return r.data[at : at+int(n)]
}

// MissedBytes returns how many bytes from off on were released to the writer unread: a gap, which must be counted.
func (r *Ring) MissedBytes(off uint64) uint64 {
	if tail := r.hdr.tail.Load(); off < tail && tail <= r.hdr.head.Load() {
		return tail - off
	}
	return 0
}

// Ack releases all bytes before off to the writer. It reports whether the writer waits for space and must be woken. It
// ignores an offset past the head.
func (r *Ring) Ack(off uint64) (wake bool) {
	if off > r.hdr.tail.Load() && off <= r.hdr.head.Load() {
		r.hdr.tail.Store(off)
	}
	return r.hdr.stalled.Load() == 1 && r.hdr.stalled.Swap(0) == 1
}

// ArmNotice must be called before reading: after it the writer sends a new notice.
func (r *Ring) ArmNotice() { r.hdr.noticed.Store(0) }

// CopyAt copies bytes from off into dst, including acknowledged ones that were not overwritten. ok is false if they
// were overwritten (read the journal) or are not written yet; n is 0 if off is the head.
func (r *Ring) CopyAt(off uint64, dst []byte) (n int, ok bool) {
	head := r.hdr.head.Load()
	if off > head || !r.isIntact(off, head) {
		return 0, false
	}
	want := min(uint64(len(dst)), head-off)
	for uint64(n) < want {
		n += r.copyAtomic(dst[n:want], r.slot(off+uint64(n)))
	}
	return n, r.isIntact(off, r.hdr.head.Load())
}

// OldestOffset returns the offset from which on CopyAt has all bytes, until more is written.
func (r *Ring) OldestOffset() uint64 {
	tail, head := r.hdr.tail.Load(), r.hdr.head.Load()
	reach := max(uint64(len(r.data)), 2*MaxWrite) - 2*MaxWrite
	return min(tail, max(r.hdr.floor.Load(), head-min(head, reach)))
}

// copyAtomic copies data from a slot on, at most up to the end of data. It reads whole words atomically: on machines
// that reorder reads (arm64), plain reads could come after the read of the head that validates them.
func (r *Ring) copyAtomic(dst []byte, at int) int {
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

// isIntact reports whether no byte at or after off can have been overwritten at the given head. It allows for
// unpublished bytes of the writer, and for a write that started before the newest head is visible here.
func (r *Ring) isIntact(off, head uint64) bool {
	if off >= r.hdr.tail.Load() {
		return true
	}
	return off >= r.hdr.floor.Load() && head-off+2*MaxWrite <= uint64(len(r.data))
}
