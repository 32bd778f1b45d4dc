package grid

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/longterm-dev/longterm/vterm/internal/arena"
)

// Scrollback is the lines that left the top of a screen: encoded rows (encode.go) in an arena. Lines are kept as they
// stood when they left the screen. After a change of width they are reflowed when they are read, the newest first and not
// more than a reader needs (Reflow), so a storm of resizes costs nothing.
//
// A wrapped line of more than pieceCells cells is kept in pieces, which are reflowed one by one: the cost of a resize, or of
// reading a few lines, does not grow with the length of a line. The ends of pieces are fixed when rows leave the screen, so they
// do not depend on reads. After a change of width the last row of a piece may be shorter than the width although it is wrapped.
type Scrollback struct {
	log     *arena.Log
	tables  *Tables
	scratch []byte
	// Base is added to the arena's record numbers to get stable ids.
	Base  uint64
	lines int // limit of lines
	bytes int // limit of bytes
	// Stale is the number of lines, counted from the first line ever, that may have been wrapped for an earlier width.
	// Later lines have the current width.
	Stale uint64
	cols  int // the width in which they were requested
	open  int // cells in the last piece so far; 0: the next row starts a piece
	// Widest and Wrapped show whether a change of width can have an effect.
	Widest  int
	Wrapped bool
	// ReflowedCells counts the cells decoded for a reflow, for tests.
	ReflowedCells uint64
}

// pieceCells is the number of cells at which a piece of a wrapped line ends, with the row that reaches it.
const pieceCells = 1 << 15

// NewScrollback returns a scrollback of at most this many lines and about this many bytes. It stores nothing if lines
// is below 1.
func NewScrollback(tb *Tables, lines, bytes int) *Scrollback {
	return &Scrollback{log: arena.New(max(lines, 0), bytes), tables: tb, lines: max(lines, 0), bytes: bytes}
}

// Push copies a row of a screen as the newest line.
func (h *Scrollback) Push(r *Row) {
	if r.Inflated && r.Wrapped && r.Size == LineNormal { // its blanks stand between words
		r.Used = len(r.Cells)
	}
	h.add(r)
	if r.Wrapped {
		h.extendPiece(r.textCells())
	} else {
		h.open = 0
	}
}

// add is Push for a row whose blanks are already correct. reflow may produce a short row although the line continues;
// added blanks would end up in the middle of text.
func (h *Scrollback) add(r *Row) {
	if r.Inflated {
		h.scratch = h.tables.EncodeRow(h.scratch[:0], r)
		h.log.Append(h.scratch)
	} else {
		h.pushPacked(r)
	}
	h.Widest = max(h.Widest, r.Used)
	h.Wrapped = h.Wrapped || r.Wrapped
}

// extendPiece adds the cells of the last row, which is wrapped, to its piece, and ends a piece that is long enough.
func (h *Scrollback) extendPiece(cells int) {
	if h.open += cells; h.open >= pieceCells {
		h.open = 0
		h.endPiece()
	}
}

// endPiece marks the last row, which is wrapped, as the end of a piece.
func (h *Scrollback) endPiece() {
	if n := h.log.Len(); n > 0 {
		h.log.At(n - 1)[0] |= recPiece
	}
}

// textCells returns the number of a row's cells without the empty ones at its end that a wide character did not fit
// into.
func (r *Row) textCells() int {
	n := r.Used
	if !r.Inflated {
		for text := r.Packed.Text; len(text) > 0 && text[len(text)-1] == markHead; n-- {
			text = text[:len(text)-1]
		}
		return n
	}
	for n > 0 && r.Cells[n-1].Width() == WidthHead {
		n--
	}
	return n
}

