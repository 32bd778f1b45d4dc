package vterm

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm/internal/width"
)

// draft is a row that was only ever appended to, which is what most lines of most output
// are. It is kept as the record that the history will keep (pack.go), so printing and
// scrolling are copies of bytes, and no cell is made that nobody looks at. Whoever wants
// cells takes the row with screen.at, which thaws it: from then on, until it is cleared,
// the row consists of cells.
//
// The styles of closed runs stand in styles, encoded; the open run goes from column from
// to the row's end.
type draft struct {
	text   []byte
	styles []byte
	draftEnd
}

// draftEnd is what is known of the end of a draft.
type draftEnd struct {
	from  int32   // first column of the open run
	last  int32   // where in text the last character begins
	style StyleID // of the open run
	wide  bool    // text is not a byte a cell any more
}

// draftSlack is room behind the text that stores of more than a byte may spoil.
const draftSlack = 16

func (d *draft) reset() {
	d.text = d.text[:0]
	d.styles = d.styles[:0]
	d.draftEnd = draftEnd{}
}

// reserve makes room for n more bytes of text and another run.
func (d *draft) reserve(n int) {
	if cap(d.text)-len(d.text) < n+draftSlack {
		d.text = slices.Grow(d.text, n+draftSlack)
	}
	if cap(d.styles)-len(d.styles) < 2 {
		d.styles = slices.Grow(d.styles, 16)
	}
}

// begin readies the draft for characters of a style at col, which is not before the end.
func (r *row) begin(tb *tables, col int, id StyleID) {
	if col > r.used {
		r.pad(tb, col)
	}
	if d := &r.draft; id != d.style {
		d.closeRun(tb, r.used)
		d.style = id
	}
}

// pad appends blanks up to col.
func (r *row) pad(tb *tables, col int) {
	d := &r.draft
	if d.style != 0 {
		d.closeRun(tb, r.used)
		d.style = 0
	}
	for ; r.used < col; r.used++ {
		d.text = append(d.text, 0)
	}
}

func (d *draft) closeRun(tb *tables, end int) {
	if end > int(d.from) {
		d.styles = tb.packRun(d.styles, end-int(d.from), d.style)
		d.from = int32(end)
	}
}

// switchStyle is what begin does about the style, for the common case; false if it is not.
func (d *draft) switchStyle(end int, id StyleID) bool {
	if n := end - int(d.from); n > 0 {
		m := len(d.styles)
		if n >= 0x80 || d.style >= 0x7f || cap(d.styles)-m < 2 {
			return false
		}
		d.styles = d.styles[:m+2]
		d.styles[m], d.styles[m+1] = byte(n), byte(d.style)+1
		d.from = int32(end)
	}
	d.style = id
	return true
}

// appendASCII appends a run that begin was called for.
func (r *row) appendASCII(s []byte) {
	d := &r.draft
	d.text = append(d.text, s...)
	d.last = int32(len(d.text) - 1)
	r.used += len(s)
}

// appendRune appends a character of w columns that begin was called for.
func (r *row) appendRune(c rune, w int) {
	d := &r.draft
	d.last = int32(len(d.text))
	if w == 2 {
		d.text = append(d.text, packWide)
		r.wide = true
	}
	d.text = utf8.AppendRune(d.text, c)
	d.wide = d.wide || w == 2 || c >= utf8.RuneSelf
	r.used += w
}

// appendHead appends the blank that a wide character leaves behind when it wraps.
func (r *row) appendHead() {
	d := &r.draft
	d.last = int32(len(d.text))
	d.text = append(d.text, packHead)
	d.wide, r.wide = true, true
	r.used++
}

// clusterDraftMax bounds clusters in drafts: their length is one byte of the record.
const clusterDraftMax = 0x7f

// extend joins a character to the last one. It returns false when that is for cells.
func (d *draft) extend(c rune) bool {
	at := int(d.last)
	if at < len(d.text) && d.text[at] == packWide {
		at++
	}
	if at >= len(d.text) || d.text[at] == 0 || d.text[at] == packHead {
		return false // no character
	}
	d.reserve(2 + utf8.UTFMax)
	n := len(d.text) - at // bytes of the character so far
	if d.text[at] != packCluster {
		// Two bytes come before it. It is at most four long.
		out := d.text[at : at+8]
		char := binary.LittleEndian.Uint32(out)
		out[0], out[1] = packCluster, byte(n)
		binary.LittleEndian.PutUint32(out[2:], char)
		d.text = d.text[:at+2+n]
		d.wide = true
	}
	size := int(d.text[at+1]) + utf8.RuneLen(c)
	if size > clusterDraftMax {
		return false
	}
	d.text = utf8.AppendRune(d.text, c)
	d.text[at+1] = byte(size)
	return true
}

// first is the first code point of the last character; narrow is set when it takes one column.
func (d *draft) first() (c rune, narrow bool) {
	b := d.text[d.last:]
	if narrow = b[0] != packWide; !narrow {
		b = b[1:]
	}
	if len(b) > 2 && b[0] == packCluster {
		b = b[2:]
	}
	c, _ = utf8.DecodeRune(b)
	return c, narrow
}

// widenLast makes the last character, which is narrow, two columns wide.
func (r *row) widenLast() {
	d := &r.draft
	d.text = append(d.text, 0)
	copy(d.text[d.last+1:], d.text[d.last:])
	d.text[d.last] = packWide
	d.wide, r.wide = true, true
	r.used++
}

// flags are the first byte of the record.
func (r *row) flags() byte {
	flags := byte(r.size) << packSizeShift
	if r.wrapped {
		flags |= packWrapped
	}
	if !r.thawed {
		if !r.draft.wide {
			flags |= packASCII
		}
		if len(r.draft.styles) > 0 || r.draft.style != 0 {
			flags |= packStyled
		}
	}
	return flags
}

// packDraft appends the record of a row that is a draft.
func (tb *tables) packDraft(dst []byte, r *row) []byte {
	d := &r.draft
	flags := r.flags()
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, uint64(r.used))
	dst = append(dst, d.text...)
	if flags&packStyled != 0 {
		dst = append(dst, d.styles...)
		dst = tb.packRun(dst, r.used-int(d.from), d.style)
	}
	return dst
}

// thaw makes cells of a draft.
func (s *screen) thaw(r *row) {
	d := &r.draft
	h := packedHeader{flags: r.flags(), cells: r.used}
	r.thawed = true
	if r.used == 0 {
		return
	}
	d.closeRun(s.tables, r.used)
	d.text = append(d.text, d.styles...)
	h.body = d.text
	s.tables.unpackCells(r.ensure(s.cols)[:0], h)
	d.reset()
}

// variation is by how many columns c makes the last character wider.
func (d *draft) variation(c rune) int {
	if c != emojiPresentation && c != textPresentation {
		return 0
	}
	first, narrow := d.first()
	switch {
	case !width.Of(first).HasVariations():
		return 0
	case c == emojiPresentation && narrow:
		return 1
	case c == textPresentation && !narrow:
		return -1
	}
	return 0
}
