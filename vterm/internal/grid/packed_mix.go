package grid

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// mixture is a run of characters of all kinds on its way into the text of a packed row: what
// wideRun and narrowRun leave, because runs are short or clusters are among them.
type mixture struct {
	out       []byte // text up to its capacity
	k         int    // its end
	last      int    // where the last character that was put begins, -1 before the first
	taken     int    // bytes taken
	cols      int    // columns that are free
	state     width.State
	odd       width.Class // classes that are left alone
	graphemes bool
	wide      bool // a wide character was put
}

// stateUnknown stands for the state behind the last character when nobody asked for it yet. No
// cluster that awaits a Starter has it.
const stateUnknown = ^width.State(0)

// firstHan and lastHan are the first bytes of U+4000 to U+9FFF: Han, which are two columns wide and join nothing.
const firstHan, lastHan = 0xe4, 0xe9

// hanRun encodes the run of such characters at the start of p, limit of them at most, and returns how many there are. The
// last bytes of p are left out.
//
//go:noinline // as wideRun
func hanRun(out, p []byte, limit int) (n int) {
	for n < limit && len(p) >= 8 && len(out) >= 8 {
		v := binary.LittleEndian.Uint64(p)
		if v&0xc0c000 != 0x808000 || byte(v)-firstHan > lastHan-firstHan {
			break
		}
		w := v >> 24
		if w&0xc0c000 != 0x808000 || byte(w)-firstHan > lastHan-firstHan || n+1 == limit {
			binary.LittleEndian.PutUint32(out, uint32(v)<<8|markWide)
			return n + 1
		}
		binary.LittleEndian.PutUint64(out, uint64(uint32(w)<<8|markWide)<<32|uint64(uint32(v)<<8|markWide))
		p, out = p[6:], out[8:]
		n += 2
	}
	return n
}

// run takes what it can of p from taken on. The last few bytes of p are left out.
func (m *mixture) run(p []byte) {
	out, k, last, cols, state := m.out, m.k, m.last, m.cols, m.state
	q := p[m.taken:]
	for cols > 0 && len(q) >= 4 && len(out)-k >= packedSlack {
		v := binary.LittleEndian.Uint32(q)
		if v&0x80 == 0 {
			if byte(v)-0x20 >= 0x5f {
				break
			}
			last = k
			out[k] = byte(v)
			q = q[1:]
			k, cols, state = k+1, cols-1, width.Plain
			continue
		}
		if byte(v)-firstHan <= lastHan-firstHan {
			if n := hanRun(out[k:], q, cols/2); n > 0 {
				q = q[3*n:]
				k, cols, state, m.wide = k+4*n, cols-2*n, width.Plain, true
				last = k - 4
				continue
			}
		}
		if v&0xc0c0f0 == 0x8080e0 && width.ClassOf3(byte(v), byte(v>>8)) == 2 && !width.Awaits(state) {
			if cols < 2 {
				break
			}
			last = k
			binary.LittleEndian.PutUint32(out[k:], v<<8|markWide)
			q = q[3:]
			k, cols, state, m.wide = k+4, cols-2, stateUnknown, true
			continue
		}
		r, n := runeOf(v)
		if n == 0 {
			break
		}
		props := width.Of(r)
		w := starterWidth(props, m.odd)
		if (w == 0 || width.Awaits(state)) && m.graphemes {
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
				q = q[n:]
				k, cols, state = size, cols-grows, next
				m.wide = m.wide || grows > 0
				continue
			}
			if props.Regional() {
				w = 2
			}
		}
		if w == 0 || w > cols {
			break
		}
		next := width.Start(props)
		if m.graphemes {
			if n, w, next = clusterOf(q, n, w, cols, props); n == 0 || len(out)-k < packedSlack+n {
				break
			}
		}
		last, state = k, next
		if w == 2 {
			out[k] = markWide
			k++
			m.wide = true
		}
		k = putCluster(out, k, q, n, r)
		q = q[n:]
		cols -= w
	}
	m.k, m.last, m.taken, m.cols, m.state = k, last, len(p)-len(q), cols, state
}

// clusterOf finds out what joins the character that q begins with, of n bytes and w columns, of which cols are free. It
// returns the bytes and columns of the whole cluster and the state behind it, as far as q has it; no bytes when it is not
// as simple as that.
func clusterOf(q []byte, n, w, cols int, props width.Props) (size, columns int, state width.State) {
	state = width.Start(props)
	for len(q)-n >= 4 {
		v := binary.LittleEndian.Uint32(q[n:])
		if v&0x80 == 0 || byte(v)-firstHan <= lastHan-firstHan { // these join nothing
			break
		}
		r, size := runeOf(v)
		if size == 0 {
			break
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

// putCluster puts the cluster that the first n bytes of q are and that begins with r into out at k, and returns its end.
// Behind that there is room for stores of more than a byte.
func putCluster(out []byte, k int, q []byte, n int, r rune) int {
	if n > utf8.UTFMax || n > utf8.RuneLen(r) {
		out[k], out[k+1] = markCluster, byte(n)
		k += 2
	}
	if n <= 8 && len(q) >= 8 {
		binary.LittleEndian.PutUint64(out[k:], binary.LittleEndian.Uint64(q))
	} else {
		copy(out[k:], q[:n])
	}
	return k + n
}

// runeOf decodes the character above ASCII that v begins with, the first byte lowest. Its length is
// 0 when it is none, or a control.
func runeOf(v uint32) (r rune, n int) {
	switch {
	case v&0xc0c0f0 == 0x8080e0:
		r = rune(v&0x0f<<12 | v>>8&0x3f<<6 | v>>16&0x3f)
		if r >= 0x800 && r&^0x7ff != 0xd800 {
			return r, 3
		}
	case v&0xc0c0c0f8 == 0x808080f0:
		r = rune(v&7<<18 | v>>8&0x3f<<12 | v>>16&0x3f<<6 | v>>24&0x3f)
		if r >= 0x10000 && r <= utf8.MaxRune {
			return r, 4
		}
	case v&0xc0e0 == 0x80c0:
		if r = rune(v&0x1f<<6 | v>>8&0x3f); r >= 0xa0 {
			return r, 2
		}
	}
	return 0, 0
}

// joinLast joins the character c, whose n bytes v begins with, to the one that stands in out[at:end],
// and makes that one wide when it asks for it and there is a column free. It returns the new end, 0
// when it is not as simple as that, and by how many columns the character grew. Behind end there is
// room for stores of more than a byte.
func joinLast(out []byte, at, end int, c rune, v uint32, n, free int) (size, grows int) {
	from := at
	if out[at] == markWide {
		from++
	}
	if c == EmojiVariation || c == TextVariation {
		if width.Of(headOf(out[at:end])).HasVariations() {
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
