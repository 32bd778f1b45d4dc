package grid

import "encoding/binary"

// Colours of 24 bits that hardly come again would fill the style table with what is looked up only to be written out in
// full again: records name no styles but the lasting ones by their ids. So once those are given away, a packed row takes
// a style that the table does not have as it is, and it gets an id only if the row is inflated.

// looseStyle stands for the id of a style that has none. It is above every id that a cell can hold.
const looseStyle = ^StyleID(0)

// Lacks reports whether a style is not in the table and would get no lasting id.
func (s *StyleTable) Lacks(st *Style) bool {
	if len(s.List) < LastingStyles || len(s.slots) == 0 || st.IsZero() {
		return false
	}
	h := hashStyle(st)
	mask := uint64(len(s.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			return true
		}
		if (slot^h)>>32 == 0 && s.List[uint32(slot)-1].equal(st) {
			return false
		}
	}
}

// AppendLoose appends the run of printable ASCII at the start of p, of at most limit bytes, in a style that has no id. It
// returns its length, 0 as FastASCII does.
func (r *Row) AppendLoose(tb *Tables, p []byte, col, limit int, st *Style) int {
	d := &r.Packed
	if col > r.Used {
		r.pad(tb, col)
	}
	n := d.FastASCII(p, limit)
	if n == 0 {
		return 0
	}
	if d.Style != looseStyle || !d.loose.equal(st) {
		d.closeRun(tb, col)
		d.Style, d.loose = looseStyle, *st
	}
	d.Text = d.Text[:len(d.Text)+n]
	d.Last = int32(len(d.Text) - 1)
	r.Used = col + n
	return n
}

// encodeOpen appends the open run of a packed row, of n cells.
func (tb *Tables) encodeOpen(dst []byte, n int, d *Packed) []byte {
	if d.Style != looseStyle {
		return tb.encodeRun(dst, n, d.Style)
	}
	s := &d.loose
	if fg := uint32(s.FG); n < 0x80 && fg-1<<21 < 1<<28-1<<21 && uint32(s.BG|s.ULColor)|uint32(s.Attrs)|uint32(s.Link)|uint32(s.Underline) == 0 {
		return append(dst, byte(n), 0, byte(fg)|0x80, byte(fg>>7)|0x80, byte(fg>>14)|0x80, byte(fg>>21), 0, 0, 0, 0, 0)
	}
	return appendStyle(binary.AppendUvarint(dst, uint64(n)), s)
}
