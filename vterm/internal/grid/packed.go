package grid

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// Packed is the content of a row that was only appended to, as most lines of output are. It has the form of a
// scrollback record (encode.go), so printing and scrolling copy bytes. Screen.At inflates the row into cells when they
// are read or changed; it then consists of cells until it is cleared. styles holds the encoded styles of closed runs;
// the open run extends from column from to the row's end.
type Packed struct {
	Text   []byte
	styles []byte
	packedEnd
}

// packedEnd describes the end of a packed row.
type packedEnd struct {
	from           int32   // first column of the open run
	Last           int32   // start of the last character in text
	Style          StyleID // style of the open run; noStyleID: the style has no id and is in loose
	wide           bool    // a character in Text takes more than one byte or column
	unindexedStyle Style
}

// packedSlack is the space after the text that multi-byte stores may overwrite.
const packedSlack = 16

func (d *Packed) reset() {
	d.Text = d.Text[:0]
	d.styles = d.styles[:0]
	d.packedEnd = packedEnd{}
}

// Reserve makes room for n more bytes of text and one more run.
func (d *Packed) Reserve(n int) {
	if cap(d.Text)-len(d.Text) < n+packedSlack {
		d.Text = slices.Grow(d.Text, n+packedSlack)
	}
	if cap(d.styles)-len(d.styles) < 2 {
		d.styles = slices.Grow(d.styles, 16)
	}
}

// Begin prepares a packed row for characters of a style at col, which must not be before the end.
func (r *Row) Begin(tb *Tables, col int, id StyleID) {
	if col > r.Used {
		r.pad(tb, col)
	}
	if d := &r.Packed; id != d.Style {
		// otherwise the open run continues: its style has an id now
		if d.Style != noStyleID || !d.unindexedStyle.equal(&tb.Styles.List[id]) {
			d.closeRun(tb, r.Used)
		}
		d.Style = id
	}
}

// pad appends blanks up to col.
func (r *Row) pad(tb *Tables, col int) {
	d := &r.Packed
	if d.Style != 0 {
		d.closeRun(tb, r.Used)
		d.Style = 0
	}
	n := len(d.Text)
	d.Reserve(col - r.Used)
	d.Text = d.Text[:n+col-r.Used]
	clear(d.Text[n:])
	r.Used = col
}

func (d *Packed) closeRun(tb *Tables, end int) {
	if end > int(d.from) {
		d.styles = tb.encodeOpen(d.styles, end-int(d.from), d)
		d.from = int32(end)
	}
}

// SwitchStyle implements the style part of Begin for the common case. It returns false in other cases.
func (d *Packed) SwitchStyle(end int, id StyleID) bool {
	if n := end - int(d.from); n > 0 {
		m := len(d.styles)
		if n >= 0x80 || d.Style >= 0x7f || cap(d.styles)-m < 2 {
			return false
		}
		d.styles = d.styles[:m+2]
		d.styles[m], d.styles[m+1] = byte(n), byte(d.Style)+1
		d.from = int32(end)
	}
	d.Style = id
	return true
}

// AppendASCII appends text after a call of Begin.
func (r *Row) AppendASCII(s []byte) {
	d := &r.Packed
	d.Text = append(d.Text, s...)
	d.Last = int32(len(d.Text) - 1)
	r.Used += len(s)
}

// AppendRune appends a character of w columns after a call of Begin.
func (r *Row) AppendRune(c rune, w int) {
	d := &r.Packed
	d.Last = int32(len(d.Text))
	if w == 2 {
		d.Text = append(d.Text, markWide)
		r.Wide = true
	}
	d.Text = utf8.AppendRune(d.Text, c)
	d.wide = d.wide || w == 2 || c >= utf8.RuneSelf
	r.Used += w
}

// AppendHead appends the blank at the end of a row from which a wide character wrapped.
func (r *Row) AppendHead() {
	d := &r.Packed
	d.Last = int32(len(d.Text))
	d.Text = append(d.Text, markHead)
	d.wide, r.Wide = true, true
	r.Used++
}

// packedClusterMax limits clusters in packed rows: their length is one byte of the record.
const packedClusterMax = 0x7f

