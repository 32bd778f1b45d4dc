package grid

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// mixture encodes a run of mixed characters into the text of a packed row: short runs and clusters, which wideRun and
// narrowRun do not handle.
type mixture struct {
	out       []byte // text so far, with spare capacity
	size      int    // length of the text
	last      int    // start of the last character, -1 before the first
	consumed  int    // consumed bytes
	cols      int    // free columns
	state     width.State
	skipped   width.Class // classes that must be skipped
	graphemes bool
	wide      bool // a wide character was added
}

// stateUnknown means that the state after the last character was not computed yet. No cluster that awaits a Starter has
// it.
const stateUnknown = ^width.State(0)

// firstHan and lastHan are the first bytes of U+4000 to U+9FFF in UTF-8: Han, which join nothing.
const firstHan, lastHan = 0xe4, 0xe9

// joinsNothing reports whether no character whose first byte is c can join the one before it: ASCII and Han.
func joinsNothing(c byte) bool { return c < utf8.RuneSelf || c-firstHan <= lastHan-firstHan }

// wideRun encodes the run at the start of p of wide characters of three bytes, mostly Han, kana and Hangul, at most
// limit of them, and returns their number. It skips the last bytes of p.
//
//go:noinline // inside run the loop would keep its variables on the stack
func wideRun(out, p []byte, limit int) (n int) {
	for limit >= n+2 && len(p) >= 8 && len(out) >= packedSlack {
		v := binary.LittleEndian.Uint64(p)
		w := v >> 24
		if v&0xc0c0f0c0c0f0 != 0x8080e08080e0 || width.ClassOf3(byte(v), byte(v>>8))&width.ClassOf3(byte(w), byte(w>>8)) != 2 {
			break
		}
		binary.LittleEndian.PutUint64(out, uint64(uint32(w)<<8|markWide)<<32|uint64(uint32(v)<<8|markWide))
		p, out = p[6:], out[8:]
		n += 2
	}
	if limit > n && len(p) >= 4 && len(out) >= packedSlack {
		if v := binary.LittleEndian.Uint32(p); v&0xc0c0f0 == 0x8080e0 && width.ClassOf3(byte(v), byte(v>>8)) == 2 {
			binary.LittleEndian.PutUint32(out, v<<8|markWide)
			n++
		}
	}
	return n
}

// chars consumes p from m.consumed on, up to stop or beyond if a run continues there, and reports whether it got that far. It
// skips the last few bytes of p.
func (m *mixture) chars(p []byte, stop int) bool {
	out, k, last, cols, state := m.out, m.size, m.last, m.cols, m.state
	at := m.consumed
	for at < stop && cols > 0 && len(p)-at >= 4 && len(out)-k >= packedSlack {
		v := binary.LittleEndian.Uint32(p[at : at+4])
		if v&0xc0c0f0 == 0x8080e0 && width.ClassOf3(byte(v), byte(v>>8)) == 2 && !width.Awaits(state) {
			n := wideRun(out[k:], p[at:], cols/2)
			if n == 0 {
				break
			}
			k, at, cols, state, m.wide = k+4*n, at+3*n, cols-2*n, stateUnknown, true
			last = k - 4
			continue
		}
		if v&0x80 == 0 {
			if byte(v)-0x20 >= 0x5f {
				break
			}
			last = k
			out[k] = byte(v)
			k, at, cols, state = k+1, at+1, cols-1, width.Plain
			continue
		}
		r, n := rune4(v), 4
		if v&0xc0c0c0f8 != 0x808080f0 || uint32(r)-0x10000 > utf8.MaxRune-0x10000 {
			if r, n = runeOf(v); n == 0 {
				break
			}
		}
		props := width.Of(r)
		w, known := starterWidth(props, m.skipped), stateUnknown
		if (w == 0 || width.Awaits(state)) && m.graphemes {
			if known = width.Start(props); !props.Regional() || state != stateUnknown && state != width.Plain {
				if state == stateUnknown {
					state = width.Start(width.Of(headAt(out, last)))
				}
				next, joined := width.Step(state, props)
				if joined {
					if last < 0 {
						break
					}
					size, grows := joinLast(out, last, k, r, v, n, cols)
					if size == 0 {
						break
					}
					k, at, cols, state = size, at+n, cols-grows, next
					m.wide = m.wide || grows > 0
					continue
				}
			}
			if props.Regional() {
				w = 2
			}
		}
		if w == 0 || w > cols {
			break
		}
		size := n
		if m.graphemes && len(p) > at+n && !joinsNothing(p[at+n]) {
			if size, w, known = clusterOf(p[at:], n, w, cols, props); size == 0 || len(out)-k < packedSlack+size {
				break
			}
		}
		last, state = k, known
		if w == 2 {
			out[k] = markWide
			k++
			m.wide = true
		}
		if size == n {
			binary.LittleEndian.PutUint32(out[k:k+4], v)
		} else {
			out[k], out[k+1] = markCluster, byte(size)
			k += 2
			putBytes(out[k:], p[at:], size)
		}
		k, at, cols = k+size, at+size, cols-w
	}
	m.size, m.last, m.consumed, m.cols, m.state = k, last, at, cols, state
	return at >= stop
}