// pushPacked copies a packed row into the arena, where it is a record.
func (h *Scrollback) pushPacked(r *Row) {
	d := &r.Packed
	flags := r.flags()
	if flags&recStyled != 0 && !d.SwitchStyle(r.Used, d.Style) {
		d.closeRun(h.tables, r.Used)
	}
	head := 2
	if r.Used >= 0x80 {
		head = 1 + uvarintLen(uint64(r.Used))
	}
	rec := h.log.Add(head + len(d.Text) + len(d.styles))
	if len(rec) < head {
		return // nothing is kept
	}
	rec[0] = flags
	if rec[1] = byte(r.Used); r.Used >= 0x80 {
		binary.PutUvarint(rec[1:], uint64(r.Used))
	}
	copy(rec[head:], d.Text)
	if len(d.styles) > 0 {
		copy(rec[head+len(d.Text):], d.styles)
	}
}

// uvarintLen returns the number of bytes of v as a varint.
func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// BytesKept returns the approximate memory use of the lines.
func (h *Scrollback) BytesKept() int { return h.log.Bytes() }

// FirstID returns the stable id of line 0, EndID that of the screen's first row.
func (h *Scrollback) FirstID() uint64 { return h.Base + h.log.DroppedCount() }
func (h *Scrollback) EndID() uint64   { return h.FirstID() + uint64(h.Len()) }

// Pack reduces memory use. Call it when the terminal will be idle.
func (h *Scrollback) Pack() { h.log.Pack() }

// Clear removes all lines.
func (h *Scrollback) Clear() {
	h.log.Clear()
	h.Stale, h.Widest, h.Wrapped, h.open = 0, 0, false, 0
}

// widthChanged records that lines must be reflowed to a new width before they are read.
func (h *Scrollback) widthChanged(cols int) {
	if h.Len() == 0 || !h.Wrapped && h.Widest <= cols {
		return
	}
	h.Base += uint64(h.lines) // ids from before the change stay unused, and a reflow may need more lines
	h.Stale = h.count()
}

// count returns how many lines were ever added.
func (h *Scrollback) count() uint64 { return h.log.DroppedCount() + uint64(h.Len()) }

// stale returns the number of stored lines that may not fit.
func (h *Scrollback) stale() int {
	return int(max(h.Stale, h.log.DroppedCount()) - h.log.DroppedCount())
}

// StaleCode returns Stale for a snapshot: 0 for none; 1 for all; else one more than the number of stale lines. Programs
// that support only none and all reject other values and replay.
func (h *Scrollback) StaleCode() uint64 {
	switch n := h.stale(); n {
	case 0:
		return 0
	case h.Len():
		return 1
	default:
		return uint64(n) + 1
	}
}

// SetStaleCode sets Stale from a snapshot's value, after the lines were loaded.
func (h *Scrollback) SetStaleCode(code uint64) {
	h.Stale = 0
	if code > 0 {
		h.Stale = h.count()
	}
	if code > 1 {
		h.Stale = min(h.Stale, h.log.DroppedCount()+code-1)
	}
}

// Reflow reflows at least this many of the newest lines to a width. Ids of the last line and of the screen's rows do
// not change; widthChanged reserved ids for additional lines.
func (h *Scrollback) Reflow(cols, lines int) {
	h.cols = cols
	for {
		stale := h.stale()
		fresh := h.Len() - stale
		if stale == 0 || fresh >= lines {
			return
		}
		h.reflowFrom(h.pieceBefore(stale, max(lines-fresh, fresh)), stale) // at least doubles fresh, since it copies the lines that are fresh already
	}
}

// pieceBefore returns the first line of the fewest pieces before line end that reflow to at least this many lines,
// estimated from their numbers of cells.
func (h *Scrollback) pieceBefore(end, lines int) int {
	cells := 0
	for i := end; ; {
		if i == 0 {
			return 0
		}
		head := readHeader(h.log.At(i - 1))
		if !head.continues() && i < end {
			if lines -= max(1, (cells+h.cols-1)/h.cols); lines <= 0 {
				return i
			}
			cells = 0
		}
		cells += head.cells
		i--
	}
}

