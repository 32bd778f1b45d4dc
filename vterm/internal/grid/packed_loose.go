package grid

import (
	"encoding/binary"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// Colours of 24 bits that hardly come again would fill the style table with what is looked up only to be written out in
// full again: records name no styles but the lasting ones by their ids. So once those are given away, a packed row takes
// a style that the table does not have as it is, and it gets an id only if the row is inflated.

// looseStyle stands for the id of a style that has none. It is above every id that a cell can hold.
const looseStyle = ^StyleID(0)

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

// styleFilter has two bits of a word set for the hash of each style of a full table: nearly all styles that the table lacks
// are known to be lacking without a look at its slots, which the processor's nearest cache does not hold.
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

// AppendLoose appends the run of printable ASCII at the start of p, of at most limit bytes, in a style that has no id. It
// returns its length, 0 as FastASCII does.
func (r *Row) AppendLoose(tb *Tables, p []byte, col, limit int, st *Style) int {
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
	if d.Style != looseStyle || !d.loose.equal(st) {
		if !d.closeColor(col) {
			d.closeRun(tb, col)
		}
		d.Style = looseStyle
		d.loose.set(st)
	}
	d.Text = d.Text[:len(d.Text)+n]
	d.Last = int32(len(d.Text) - 1)
	r.Used = col + n
	return n
}

// AppendColored is AppendLoose for one letter in a colour that the table is known to lack, at the row's end and behind another
// colour. It returns false for any other.
func (r *Row) AppendColored(tb *Tables, c byte, col int, st *Style) bool {
	d, end := &r.Packed, len(r.Packed.Text)
	if r.Inflated || r.Size != LineNormal || col != r.Used || end >= cap(d.Text) || st.FG == d.loose.FG ||
		!st.colorOnly() || !tb.Styles.lacksColor(st.FG) || !d.closeColor(col) {
		return false
	}
	d.loose.FG = st.FG
	d.Text = d.Text[:end+1]
	d.Text[end] = c
	d.Last = int32(end)
	r.Used = col + 1
	return true
}

// lacksColor reports whether a style that is only a colour is known to be lacking (Lacks).
func (s *StyleTable) lacksColor(c color.Color) bool {
	return s.filter != nil && !s.filter.has(hashColor(c))
}

// hashColor is hashStyle for a style that is only a colour.
func hashColor(c color.Color) uint64 { return hashRest(uint64(c)<<32, 0) }

// closeColor is closeRun for a loose style that is only a colour; false if the open run is of another kind.
func (d *Packed) closeColor(end int) bool {
	n, at, fg := end-int(d.from), len(d.styles), uint64(d.loose.FG)
	if d.Style != looseStyle || n <= 0 || n >= 0x80 || cap(d.styles)-at < 8 || !d.loose.colorOnly() {
		return false
	}
	// Of a colour all that is above its 24 bits is the kind, so it takes four bytes as a varint.
	out := d.styles[:at+8]
	binary.LittleEndian.PutUint64(out[at:], uint64(n)|(fg&0x7f|fg&0x3f80<<1|fg&0x1fc000<<2|fg&0xfe00000<<3|0x808080)<<8)
	d.styles, d.from = out[:at+5], int32(end)
	return true
}

// encodeOpen appends the open run of a packed row, of n cells.
func (tb *Tables) encodeOpen(dst []byte, n int, d *Packed) []byte {
	if d.Style != looseStyle {
		return tb.encodeRun(dst, n, d.Style)
	}
	return appendStyle(binary.AppendUvarint(dst, uint64(n)), &d.loose)
}
