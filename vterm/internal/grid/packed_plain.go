package grid

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/bytescan"
	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// Colours of 24 bits that hardly come again would fill the style table with what is looked up only to be written out in
// full again: records name no styles but the lasting ones by their ids. So once those are given away, a packed row takes
// a style that the table does not have as it is, and it gets an id only if the row is inflated.

// noStyleID marks a style without an id. It is above every id that a cell can hold.
const noStyleID = ^StyleID(0)

// Lacks reports whether a style is not in the table and would get no lasting id.
func (s *StyleTable) Lacks(st *Style) bool {
	if len(s.List) < LastingStyles || len(s.slots) == 0 {
		return false
	}
	h := hashStyle(st)
	if s.filter == nil {
		s.filter = filterOf(s.List[1:])
	}
	if !s.filter.has(h) {
		return h != 0 // that of the default style
	}
	mask := uint64(len(s.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			return !st.IsZero()
		}
		if (slot^h)>>32 == 0 && s.List[uint32(slot)-1].equal(st) {
			return false
		}
	}
}

// styleFilter is a Bloom filter of the styles of a full table: two bits of a word per style. It rejects nearly all
// unknown styles without reading the table's slots, which do not fit the processor's nearest cache.
type styleFilter [1 << 10]uint64

func filterOf(styles []Style) *styleFilter {
	f := new(styleFilter)
	for i := range styles {
		f.add(hashStyle(&styles[i]))
	}
	return f
}

func (f *styleFilter) add(h uint64) { f[h>>54] |= filterBits(h) }

func (f *styleFilter) has(h uint64) bool { return ^f[h>>54]&filterBits(h) == 0 }

func filterBits(h uint64) uint64 { return 1<<(h>>48&63) | 1<<(h>>42&63) }

// AppendUnpacked appends the printable ASCII at the start of p, at most limit bytes, in a style that has no id. It
// returns the length, or 0 like FastASCII.
func (r *Row) AppendUnpacked(tb *Tables, p []byte, col, limit int, st *Style) int {
	d := &r.Packed
	if col > r.Used {
		r.pad(tb, col)
	}
	n := 0
	if end := len(d.Text); len(p) > 1 && p[1] < ' ' && end < cap(d.Text) { // one letter, as images of characters have
		d.Text[:end+1][end] = p[0]
		n = 1
	} else if n = d.FastASCII(p, limit); n == 0 {
		return 0
	}
	if d.Style != noStyleID || !d.unindexedStyle.equal(st) {
		if !d.closeColor(col) {
			d.closeRun(tb, col)
		}
		d.Style = noStyleID
		d.unindexedStyle.set(st)
	}
	d.Text = d.Text[:len(d.Text)+n]
	d.Last = int32(len(d.Text) - 1)
	r.Used = col + n
	return n
}

// EndsColored reports whether a row is packed and ends just before col with a run that only has a 24-bit text colour.
func (r *Row) EndsColored(tb *Tables, col int) bool {
	d := &r.Packed
	return !r.Inflated && r.Size == LineNormal && col == r.Used && d.openStyle(tb).ColorOnly()
}

// openStyle returns the style of the open run.
func (d *Packed) openStyle(tb *Tables) *Style {
	if d.Style == noStyleID {
		return &d.unindexedStyle
	}
	return &tb.Styles.List[d.Style]
}

