package digest

// newest are the lines at the end: one is added and as a rule one dropped with each line there is. Those that are dropped
// leave room before the others, which are moved there once there is as much of it as there are lines.
type newest struct {
	all     []line
	dropped int // at the beginning of all
}

func (t *newest) lines() []line { return t.all[t.dropped:] }

func (t *newest) add(l line) {
	if len(t.all) == cap(t.all) && t.dropped > len(t.all)/2 {
		n := copy(t.all, t.all[t.dropped:])
		clear(t.all[n:])
		t.all, t.dropped = t.all[:n], 0
	}
	t.all = append(t.all, l)
}

// drop takes the oldest one out.
func (t *newest) drop() line {
	l := t.all[t.dropped]
	t.all[t.dropped] = line{}
	t.dropped++
	return l
}

// repeated is the template of the previous line by its shape: the next line often has the same shape.
type repeated struct {
	shape  uint64
	says   template
	shaped bool
}