// clusterOf finds the characters that join the one at the start of q, which has n bytes and w columns, with cols free
// columns. It returns the size and the columns of the whole cluster and the state after it; a size of 0 if the cluster
// is more complex.
func clusterOf(q []byte, n, w, cols int, props width.Props) (size, columns int, state width.State) {
	state = width.Start(props)
	for len(q)-n >= 4 {
		v := binary.LittleEndian.Uint32(q[n:])
		if joinsNothing(byte(v)) {
			break
		}
		r, size := rune3(v), 3
		if v&0xc0c0f0 != 0x8080e0 || r < 0x800 || r&^0x7ff == 0xd800 {
			if r, size = runeOf(v); size == 0 {
				break
			}
		}
		next, joined := width.Step(state, width.Of(r))
		if !joined {
			break
		}
		if r&^1 == TextVariation && props.HasVariations() {
			if (r == TextVariation) == (w == 2) { // the width changes
				if w = 2; r == TextVariation || cols < 2 {
					return 0, 0, 0
				}
			}
		}
		if n += size; n > packedClusterMax {
			return 0, 0, 0
		}
		state = next
	}
	return n, w, state
}

// putBytes copies the first n bytes of q to out, which must have space for stores of 16 bytes.
func putBytes(out, q []byte, n int) {
	if n <= 16 && len(q) >= 16 {
		binary.LittleEndian.PutUint64(out, binary.LittleEndian.Uint64(q))
		binary.LittleEndian.PutUint64(out[8:], binary.LittleEndian.Uint64(q[8:]))
	} else {
		copy(out, q[:n])
	}
}

// rune3 and rune4 decode a character of three or four bytes, with the first byte lowest.
func rune3(v uint32) rune { return rune(v&0x0f<<12 | v>>8&0x3f<<6 | v>>16&0x3f) }
func rune4(v uint32) rune { return rune(v&7<<18 | v>>8&0x3f<<12 | v>>16&0x3f<<6 | v>>24&0x3f) }

// runeOf decodes the non-ASCII character at the start of v, with the first byte lowest. The length is 0 for invalid
// bytes or a control.
func runeOf(v uint32) (r rune, n int) {
	switch {
	case v&0xc0c0f0 == 0x8080e0:
		r = rune3(v)
		if r >= 0x800 && r&^0x7ff != 0xd800 {
			return r, 3
		}
	case v&0xc0c0c0f8 == 0x808080f0:
		if r = rune4(v); r >= 0x10000 && r <= utf8.MaxRune {
			return r, 4
		}
	case v&0xc0e0 == 0x80c0:
		if r = rune(v&0x1f<<6 | v>>8&0x3f); r >= 0xa0 {
			return r, 2
		}
	}
	return 0, 0
}

// joinLast joins character c, whose n bytes are at the start of v, to the one in out[at:end], and widens that if c
// requires it and a column is free. It returns the new end, or 0 for more complex cases, and the number of added
// columns. After end, out must have space for multi-byte stores.
func joinLast(out []byte, at, end int, c rune, v uint32, n, free int) (size, grows int) {
	from := at
	if out[at] == markWide {
		from++
	}
	if c == EmojiVariation || c == TextVariation {
		if width.Of(headAt(out, at)).HasVariations() {
			if c == TextVariation && from > at || c == EmojiVariation && from == at && free == 0 {
				return 0, 0
			}
			if c == EmojiVariation && from == at {
				grows = 1
			}
		}
	}
	if out[from] == markCluster {
		if int(out[from+1])+n > packedClusterMax {
			return 0, 0
		}
		out[from+1] += byte(n)
	} else { // of four bytes at most so far
		char := binary.LittleEndian.Uint32(out[from:])
		binary.LittleEndian.PutUint32(out[from+2:], char)
		out[from], out[from+1] = markCluster, byte(end-from+n)
		end += 2
	}
	binary.LittleEndian.PutUint32(out[end:], v)
	end += n
	if grows > 0 {
		copy(out[at+1:], out[at:end])
		out[at] = markWide
		end++
	}
	return end, grows
}
