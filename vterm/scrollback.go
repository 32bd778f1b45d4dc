package vterm

import (
	"encoding/binary"
	"math/bits"

	"github.com/longterm-dev/longterm/vterm/internal/arena"
)

// history is the scrollback: packed rows (pack.go) in an arena. Lines are kept as they
// stood when they left the screen; after a change of width they are reflowed when
// somebody asks for them (settleHistory), so a storm of resizes costs nothing.
type history struct {
	log     *arena.Log
	tables  *tables
	scratch []byte
	// base makes stable ids of the arena's record numbers.
	base  uint64
	lines int // the bound
	// unsettled is set when lines may not fit the width they should have.
	unsettled bool
	// widest and wrapped tell whether a change of width can matter at all.
	widest  int
	wrapped bool
}

func newHistory(tb *tables, lines, bytes int) *history {
	return &history{log: arena.New(max(lines, 0), bytes), tables: tb, lines: max(lines, 0)}
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

// firstID is the stable id of line 0, endID that of the screen's first row.
func (h *history) firstID() uint64 { return h.base + h.log.Dropped() }
func (h *history) endID() uint64   { return h.firstID() + uint64(h.log.Len()) }

// Pack implements Engine.
func (t *Terminal) Pack() { t.history.log.Pack() }

func (h *history) clear() {
	h.log.Clear()
	h.unsettled, h.widest, h.wrapped = false, 0, false
}

// widthChanged notes that lines have to be reflowed to a new width before they are read.
func (h *history) widthChanged(cols int) {
	if !h.unsettled && h.log.Len() > 0 && (h.wrapped || h.widest > cols) {
		h.unsettled = true
		h.base += uint64(h.lines)
	}
}

// settleHistory reflows the history to the present width. The last line's id stays what
// it is, so those of the screen do too; widthChanged has made room for the new ones.
func (t *Terminal) settleHistory() {
	h := t.history
	if !h.unsettled {
		return
	}
	old, end := h.log, h.endID()
	h.log = arena.New(h.lines, t.opts.ScrollbackBytes)
	h.unsettled, h.widest, h.wrapped = false, 0, false
	f := flow{tables: &t.tables, cols: t.cols, emit: h.push}
	for i := range old.Len() {
		rec := old.At(i)
		head := readHeader(rec)
		if !head.wrapped() && head.cells <= t.cols && f.empty() {
			h.log.Append(rec)
			h.widest = max(h.widest, head.cells)
			continue
		}
		f.line = t.tables.unpackCells(f.line, head)
		f.end(head.wrapped(), head.size())
	}
	f.finish(true)
	h.base = end - uint64(h.log.Len()) - h.log.Dropped()
}

// historyView implements History.
type historyView struct{ t *Terminal }

func (v historyView) Len() int        { return v.t.history.log.Len() }
func (v historyView) FirstID() uint64 { return v.t.history.firstID() }

func (v historyView) Line(i int, l *Line) {
	v.t.tables.unpackLine(l, v.t.history.log.At(i))
	l.Row = i
	l.Version = 0
}
