package grid

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/arena"
)

// Scrollback is the lines that left the top of a screen: encoded rows (encode.go) in an arena. Lines are kept as they
// stood when they left the screen; after a change of width they are reflowed when they are
// asked for (Reflow), so a storm of resizes costs nothing.
type Scrollback struct {
	log     *arena.Log
	tables  *Tables
	scratch []byte
	// Base makes stable ids of the arena's record numbers.
	Base  uint64
	lines int // the bound
	bytes int // the bound
	// Stale is set when lines may not fit the width they should have.
	Stale bool
	// Widest and Wrapped tell whether a change of width can matter at all.
	Widest  int
	Wrapped bool
}

// NewScrollback keeps at most so many lines and about so many bytes; none when lines is below 1.
func NewScrollback(tb *Tables, lines, bytes int) *Scrollback {
	return &Scrollback{log: arena.New(max(lines, 0), bytes), tables: tb, lines: max(lines, 0), bytes: bytes}
}

// Push copies a row, the newest line from then on.
func (h *Scrollback) Push(r *Row) {
	if r.Inflated {
		if r.Size != LineNormal { // what is not shown does not come along
			n := len(r.shown(len(r.Cells)))
			clear(r.Cells[n:r.Used])
			r.Used = n
		}
		h.scratch = h.tables.EncodeRow(h.scratch[:0], r)
		h.log.Append(h.scratch)
	} else {
		h.pushPacked(r)
	}
	h.Widest = max(h.Widest, r.Used)
	h.Wrapped = h.Wrapped || r.Wrapped
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

// uvarintLen is the number of bytes that v takes.
func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// BytesKept is about what the lines take in memory.
func (h *Scrollback) BytesKept() int { return h.log.Bytes() }

// FirstID is the stable id of line 0, EndID that of the screen's first row.
func (h *Scrollback) FirstID() uint64 { return h.Base + h.log.Dropped() }
func (h *Scrollback) EndID() uint64   { return h.FirstID() + uint64(h.Len()) }

// Pack takes less memory, for when nothing is going to happen for a while.
func (h *Scrollback) Pack() { h.log.Pack() }

// Clear drops all lines.
func (h *Scrollback) Clear() {
	h.log.Clear()
	h.Stale, h.Widest, h.Wrapped = false, 0, false
}

// widthChanged notes that lines have to be reflowed to a new width before they are read.
func (h *Scrollback) widthChanged(cols int) {
	if !h.Stale && h.Len() > 0 && (h.Wrapped || h.Widest > cols) {
		h.Stale = true
		h.Base += uint64(h.lines)
	}
}

// Reflow reflows the lines to a width, when they may not have it. The last line's id stays what
// it is, so those of the screen do too; widthChanged has made room for the new ones.
func (h *Scrollback) Reflow(cols int) {
	if !h.Stale {
		return
	}
	old, end := h.log, h.EndID()
	h.log = arena.New(h.lines, h.bytes)
	h.Stale, h.Widest, h.Wrapped = false, 0, false
	f := reflow{tables: h.tables, cols: cols, emit: h.Push}
	for i := range old.Len() {
		rec := old.At(i)
		head := readHeader(rec)
		if !head.wrapped() && head.cells <= cols && f.empty() {
			h.log.Append(rec)
			h.Widest = max(h.Widest, head.cells)
			continue
		}
		f.line = h.tables.decodeCells(f.line, head)
		f.end(head.wrapped(), head.size())
	}
	f.finish(true)
	h.Base = end - uint64(h.Len()) - h.log.Dropped()
}

// Emptied is a scrollback without lines whose first line gets the id that the next one of h
// would get.
func (h *Scrollback) Emptied() *Scrollback {
	e := NewScrollback(h.tables, h.lines, h.bytes)
	e.Base = h.EndID()
	return e
}

// Len is the number of lines kept.
func (h *Scrollback) Len() int { return h.log.Len() }

// Line fills l with line i. The lines must have the width of the screen (Reflow).
func (h *Scrollback) Line(i int, l *Line) {
	h.tables.decodeLine(l, h.log.At(i))
	l.Row = i
	l.Version = 0
}

// pull takes the last logical line back, oldest row first, at most pullMax rows of it. With
// openOnly it does so only when that line goes on on the screen.
func (h *Scrollback) pull(openOnly bool) []*Row {
	var rows []*Row
	for len(rows) < pullMax && h.Len() > 0 {
		rec := h.log.At(h.Len() - 1)
		head := readHeader(rec)
		if !head.wrapped() && (openOnly || len(rows) > 0) {
			break
		}
		r := &Row{Marks: Marks{Wrapped: head.wrapped(), Size: head.size(), Inflated: true}}
		r.Cells = h.tables.decodeCells(nil, head)
		r.Used = len(r.Cells)
		rows = append(rows, r)
		h.log.Truncate(1)
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// pullMax bounds the rows that one resize takes back to complete a line.
const pullMax = 2048
