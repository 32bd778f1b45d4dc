package vterm

import (
	"bytes"
	"fmt"
	"slices"
)

// check names the first invariant that does not hold of a screen that should have so many
// rows and may refer to so many image placements, or is empty. It is for tests.
func (s *screen) check(rows, placements int) string {
	if s.n != rows {
		return fmt.Sprintf("screen has %d rows, want %d", s.n, rows)
	}
	for _, r := range s.window() {
		if what := s.checkRow(r, placements); what != "" {
			return what
		}
	}
	return ""
}

func (s *screen) checkRow(r *row, placements int) string {
	if !r.thawed {
		if what := s.checkPacked(r); what != "" {
			return what
		}
		c := *r
		c.cells = append([]Cell(nil), r.cells...)
		c.draft.text, c.draft.styles = slices.Clone(r.draft.text), slices.Clone(r.draft.styles)
		s.thaw(&c)
		r = &c
	}
	if len(r.cells) != 0 && len(r.cells) != s.cols || r.used > len(r.cells) {
		return fmt.Sprintf("row has %d cells, %d used", len(r.cells), r.used)
	}
	for i, c := range r.cells[r.used:] {
		if c != 0 {
			return fmt.Sprintf("cell %d beyond the %d used is %x", i, r.used, c)
		}
	}
	for i, c := range r.cells[:r.used] {
		if c.Width() != WidthNarrow && !r.wide {
			return "a wide cell in a row not marked"
		}
		if c&CellImage != 0 && !r.image {
			return "an image cell in a row not marked"
		}
		if c&CellCluster != 0 && int(c.Content()) >= len(s.tables.clusters.list) {
			return "cluster out of range"
		}
		if c&(CellCluster|CellImage) == 0 && c.Content() > 0x10ffff {
			return fmt.Sprintf("cell %d has content %x", i, c.Content())
		}
	}
	if !s.tables.soundCells(r.cells[:r.used], placements) {
		return fmt.Sprintf("wide pair or reference broken in %x", r.cells[:r.used])
	}
	return ""
}

// checkPacked checks that a packed row makes the record that its cells would.
func (s *screen) checkPacked(r *row) string {
	for i, c := range r.cells {
		if c != 0 {
			return fmt.Sprintf("cell %d of a draft is %x", i, c)
		}
	}
	rec := s.tables.packRow(nil, r)
	var l Line
	s.tables.unpackLine(&l, rec)
	if len(l.Cells) != r.used {
		return fmt.Sprintf("draft of %d cells has %d", r.used, len(l.Cells))
	}
	again := s.tables.packRow(nil, &row{cells: l.Cells, used: r.used, rowMarks: rowMarks{thawed: true, wrapped: r.wrapped, size: r.size}})
	if !bytes.Equal(rec, again) {
		return fmt.Sprintf("draft is %q, its cells are %q", rec, again)
	}
	return ""
}
