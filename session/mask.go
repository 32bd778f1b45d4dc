package session

import "bytes"

// Output that is handed out shows no nonce: a program that knows it could print marks in this
// session's name. Its digits become zeros, so that offsets stay what they are; what is in
// the journal is the output as it came.

// maskBefore is what a nonce stands behind in a mark.
const maskBefore = "lt="

// masked is the nonce with what it stands behind; empty for a program that is no shell.
func (s *Session) masked() []byte {
	switch {
	case s.cfg.Shell != nil && s.cfg.Shell.Nonce != "":
		return []byte(maskBefore + s.cfg.Shell.Nonce)
	case s.cfg.Nonce != "":
		return []byte(maskBefore + s.cfg.Nonce)
	}
	return nil
}

// Mask hides the nonce in data, the output from an offset on, also where data has only a
// part of it, and returns how much of data can be handed out: where output ends within what
// may become the nonce, the rest is told with what comes next. It may be called from any
// goroutine.
func (s *Session) Mask(from uint64, data []byte) int {
	pattern := s.masked()
	if len(pattern) == 0 || len(data) == 0 {
		return len(data)
	}
	all, begin := data, 0 // data with what stands around it; where data begins in it
	if n := min(uint64(len(pattern)-1), from); beginsWithin(data, pattern) && n > 0 {
		before := s.peek(from-n, make([]byte, n))
		all, begin = append(before, data...), len(before)
	}
	end := begin + len(data)
	if endsWithin(all, pattern) {
		after := s.peek(from+uint64(len(data)), make([]byte, len(pattern)-1))
		all = append(all[:end:end], after...)
	}
	hide := func(from, to int) { zero(data[max(from, begin)-begin : max(from, begin, min(to, end))-begin]) }
	for i := 0; ; {
		j := bytes.Index(all[i:], pattern)
		if j < 0 {
			break
		}
		i += j + len(pattern)
		hide(i-len(pattern)+len(maskBefore), i)
	}
	for n := min(len(pattern)-1, len(all)); n > len(maskBefore); n-- {
		digits := len(all) - n + len(maskBefore)
		if digits >= end || !bytes.HasSuffix(all, pattern[:n]) {
			continue
		}
		if s.Status().State == Running {
			return max(digits, begin) - begin
		}
		hide(digits, len(all)) // nothing comes any more
	}
	return len(data)
}

// beginsWithin reports whether data can begin with a later part of pattern, or lie in it.
func beginsWithin(data, pattern []byte) bool {
	for n := 1; n < len(pattern); n++ {
		if k := min(len(pattern)-n, len(data)); bytes.Equal(data[:k], pattern[n:n+k]) {
			return true
		}
	}
	return false
}

// endsWithin reports whether data ends with the beginning of a nonce.
func endsWithin(data, pattern []byte) bool {
	for n := min(len(pattern)-1, len(data)); n > len(maskBefore); n-- {
		if bytes.HasSuffix(data, pattern[:n]) {
			return true
		}
	}
	return false
}

// peek reads output that may not be there.
func (s *Session) peek(at uint64, buf []byte) []byte {
	c, err := s.raw(at, buf)
	if err != nil || c.Gap > 0 {
		return nil
	}
	return c.Data
}

func zero(b []byte) {
	for i := range b {
		b[i] = '0'
	}
}
