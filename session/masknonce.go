package session

import "bytes"

// Output for readers has the nonce masked: a program that knows it could print marks in this session's name. Its digits
// become zeros, so that offsets do not change. The journal has the unmasked output.
//
// All digits of that length within a mark become zeros, correct or not, also if output ends within them: the result
// must not reveal whether some of them are correct. Elsewhere only a whole nonce is masked.

const (
	// nonceParameter is the parameter of a mark that has the nonce.
	nonceParameter = "lt="
	// markPrefix is the start of a mark.
	markPrefix = "\x1b]133;"
	// markReach bounds the bytes from the start of a mark to its nonce.
	markReach = 64
)

// nonce returns the nonce of the shell's marks, or "" for other programs.
func (s *Session) nonce() string {
	if s.cfg.Shell != nil && s.cfg.Shell.Nonce != "" {
		return s.cfg.Shell.Nonce
	}
	return s.cfg.OriginNonce
}

// MaskNonce masks the nonce in data, the output from an offset on, also where data has only a part of it. It may be
// called from any goroutine.
func (s *Session) MaskNonce(from uint64, data []byte) {
	nonce := s.nonce()
	if nonce == "" || len(data) == 0 {
		return
	}
	all, begin := data, 0 // all has data and its surroundings; begin is the start of data in all
	if n := min(uint64(markReach+len(nonceParameter)+len(nonce)), from); n > 0 && mayContinueNonce(data, len(nonce)) {
		before := s.readIfAvailable(from-n, make([]byte, n))
		all, begin = append(before, data...), len(before)
	}
	end := begin + len(data)
	if endsInNonce(all, len(nonce)) {
		after := s.readIfAvailable(from+uint64(len(data)), make([]byte, len(nonceParameter)+len(nonce)))
		all = append(all[:end:end], after...)
	}
	for i := 0; ; {
		j := bytes.Index(all[i:], []byte(nonceParameter))
		if j < 0 {
			return
		}
		i += j + len(nonceParameter)
		n := countHexDigits(all[i:], len(nonce))
		whole := bytes.HasPrefix(all[i:], []byte(nonce))
		if whole {
			n = len(nonce)
		}
		if whole || inMark(all[:i]) {
			maskBytes(data[min(max(i, begin), end)-begin : min(max(i+n, begin), end)-begin])
		}
	}
}

// mayContinueNonce reports whether the start of a nonce, or of its mark, may be before data.
func mayContinueNonce(data []byte, digits int) bool {
	n := countHexDigits(data, digits)
	if n > 0 || bytes.IndexByte([]byte(nonceParameter[1:]), data[0]) >= 0 {
		return true
	}
	return bytes.Contains(data[:min(len(data), markReach)], []byte(nonceParameter))
}

// endsInNonce reports whether data ends in what may be a part of a nonce.
func endsInNonce(data []byte, digits int) bool {
	tail := data[max(0, len(data)-digits-len(nonceParameter)):]
	if i := bytes.LastIndex(tail, []byte(nonceParameter)); i >= 0 {
		rest := tail[i+len(nonceParameter):]
		return countHexDigits(rest, digits) == len(rest)
	}
	return bytes.HasSuffix(tail, []byte(nonceParameter[:1])) || bytes.HasSuffix(tail, []byte(nonceParameter[:2]))
}

// inMark reports whether output ends within a mark.
func inMark(out []byte) bool {
	near := out[max(0, len(out)-markReach):]
	i := bytes.LastIndex(near, []byte(markPrefix))
	return i >= 0 && bytes.IndexFunc(near[i+1:], func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// countHexDigits returns the number of hexadecimal digits at the start of b, up to most.
func countHexDigits(b []byte, most int) (n int) {
	for n < len(b) && n < most && (b[n] >= '0' && b[n] <= '9' || b[n] >= 'a' && b[n] <= 'f') {
		n++
	}
	return n
}

// readIfAvailable reads output from an offset, as far as it is available.
func (s *Session) readIfAvailable(at uint64, buf []byte) []byte {
	c, err := s.readUnmasked(at, buf)
	if err != nil || c.Gap > 0 {
		return nil
	}
	return c.Data
}

// maskBytes overwrites bytes with zeros, the digits of a masked nonce.
func maskBytes(b []byte) {
	for i := range b {
		b[i] = '0'
	}
}
