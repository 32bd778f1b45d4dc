package digest

// lineQueue is a queue of the newest lines. Dropped lines leave room at the start of the buffer, which add reuses once half
// of the buffer is free.
type lineQueue struct {
	buf     []line
	dropped int // at the start of buf
}

func (t *lineQueue) lines() []line { return t.buf[t.dropped:] }

func (t *lineQueue) add(l line) {
	if len(t.buf) == cap(t.buf) && t.dropped > len(t.buf)/2 {
		n := copy(t.buf, t.buf[t.dropped:])
		clear(t.buf[n:])
		t.buf, t.dropped = t.buf[:n], 0
	}
	t.buf = append(t.buf, l)
}

// drop removes and returns the oldest line.
func (t *lineQueue) drop() line {
	l := t.buf[t.dropped]
	t.buf[t.dropped] = line{}
	t.dropped++
	return l
}

// previousClass is the class of the previous line, by its shape: the next line often has the same shape.
type previousClass struct {
	shape    uint64
	class    lineClass
	hasShape bool
}
