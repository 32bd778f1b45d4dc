package ring

// Two streams in one ring. A pipe session's stdout and stderr share the ring in the order of their arrival. The log in
// the header has the offsets at which the bytes change from one stream to the other. It is in former padding, so that
// an older reader reads the bytes as one stream.
//
// A switch marks the bytes from its offset on, up to the next switch, as bytes of its stream. The writer stores it
// before those bytes, so a reader that sees the bytes sees the switch. It is freed once the tail has reached the switch
// after it. So the newest switch at or before the tail is always present, and a reader that starts there, for example
// after a crash, knows its stream. A writer that needs a switch while the log is full waits as if the ring were full.

// logEntries is the number of entries that fill the header's page from offset 512 on.
const logEntries = (headerSize - 512) / 8

// Stream is the source of bytes: stdout or stderr.
type Stream uint8

// Streams.
const (
	Stdout Stream = 0
	Stderr Stream = 1
)

// Run is a number of consecutive bytes of one stream.
type Run struct {
	Stream Stream
	Bytes  int
}

// Separate makes the ring one of two streams. It may be called only after SetBase, before any write and before the ring
// is passed on.
func (r *Ring) Separate() { r.hdr.isSeparated.Store(1) }

// IsSeparated reports whether the ring keeps two streams separate.
func (r *Ring) IsSeparated() bool { return r.hdr.isSeparated.Load() == 1 }

// RoomFor works like Room for bytes of a stream. It also returns nil if they need a switch and the log is full. Publish
// the bytes by PublishAs.
func (r *Ring) RoomFor(s Stream) []byte {
	if !r.canSwitch(s) {
		return nil
	}
	return r.Room()
}

// PublishAs makes n bytes written into RoomFor(s) visible to the reader.
func (r *Ring) PublishAs(s Stream, n int) {
	if r.needsSwitch(s) {
		k := r.hdr.switches.Load()
		r.hdr.log[k%logEntries].Store(r.hdr.head.Load()<<1 | uint64(s))
		r.hdr.switches.Store(k + 1)
	}
	r.Publish(n)
}

// StallFor works like Stall for a writer that found no RoomFor(s).
func (r *Ring) StallFor(s Stream) (room bool) {
	r.hdr.stalled.Store(1)
	if r.RoomFor(s) == nil {
		return false
	}
	r.hdr.stalled.Store(0)
	return true
}

// needsSwitch reports whether bytes of s need a switch in the log.
func (r *Ring) needsSwitch(s Stream) bool {
	if !r.IsSeparated() {
		return false
	}
	k := r.hdr.switches.Load()
	return k == 0 || Stream(r.hdr.log[(k-1)%logEntries].Load()&1) != s
}

// canSwitch reports whether bytes of s need no switch, or the log has space for one.
func (r *Ring) canSwitch(s Stream) bool {
	k := r.hdr.switches.Load()
	if k < logEntries || !r.needsSwitch(s) {
		return true
	}
	// The oldest entry may go once the tail has reached the one after it.
	return r.hdr.log[(k+1)%logEntries].Load()>>1 <= r.validTail(r.hdr.head.Load())
}

// LogUsagePercent returns how much of the log has unacknowledged switches, in percent. A reader that cannot acknowledge
// must drop output before the log is full.
func (r *Ring) LogUsagePercent() int {
	k := r.hdr.switches.Load()
	used := uint64(0)
	for used < min(k, logEntries) && r.hdr.log[(k-1-used)%logEntries].Load()>>1 > r.hdr.tail.Load() {
		used++
	}
	return int(used * 100 / logEntries)
}

// Runs appends the streams of the bytes in [from, to), in order; the bytes must not be acknowledged yet. ok is false if
// the ring has one stream, or its log is invalid.
func (r *Ring) Runs(dst []Run, from, to uint64) (runs []Run, ok bool) {
	k := r.hdr.switches.Load()
	if !r.IsSeparated() || k == 0 || from >= to {
		return dst, false
	}
	// Search backwards for the switch before from, then continue forwards.
	first := k
	for above := uint64(1<<63 - 1); ; {
		if first == 0 || k-first >= logEntries {
			return dst, false // no switch before from
		}
		first--
		off := r.hdr.log[first%logEntries].Load() >> 1
		if off >= above {
			return dst, false // offsets must grow
		}
		if above = off; off <= from {
			break
		}
	}
	runs = dst
	for at := from; at < to; first++ {
		end := to
		if first+1 < k {
			end = min(end, r.hdr.log[(first+1)%logEntries].Load()>>1)
		}
		if end <= at {
			return dst, false
		}
		runs = append(runs, Run{Stream(r.hdr.log[first%logEntries].Load() & 1), int(end - at)})
		at = end
	}
	return runs, true
}