// Extend joins a character to the last one. It returns false if the row must be inflated for that.
func (d *Packed) Extend(c rune) bool {
	at := int(d.Last)
	if at < len(d.Text) && d.Text[at] == markWide {
		at++
	}
	if at >= len(d.Text) || d.Text[at] == 0 || d.Text[at] == markHead {
		return false // no character
	}
	d.Reserve(2 + utf8.UTFMax)
	n := len(d.Text) - at // bytes of the character so far
	if d.Text[at] != markCluster {
		// Two bytes come before it. It is at most four long.
		out := d.Text[at : at+8]
		char := binary.LittleEndian.Uint32(out)
		out[0], out[1] = markCluster, byte(n)
		binary.LittleEndian.PutUint32(out[2:], char)
		d.Text = d.Text[:at+2+n]
		d.wide = true
	}
	size := int(d.Text[at+1]) + utf8.RuneLen(c)
	if size > packedClusterMax {
		return false
	}
	d.Text = utf8.AppendRune(d.Text, c)
	d.Text[at+1] = byte(size)
	return true
}

// first returns the first code point of the last character; narrow reports whether it takes one column.
func (d *Packed) first() (c rune, narrow bool) {
	b := d.Text[d.Last:]
	if narrow = b[0] != markWide; !narrow {
		b = b[1:]
	}
	if len(b) > 2 && b[0] == markCluster {
		b = b[2:]
	}
	c, _ = utf8.DecodeRune(b)
	return c, narrow
}

// WidenLast makes the last character, which is narrow, two columns wide.
func (r *Row) WidenLast() {
	d := &r.Packed
	d.Text = append(d.Text, 0)
	copy(d.Text[d.Last+1:], d.Text[d.Last:])
	d.Text[d.Last] = markWide
	d.wide, r.Wide = true, true
	r.Used++
}

// flags returns the first byte of the record.
func (r *Row) flags() byte {
	flags := byte(r.Size) << recSizeShift
	if r.Wrapped {
		flags |= recWrapped
	}
	if !r.Inflated {
		if !r.Packed.wide {
			flags |= recASCII
		}
		if len(r.Packed.styles) > 0 || r.Packed.Style != 0 {
			flags |= recStyled
		}
	}
	return flags
}

// encodePacked appends the record of a packed row.
func (tb *Tables) encodePacked(dst []byte, r *Row) []byte {
	d := &r.Packed
	flags := r.flags()
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(r.Used))
	dst = append(dst, d.Text...)
	if flags&recStyled != 0 {
		dst = append(dst, d.styles...)
		dst = tb.encodeOpen(dst, r.Used-int(d.from), d)
	}
	return dst
}

// Inflate converts a packed row to cells.
func (s *Screen) Inflate(r *Row) {
	d := &r.Packed
	h := recordHeader{flags: r.flags(), cells: r.Used}
	r.Inflated = true
	if r.Used == 0 {
		return
	}
	if !d.wide && d.inflate(r.Ensure(s.Cols)) {
		d.reset()
		return
	}
	d.closeRun(s.tables, r.Used)
	d.Text = append(d.Text, d.styles...)
	h.body = d.Text
	s.tables.decodeCells(r.Ensure(s.Cols)[:0], h)
	d.reset()
}

// inflate implements Inflate for text of one byte per cell in common runs. It returns false for others.
func (d *Packed) inflate(cells []Cell) bool {
	text, styles, at := d.Text, d.styles, 0
	for ; len(styles) >= 2; styles = styles[2:] {
		n, id := int(styles[0]), Cell(styles[1])-1
		if (styles[0]|styles[1])&0x80 != 0 || styles[1] == 0 {
			return false
		}
		putASCII(cells[at:at+n], text[at:], id<<CellStyleShift)
		at += n
	}
	if d.Style == noStyleID {
		return false
	}
	putASCII(cells[at:len(text)], text[at:], Cell(d.Style)<<CellStyleShift)
	return true
}

// Variation returns by how many columns c widens the last character.
func (d *Packed) Variation(c rune) int {
	if c != EmojiVariation && c != TextVariation {
		return 0
	}
	first, narrow := d.first()
	switch {
	case !width.Of(first).HasVariations():
		return 0
	case c == EmojiVariation && narrow:
		return 1
	case c == TextVariation && !narrow:
		return -1
	}
	return 0
}
