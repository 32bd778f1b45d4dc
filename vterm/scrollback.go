package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/arena"
)

// history is the scrollback: packed rows (pack.go) in an arena. Lines are kept as they
// stood when they left the screen; after a change of width they are reflowed when they are
// asked for (settle), so a storm of resizes costs nothing.
type history struct {
	log     *arena.Log
	tables  *tables
	scratch []byte
	// base makes stable ids of the arena's record numbers.
	base  uint64
	lines int // the bound
	bytes int // the bound
	// unsettled is set when lines may not fit the width they should have.
	unsettled bool
	// widest and wrapped tell whether a change of width can matter at all.
	widest  int
	wrapped bool
}

func newHistory(tb *tables, lines, bytes int) *history {
	return &history{log: arena.New(max(lines, 0), bytes), tables: tb, lines: max(lines, 0), bytes: bytes}
}

func (h *history) push(r *row) {
	if r.thawed {
		if r.size != LineNormal { // what is not shown does not come along
			n := len(r.shown(len(r.cells)))
			clear(r.cells[n:r.used])
			r.used = n
		}
		h.scratch = h.tables.packRow(h.scratch[:0], r)
		h.log.Append(h.scratch)
	} else {
		h.pushDraft(r)
	}
	h.widest = max(h.widest, r.used)
	h.wrapped = h.wrapped || r.wrapped
}

// pushDraft copies a draft into the arena, where it is a record.
func (h *history) pushDraft(r *row) {
	d := &r.draft
	flags := r.flags()
	if flags&packStyled != 0 && !d.switchStyle(r.used, d.style) {
		d.closeRun(h.tables, r.used)
	}
	head := 2
	if r.used >= 0x80 {
		head = 1 + uvarintLen(uint64(r.used))
	}
	rec := h.log.Add(head + len(d.text) + len(d.styles))
	if len(rec) < head {
		return // nothing is kept
	}
	rec[0] = flags
	if rec[1] = byte(r.used); r.used >= 0x80 {
		binary.PutUvarint(rec[1:], uint64(r.used))
	}
	copy(rec[head:], d.text)
	if len(d.styles) > 0 {
		copy(rec[head+len(d.text):], d.styles)
	}
}

// uvarintLen is the number of bytes that v takes.
func uvarintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// FirstID is the stable id of line 0, endID that of the screen's first row.
func (h *history) FirstID() uint64 { return h.base + h.log.Dropped() }
func (h *history) endID() uint64   { return h.FirstID() + uint64(h.Len()) }

// pack takes less memory, for when nothing is going to happen for a while.
func (h *history) pack() { h.log.Pack() }

// clear drops all lines.
func (h *history) clear() {
	h.log.Clear()
	h.unsettled, h.widest, h.wrapped = false, 0, false
}

// widthChanged notes that lines have to be reflowed to a new width before they are read.
func (h *history) widthChanged(cols int) {
	if !h.unsettled && h.Len() > 0 && (h.wrapped || h.widest > cols) {
		h.unsettled = true
		h.base += uint64(h.lines)
	}
}

// settle reflows the lines to a width, when they may not have it. The last line's id stays what
// it is, so those of the screen do too; widthChanged has made room for the new ones.
func (h *history) settle(cols int) {
	if !h.unsettled {
		return
	}
	old, end := h.log, h.endID()
	h.log = arena.New(h.lines, h.bytes)
	h.unsettled, h.widest, h.wrapped = false, 0, false
	f := flow{tables: h.tables, cols: cols, emit: h.push}
	for i := range old.Len() {
		rec := old.At(i)
		head := readHeader(rec)
		if !head.wrapped() && head.cells <= cols && f.empty() {
			h.log.Append(rec)
			h.widest = max(h.widest, head.cells)
			continue
		}
		f.line = h.tables.unpackCells(f.line, head)
		f.end(head.wrapped(), head.size())
	}
	f.finish(true)
	h.base = end - uint64(h.Len()) - h.log.Dropped()
}

// emptied is a history without lines whose first line gets the id that the next one of h
// would get.
func (h *history) emptied() *history {
	e := newHistory(h.tables, h.lines, h.bytes)
	e.base = h.endID()
	return e
}

// Len is the number of lines kept.
func (h *history) Len() int { return h.log.Len() }

// Line fills l with line i. Its lines must be settled.
func (h *history) Line(i int, l *Line) {
	h.tables.unpackLine(l, h.log.At(i))
	l.Row = i
	l.Version = 0
}

// pull takes the last logical line back, oldest row first, at most pullMax rows of it. With
// openOnly it does so only when that line goes on on the screen.
func (h *history) pull(openOnly bool) []*row {
	var rows []*row
	for len(rows) < pullMax && h.Len() > 0 {
		rec := h.log.At(h.Len() - 1)
		head := readHeader(rec)
		if !head.wrapped() && (openOnly || len(rows) > 0) {
			break
		}
		r := &row{rowMarks: rowMarks{wrapped: head.wrapped(), size: head.size(), thawed: true}}
		r.cells = h.tables.unpackCells(nil, head)
		r.used = len(r.cells)
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