// reflowFrom reflows the lines [from, stale), which must be whole pieces.
func (h *Scrollback) reflowFrom(from, stale int) {
	end, tail := h.EndID(), h.log.Cut(h.Len()-from)
	h.Stale = h.count()
	if from == 0 {
		h.Stale, h.Widest, h.Wrapped = 0, 0, false
	}
	f := reflow{tables: h.tables, cols: h.cols, keepWide: true, emit: h.add}
	for i := range stale - from {
		rec := tail.At(i)
		head := readHeader(rec)
		f.begin(head.size())
		if head.size() != LineNormal || !head.isWrapped() && head.cells <= h.cols && f.empty() {
			h.keep(rec, head) // one of double width is cut when it is shown: it may be wider again
			continue
		}
		h.ReflowedCells += uint64(head.cells)
		f.line = h.tables.decodeCells(f.line, head)
		f.end(head.isWrapped(), head.size())
		if head.endsPiece() {
			f.finish(true)
			h.endPiece()
		}
	}
	f.finish(true)
	for i := stale - from; i < tail.Len(); i++ {
		rec := tail.At(i)
		h.keep(rec, readHeader(rec))
	}
	h.Base = end - uint64(h.Len()) - h.log.DroppedCount()
}

// keep appends a line unchanged.
func (h *Scrollback) keep(rec []byte, head recordHeader) {
	h.log.Append(rec)
	h.Widest = max(h.Widest, head.cells)
	h.Wrapped = h.Wrapped || head.isWrapped()
}

// EmptyCopy returns a scrollback without lines, whose first line gets the id of the next line of h.
func (h *Scrollback) EmptyCopy() *Scrollback {
	e := NewScrollback(h.tables, h.lines, h.bytes)
	e.Base = h.EndID()
	return e
}

// Len returns the number of stored lines.
func (h *Scrollback) Len() int { return h.log.Len() }

// Line fills l with line i. The lines must have the width of the screen (Reflow). It crops the invisible parts that
// reflow keeps so that a narrow screen loses nothing.
func (h *Scrollback) Line(i int, l *Line) {
	h.tables.decodeLine(l, h.log.At(i))
	blankHeads(l.Cells, l.Wrapped)
	l.Cells = visibleCells(l.Cells, l.Size, h.cols)
	if h.cols == 1 && len(l.Cells) > 1 {
		l.Cells = l.Cells[:1]
		l.Cells[0] &^= 3 << cellWidthShift
	}
	l.Row = i
	l.Version = 0
}

// pull removes and returns the last piece of a line, oldest row first; with openOnly only if the screen continues it.
func (h *Scrollback) pull(openOnly bool) []*Row {
	var rows []*Row
	for h.Len() > 0 {
		rec := h.log.At(h.Len() - 1)
		head := readHeader(rec)
		if !head.continues() && (openOnly || len(rows) > 0) {
			break
		}
		h.ReflowedCells += uint64(head.cells)
		r := &Row{Marks: Marks{Wrapped: head.isWrapped(), Size: head.size(), Inflated: true}}
		r.Cells = h.tables.decodeCells(nil, head)
		r.Used = len(r.Cells)
		rows = append(rows, r)
		h.log.Truncate(1)
	}
	h.Stale, h.open = min(h.Stale, h.count()), 0
	slices.Reverse(rows)
	return rows
}

// Newest returns a view of at most this many of the newest lines.
func (h *Scrollback) Newest(lines int) Newest {
	n := min(h.Len(), max(lines, 0))
	return Newest{h, h.EndID() - uint64(n), n}
}

// Newest is a view of the newest lines of a scrollback. It stays valid when more lines are reflowed.
type Newest struct {
	h     *Scrollback
	first uint64
	n     int
}

// Len returns the number of lines.
func (v Newest) Len() int { return v.n }

// FirstID returns the id of line 0.
func (v Newest) FirstID() uint64 { return v.first }

// Line fills l with line i.
func (v Newest) Line(i int, l *Line) {
	if at := int(v.first-v.h.FirstID()) + i; at >= 0 {
		v.h.Line(at, l)
	} else { // it was dropped: older lines that were reflowed since needed its place
		*l = Line{Cells: l.Cells[:0]}
	}
	l.Row = i
}
