package grid

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/scan"
	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// AppendRun appends a run of characters, of ASCII between them and of what joins them, in columns
// [col, end), right behind the row's end. What stops it is for others: characters without
// columns, and whatever goes on with a cluster that stood there before. State is that of the
// character before; it is ignored unless graphemes is set.
func (r *Row) AppendRun(tb *Tables, p []byte, col, end int, id StyleID, odd width.Class, state width.State, graphemes bool) Run {
	d := &r.Packed
	d.Reserve(5 * (end - col))
	out := d.Text[:cap(d.Text)]
	first := len(d.Text)
	k, i, wide, clusters := first, 0, false, false
	last := -1 // where the last character begins, when it was put by itself, with its state
	for i < len(p) && col < end && (i == 0 || len(out)-k >= 5*(end-col)+packedSlack/2) {
		if !graphemes || last < 0 || !width.Awaits(state) {
			if !clusters {
				size, taken, cols := wideRun(out[k:], p[i:], end-col)
				k, i, col, wide = k+size, i+taken, col+cols, wide || taken > 0
				n, w := narrowRun(p[i:], end-col, odd)
				copy(out[k:], p[i:i+n])
				k, i, col = k+n, i+n, col+w
				if taken+n > 0 {
					last = -1
				}
				if n > 0 {
					if i < len(p) && p[i] < ' ' {
						break
					}
					continue
				}
			} else if size, taken, cols := starters(out[k:], p[i:], end-col, odd); taken > 0 {
				last = -1
				wide = wide || size > taken
				k, i, col = k+size, i+taken, col+cols
			}
			if col == end || i == len(p) {
				break
			}
		}
		c, n := rune(p[i]), 1
		if c >= utf8.RuneSelf {
			c, n = scan.Rune(p[i:])
		} else if c-0x20 >= 0x5f {
			break
		}
		if n == 0 || c >= utf8.RuneSelf && c < 0xa0 {
			break
		}
		props := width.Of(c)
		w := starterWidth(props, odd)
		if graphemes {
			if last < 0 && k > first {
				head, n := utf8.DecodeLastRune(out[:k])
				if last = k - n; last > first && out[last-1] == markWide {
					last--
				}
				state = width.Start(width.Of(head))
			}
			next, joined := width.Step(state, props)
			if joined {
				if last < 0 || k+n+8 > len(out) {
					break
				}
				size, grows := joinLast(out, last, k, c, p[i:i+n], end-col)
				if size == 0 {
					break
				}
				k, i, col, state, clusters = size, i+n, col+grows, next, true
				wide = wide || grows > 0
				continue
			}
			if props.Regional() {
				w = 2
			}
			if w > 0 && col+w <= end {
				state = next
			}
		}
		if w == 0 || col+w > end {
			break
		}
		last = k
		if w == 2 {
			out[k] = markWide
			k++
			wide = true
		}
		k += copy(out[k:], p[i:i+n])
		i, col = i+n, col+w
	}
	if i == 0 {
		return Run{}
	}
	if id != d.Style && !d.SwitchStyle(r.Used, id) {
		r.Begin(tb, r.Used, id)
	}
	var c rune
	if last < 0 {
		var n int
		c, n = utf8.DecodeLastRune(out[:k])
		if last = k - n; last > first && out[last-1] == markWide {
			last--
		}
		state = width.Start(width.Of(c))
	} else {
		c = headOf(out[last:k])
	}
	d.Text, d.Last = out[:k], int32(last)
	d.wide = true
	r.Wide = r.Wide || wide
	r.Used = col
	return Run{i, col, c, state}
}

// headOf is the first code point of a character as it is put into text.
func headOf(b []byte) rune {
	if b[0] == markWide {
		b = b[1:]
	}
	if b[0] == markCluster {
		b = b[2:]
	}
	c, _ := utf8.DecodeRune(b)
	return c
}

func wideMark(c byte) byte {
	if c == markWide {
		return 1
	}
	return 0
}

