package grid

import (
	"bytes"
	"fmt"
	"slices"
)

// Check returns the first violated invariant of a screen that should have the given numbers of rows and image
// placements, or "". It is for tests.
func (s *Screen) Check(rows, placements int) string {
	if s.rows != rows {
		return fmt.Sprintf("screen has %d rows, want %d", s.rows, rows)
	}
	for _, r := range s.Window() {
		if r == nil {
			continue
		}
		if what := s.checkRow(r, placements); what != "" {
			return what
		}
	}
	return ""
}

func (s *Screen) checkRow(r *Row, placements int) string {
	if !r.Inflated {
		if what := s.checkPacked(r); what != "" {
			return what
		}
		c := *r
		c.Cells = append([]Cell(nil), r.Cells...)
		c.Packed.Text, c.Packed.styles = slices.Clone(r.Packed.Text), slices.Clone(r.Packed.styles)
		s.Inflate(&c)
		r = &c
	}
	if len(r.Cells) != 0 && len(r.Cells) != s.Cols || r.Used > len(r.Cells) {
		return fmt.Sprintf("row has %d cells, %d used", len(r.Cells), r.Used)
	}
	for i, c := range r.Cells[r.Used:] {
		if c != 0 {
			return fmt.Sprintf("cell %d beyond the %d used is %x", i, r.Used, c)
		}
	}
	for i, c := range r.Cells[:r.Used] {
		if c.Width() != WidthNarrow && !r.Wide {
			return "a wide cell in a row not marked"
		}
		if c&CellImage != 0 && !r.Image {
			return "an image cell in a row not marked"
		}
		if c&CellCluster != 0 && int(c.Content()) >= len(s.tables.Clusters.List) {
			return "cluster out of range"
		}
		if c&(CellCluster|CellImage) == 0 && c.Content() > 0x10ffff {
			return fmt.Sprintf("cell %d has content %x", i, c.Content())
		}
	}
	if !s.tables.areValidCells(r.Cells[:r.Used], placements) {
		return fmt.Sprintf("wide pair or reference broken in %x", r.Cells[:r.Used])
	}
	return ""
}

// checkPacked checks that a packed row encodes to the same record as its cells.
func (s *Screen) checkPacked(r *Row) string {
	for i, c := range r.Cells {
		if c != 0 {
			return fmt.Sprintf("cell %d of a packed row is %x", i, c)
		}
	}
	rec := s.tables.EncodeRow(nil, r)
	var l Line
	s.tables.decodeLine(&l, rec)
	if len(l.Cells) != r.Used {
		return fmt.Sprintf("packed row of %d cells has %d", r.Used, len(l.Cells))
	}
	marks := Marks{Inflated: true, Wrapped: r.Wrapped, Size: r.Size}
	again := s.tables.EncodeRow(nil, &Row{Cells: l.Cells, Used: r.Used, Marks: marks})
	if !bytes.Equal(rec, again) {
		return fmt.Sprintf("packed row is %q, its cells are %q", rec, again)
	}
	return ""
}
