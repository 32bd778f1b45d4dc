package grid

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// AppendRun appends a run of characters and of ASCII between them in columns [col, end), right
// behind the end: what starter takes.
func (r *Row) AppendRun(tb *Tables, p []byte, col, end int, id StyleID, odd width.Class) Run {
	d := &r.Packed
	d.Reserve(5 * (end - col))
	out := d.Text[:cap(d.Text)]
	k, i, wide := len(d.Text), 0, false
	for i < len(p) && col < end {
		size, taken, cols := wideRun(out[k:], p[i:], end-col)
		k, i, col, wide = k+size, i+taken, col+cols, wide || taken > 0
		n, w := narrowRun(p[i:], end-col, odd)
		copy(out[k:], p[i:i+n])
		k, i, col = k+n, i+n, col+w
		if n > 0 {
			continue
		}
		if len(p)-i >= 4 && p[i] < 0xf0 || i == len(p) {
			break // the runs would have had it
		}
		n, w = oneOf(p[i:], odd)
		if n == 0 || col+w > end {
			break
		}
		if w == 2 {
			out[k] = markWide
			k++
			wide = true
		}
		copy(out[k:], p[i:i+n])
		k, i, col = k+n, i+n, col+w
	}
	if i == 0 {
		return Run{}
	}
	if id != d.Style && !d.SwitchStyle(r.Used, id) {
		r.Begin(tb, r.Used, id)
	}
	last, n := utf8.DecodeLastRune(out[:k])
	if d.Last = int32(k - n); k-n > len(d.Text) && out[k-n-1] == markWide {
		d.Last--
	}
	d.Text = d.Text[:k]
	d.wide = true
	r.Wide = r.Wide || wide
	r.Used = col
	return Run{i, col, last}
}

// wideRun encodes the run at the start of p of wide characters of three and four bytes, Han,
// kana, Hangul and emoji for the most part, into at most limit columns. It returns what they
// take in out, in p and on the screen.
//
//go:noinline // inside AppendRun the loop would keep its variables on the stack
func wideRun(out, p []byte, limit int) (size, n, cols int) {
	for cols+2 <= limit && len(p)-n >= 4 && len(out)-size >= 5 {
		v := binary.LittleEndian.Uint32(p[n:])
		switch {
		case v&0xc0c0f0 == 0x8080e0:
			if width.ClassOf3(byte(v), byte(v>>8)) != 2 {
				return size, n, cols
			}
			binary.LittleEndian.PutUint32(out[size:], v<<8|markWide)
			size, n = size+4, n+3
		case v&0xc0c0c0f8 == 0x808080f0:
			r := rune(v&7<<18 | v>>8&0x3f<<12 | v>>16&0x3f<<6 | v>>24&0x3f)
			if r < 0x10000 || width.Of(r).Class() != 2 {
				return size, n, cols
			}
			out[size] = markWide
			binary.LittleEndian.PutUint32(out[size+1:], v)
			size, n = size+5, n+4
		default:
			return size, n, cols
		}
		cols += 2
	}
	return size, n, cols
}

// narrowRun is the length of the run at the start of p of characters of one column, of up
// to three bytes, that starter would take. The last ones before the end of p are left out.
//
//go:noinline // as wideRun
func narrowRun(p []byte, limit int, odd width.Class) (bytes, cols int) {
	for cols < limit && len(p)-bytes >= 4 {
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
		if class&3 != 1 || class&odd != 0 {
			return bytes, cols
		}
		bytes += n
		cols++
	}
	return bytes, cols
}

// Run is what was printed of a run: bytes taken, the column behind it, and its last
// character.
type Run struct {
	Bytes, Col int
	Last       rune
}

// starter decodes a character that begins a cluster, whatever character of that kind
// stands before it, and is as wide on every terminal: classes in odd are left alone. Its
// length is 0 for any other.
func starter(p []byte, odd width.Class) (r rune, n, w int) {
	r, n = scan.Rune(p)
	if w = starterColumns(r, odd); n == 0 || r < 0xa0 || w == 0 {
		return 0, 0, 0
	}
	return r, n, w
}

// starterColumns is the width of a character that starter takes, 0 for any other.
func starterColumns(r rune, odd width.Class) int {
	c := width.Of(r).Class()
	if c&odd != 0 {
		return 0
	}
	return c.Columns()
}

// oneOf is starter for printable ASCII as well.
func oneOf(p []byte, odd width.Class) (n, w int) {
	if p[0] < utf8.RuneSelf {
		if p[0]-0x20 < 0x5f {
			return 1, 1
		}
		return 0, 1
	}
	_, n, w = starter(p, odd)
	return n, w
}

// PutRun puts a run of characters that starter takes into cells [col, end) of a row that has
// them. The pen is a cell without content.
func (r *Row) PutRun(p []byte, col, end int, pen Cell, odd width.Class, cols int) (run Run) {
	cells := r.Ensure(cols)
	for run.Bytes < len(p) && p[run.Bytes] >= utf8.RuneSelf {
		c, n, w := starter(p[run.Bytes:], odd)
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
	run.Col = col
	return run
}