// joinLast joins a character, c or its bytes, to the one that stands in out[at:end], and makes
// that one wide when it asks for it and there is a column free. It returns the new end, 0 when it
// is not as simple as that, and by how many columns the character grew.
func joinLast(out []byte, at, end int, c rune, char []byte, free int) (size, grows int) {
	from := at + int(wideMark(out[at]))
	body := from
	if out[body] == markCluster {
		body += 2
	}
	if c == EmojiVariation || c == TextVariation {
		head, _ := utf8.DecodeRune(out[body:])
		if width.Of(head).HasVariations() {
			if c == TextVariation && from > at || c == EmojiVariation && from == at && free == 0 {
				return 0, 0
			}
			if c == EmojiVariation && from == at {
				grows = 1
			}
		}
	}
	if end-body+len(char) > packedClusterMax {
		return 0, 0
	}
	if body == from { // no cluster yet
		copy(out[from+2:], out[from:end])
		end += 2
		body += 2
		out[from] = markCluster
	}
	end += copy(out[end:], char)
	out[from+1] = byte(end - body)
	if grows > 0 {
		copy(out[at+1:], out[at:end])
		out[at] = markWide
		end++
	}
	return end, grows
}

// starters encodes the run at the start of p of characters that starter would take, and of ASCII,
// into at most limit columns: what wideRun and narrowRun do, for text in which runs are short. It
// returns what they take in out, in p and on the screen. The last ones before the end of p are
// left out.
//
//go:noinline // as wideRun
func starters(out, p []byte, limit int, odd width.Class) (size, n, cols int) {
	for cols < limit && len(p)-n >= 4 && len(out)-size >= 8 {
		v := binary.LittleEndian.Uint32(p[n:])
		if v&0x80 == 0 {
			if byte(v)-0x20 >= 0x5f {
				break
			}
			out[size] = byte(v)
			size, n, cols = size+1, n+1, cols+1
			continue
		}
		length, class := 3, width.Class(0)
		switch {
		case v&0xc0c0f0 == 0x8080e0:
			r := rune(v&0x0f<<12 | v>>8&0x3f<<6 | v>>16&0x3f)
			if r < 0x800 { // of two bytes, and so is the class
				return size, n, cols
			}
			if class = width.ClassOf3(byte(v), byte(v>>8)); class == 0 {
				if r&^0x7ff == 0xd800 {
					return size, n, cols
				}
				class = width.Of(r).Class()
			}
		case v&0xc0e0 == 0x80c0:
			length = 2
			if class = width.ClassOf2(byte(v)); class == 0 {
				r := rune(v&0x1f<<6 | v>>8&0x3f)
				if r < 0xa0 {
					return size, n, cols
				}
				class = width.Of(r).Class()
			}
		case v&0xc0c0c0f8 == 0x808080f0:
			r := rune(v&7<<18 | v>>8&0x3f<<12 | v>>16&0x3f<<6 | v>>24&0x3f)
			if length = 4; r < 0x10000 || r > utf8.MaxRune {
				return size, n, cols
			}
			class = width.Of(r).Class()
		}
		if class&odd != 0 {
			break
		}
		switch class & 3 {
		case 2:
			if cols+2 > limit {
				return size, n, cols
			}
			out[size] = markWide
			binary.LittleEndian.PutUint32(out[size+1:], v)
			size, n, cols = size+length+1, n+length, cols+2
		case 1:
			binary.LittleEndian.PutUint32(out[size:], v)
			size, n, cols = size+length, n+length, cols+1
		default:
			return size, n, cols
		}
	}
	return size, n, cols
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

// Run is what was printed of a run: bytes taken, the column behind it, its last
// character, the first one of its cluster, and the state behind it.
type Run struct {
	Bytes, Col int
	Last       rune
	State      width.State
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
func starterColumns(r rune, odd width.Class) int { return starterWidth(width.Of(r), odd) }

func starterWidth(p width.Props, odd width.Class) int {
	c := p.Class()
	if c&odd != 0 {
		return 0
	}
	return c.Columns()
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
	run.Col, run.State = col, width.Start(width.Of(run.Last))
	return run
}