// AppendColored appends single coloured letters like AppendUnpacked. The first letter's colour must differ from that of
// the previous run (EndsColored). It stops before a colour whose id is not a lasting one, and when the space ends. It
// returns the number of consumed letters.
func (r *Row) AppendColored(tb *Tables, letters []bytescan.ColoredLetter) (n int) {
	d, from, closed := &r.Packed, r.Packed.from, len(r.Packed.styles)
	last := uint32(d.openStyle(tb).FG)
	if !d.closeColor(r.Used) {
		return 0
	}
	text, styles, at := d.Text[len(d.Text):cap(d.Text)], d.styles[len(d.styles):cap(d.styles)], 0
	letters = letters[:min(len(letters), len(text), 0x7f)] // so that a run is counted by one byte
	// Where the last run stands, and its style.
	open, id := 0, noStyleID
	for ; n < len(letters) && len(styles)-at >= 8; n++ {
		if c := uint32(color.RGB(0, 0, 0)) | letters[n].RGB(); c != last {
			run, size, style := 1|colorVarint(c)<<8, colorBytes, noStyleID
			if !tb.Styles.lacksColor(color.Color(c)) {
				if run, size, style = tb.Styles.colorRun(color.Color(c)); size == 0 {
					break
				}
			}
			binary.LittleEndian.PutUint64(styles[at:], run)
			open, id, last = at, style, c
			at += size
		} else if at == 0 {
			break
		} else {
			styles[open]++
		}
		text[n] = letters[n].Letter()
	}
	if n == 0 {
		d.styles, d.from = d.styles[:closed], from
		return 0
	}
	r.Used += n
	d.styles, d.from = d.styles[:len(d.styles)+open], int32(r.Used)-int32(styles[open])
	d.Style, d.unindexedStyle = id, Style{FG: color.Color(last)}
	d.Text = d.Text[:len(d.Text)+n]
	d.Last = int32(len(d.Text) - 1)
	return n
}

// colorRun returns an encoded run of one cell whose style is only a colour, with the first byte lowest, its size and
// the style's id. The size is 0 if the id is not a lasting one.
//
//go:noinline // inside AppendColored the loop would keep its variables on the stack
func (s *StyleTable) colorRun(c color.Color) (run uint64, size int, id StyleID) {
	st := Style{FG: c}
	if s.Lacks(&st) {
		return 1 | colorVarint(uint32(c))<<8, colorBytes, noStyleID
	}
	if id, ok := s.Find(&st); ok && id < LastingStyles {
		return idRun(1, id), idBytes(id), id
	}
	return 0, 0, 0
}

// idRun returns an encoded run of n cells, fewer than 128, of a style with a lasting id, with the first byte lowest.
// Its size is idBytes.
func idRun(n int, id StyleID) uint64 {
	v := uint64(id) + 1
	if v >= 0x80 {
		return uint64(n) | (v&0x7f|0x80)<<8 | v>>7<<16
	}
	return uint64(n) | v<<8
}

func idBytes(id StyleID) int {
	if id+1 >= 0x80 {
		return 3
	}
	return 2
}

// colorBytes is the size of an encoded run of fewer than 128 cells with only a 24-bit colour.
const colorBytes = 5

// colorVarint returns a 24-bit colour as a varint, with the first byte lowest. The bits above hold only the kind, so it
// takes four bytes.
func colorVarint(fg uint32) uint64 {
	return uint64(fg&0x7f | fg&0x3f80<<1 | fg&0x1fc000<<2 | fg&0xfe00000<<3 | 0x808080)
}

// lacksColor reports whether the table is known to lack a style that is only this colour (see Lacks).
func (s *StyleTable) lacksColor(c color.Color) bool {
	return s.filter != nil && !s.filter.has(hashColor(c))
}

// hashColor is hashStyle for a style that is only a colour.
func hashColor(c color.Color) uint64 { return hashRest(uint64(c)<<32, 0) }

// closeColor implements closeRun for a style that has a lasting id, or is only a colour without an id. It returns false
// for other open runs.
func (d *Packed) closeColor(end int) bool {
	n, at := end-int(d.from), len(d.styles)
	if n <= 0 || n >= 0x80 || cap(d.styles)-at < 8 {
		return false
	}
	run, size := uint64(n)|colorVarint(uint32(d.unindexedStyle.FG))<<8, colorBytes
	if d.Style < LastingStyles {
		run, size = idRun(n, d.Style), idBytes(d.Style)
	} else if d.Style != noStyleID || !d.unindexedStyle.ColorOnly() {
		return false
	}
	out := d.styles[:at+8]
	binary.LittleEndian.PutUint64(out[at:], run)
	d.styles, d.from = out[:at+size], int32(end)
	return true
}

// encodeOpen appends the open run of a packed row, of n cells.
func (tb *Tables) encodeOpen(dst []byte, n int, d *Packed) []byte {
	if d.Style != noStyleID {
		return tb.encodeRun(dst, n, d.Style)
	}
	return appendStyle(binary.AppendUvarint(dst, uint64(n)), &d.unindexedStyle)
}
