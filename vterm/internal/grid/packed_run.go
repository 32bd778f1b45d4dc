package grid

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// AppendRun appends a run of characters, including ASCII and joining characters, in columns [col, end) directly after
// the row's end. It stops at characters without columns, and at characters that continue an earlier cluster. state is
// that of the previous character; it is ignored unless graphemes is set.
func (r *Row) AppendRun(tb *Tables, p []byte, col, end int, id StyleID, skipped width.Class, state width.State, graphemes bool) Run {
	d := &r.Packed
	d.Reserve(5 * (end - col))
	first := len(d.Text)
	m := mixture{out: d.Text[:cap(d.Text)], size: first, last: -1, cols: end - col, state: state, skipped: skipped, graphemes: graphemes}
	if !graphemes {
		m.state = width.Plain
	}
	if p[0]-0xe3 > 0xed-0xe3 { // where hardly a character is narrow
		if n, cols := narrowRun(p, m.cols, skipped); n > 0 {
			copy(m.out[m.size:], p[:n])
			m.size, m.consumed, m.cols = m.size+n, n, m.cols-cols
			m.last, m.state = lastChar(m.out, first, m.size), stateUnknown
		}
	}
	if m.cols > 0 && m.consumed < len(p) && p[m.consumed] >= utf8.RuneSelf {
		m.run(&tb.symbols, p)
	}
	if m.consumed == 0 {
		return Run{}
	}
	if id != d.Style && !d.SwitchStyle(r.Used, id) {
		r.Begin(tb, r.Used, id)
	}
	d.Text, d.Last = m.out[:m.size], int32(m.last)
	d.wide = true
	r.Wide = r.Wide || m.wide
	r.Used = end - m.cols
	c := headAt(m.out, m.last)
	if m.state == stateUnknown {
		m.state = width.Start(width.Of(c))
	}
	return Run{m.consumed, r.Used, c, m.state}
}

// lastChar returns the start of the last character of out[first:end], whose characters are single code points.
func lastChar(out []byte, first, end int) int {
	last := end - 1
	for last > first && !utf8.RuneStart(out[last]) {
		last--
	}
	if last > first && out[last-1] == markWide {
		last--
	}
	return last
}

// headAt returns the first code point of the character at a position in out, which must be followed by spare space.
func headAt(out []byte, at int) rune {
	if out[at] == markWide {
		at++
	}
	if out[at] == markCluster {
		at += 2
	}
	v := binary.LittleEndian.Uint32(out[at:])
	if v&0x80 == 0 {
		return rune(v & 0x7f)
	}
	c, _ := runeOf(v)
	return c
}

// narrowRun returns the length of the run of one-column characters at the start of p, of up to three bytes each, that
// starter accepts. It ignores the last few bytes of p.
//
//go:noinline // inside AppendRun the loop would keep its variables on the stack
func narrowRun(p []byte, limit int, skipped width.Class) (bytes, cols int) {
	p = p[:len(p):len(p)] // as in FastCells
	for cols < limit && len(p)-bytes >= 4 {
		if skipped == 0 && limit-cols >= 4 && len(p)-bytes >= 8 { // four characters at once, or two
			w := binary.LittleEndian.Uint64(p[bytes:])
			if w&0xc0e0c0e0c0e0c0e0 == 0x80c080c080c080c0 &&
				width.Narrow2(byte(w), byte(w>>8))&width.Narrow2(byte(w>>16), byte(w>>24))&
					width.Narrow2(byte(w>>32), byte(w>>40))&width.Narrow2(byte(w>>48), byte(w>>56))&1 != 0 {
				bytes, cols = bytes+8, cols+4
				continue
			}
			if w&0xc0c0f0c0c0f0 == 0x8080e08080e0 && w&0xf != 0 && w&0xf000000 != 0 && // none of an overlong form
				width.ClassOf3(byte(w), byte(w>>8))&width.ClassOf3(byte(w>>24), byte(w>>32))&1 != 0 {
				bytes, cols = bytes+6, cols+2
				continue
			}
		}
		v := binary.LittleEndian.Uint32(p[bytes:])
		n, class, r := 1, width.Class(1), rune(0)
		switch {
		case v&0x80 == 0:
			if byte(v)-0x20 >= 0x5f {
				return bytes, cols
			}
		case v&0xc0e0 == 0x80c0:
			n, class, r = 2, width.ClassOf2(byte(v)), rune(v&0x1f<<6|v>>8&0x3f)
		case v&0xc0c0f0 == 0x8080e0:
			n, class = 3, width.ClassOf3(byte(v), byte(v>>8))
			if r = rune(v&0x0f<<12 | v>>8&0x3f<<6 | v>>16&0x3f); r < 0x800 {
				return bytes, cols
			}
		default:
			return bytes, cols
		}
		if class == 0 && r >= 0xa0 && r&^0x7ff != 0xd800 {
			class = width.Of(r).Class()
		}
		if class&3 != 1 || class&skipped != 0 {
			return bytes, cols
		}
		bytes += n
		cols++
	}
	return bytes, cols
}

// Run is the result of printing a run: consumed bytes, the next column, the first code point of the last cluster, and
// the state after it.
type Run struct {
	Bytes, Col int
	Last       rune
	State      width.State
}

// starter decodes a character that starts a cluster after any other such character, and has the same width on every
// terminal. Characters of the classes in skipped are rejected. The length is 0 for any other character.
func starter(p []byte, skipped width.Class) (r rune, n, w int) {
	r, n = bytescan.Rune(p)
	if w = starterColumns(r, skipped); n == 0 || r < 0xa0 || w == 0 {
		return 0, 0, 0
	}
	return r, n, w
}

// StarterColumns returns the width of the character at the start of p if starter accepts it, else 0.
func StarterColumns(p []byte, skipped width.Class) (columns int) {
	_, _, w := starter(p, skipped)
	return w
}

// starterColumns returns the width of a character that starter accepts, 0 for any other.
func starterColumns(r rune, skipped width.Class) int { return starterWidth(width.Of(r), skipped) }

func starterWidth(p width.Props, skipped width.Class) int {
	c := p.Class()
	if c&skipped != 0 {
		return 0
	}
	return c.Columns()
}

// PutRun puts a run of characters that starter accepts into cells [col, end) of an inflated row. pen is a cell without
// content.
func (r *Row) PutRun(p []byte, col, end int, pen Cell, skipped width.Class, cols int) (run Run) {
	cells := r.Ensure(cols)
	for run.Bytes < len(p) && p[run.Bytes] >= utf8.RuneSelf {
		c, n, w := starter(p[run.Bytes:], skipped)
		if n == 0 || col+w > end {
			break
		}
		if run.Bytes == 0 { // not before: what prints nothing changes nothing
			r.split(col)
		}
		if r.Wide && col+w < r.Used {
			r.split(col + w)
		}
		if w == 1 {
			cells[col] = pen | Cell(c)
		} else {
			r.Wide = true
			cells[col] = pen | Cell(c) | WidthWide<<cellWidthShift
			cells[col+1] = pen | WidthTail<<cellWidthShift
		}
		if col += w; col > r.Used {
			r.Used = col
		}
		run.Bytes += n
		run.Last = c
	}
	run.Col, run.State = col, width.Start(width.Of(run.Last))
	return run
}
