// Package page holds the rows of copy mode: frozen rows of history and screen, with search, selection and the places
// where commands were typed.
//
// Rows are numbered from the session's oldest stored line, so a number does not change while older rows are loaded.
// Columns are cells. Both are 0-based.
package page

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/render"
)

// Pos is a cell.
type Pos struct{ Row, Col int }

// Before reports whether p comes before q in reading order.
func (p Pos) Before(q Pos) bool { return p.Row < q.Row || p.Row == q.Row && p.Col < q.Col }

// Page is a range of rows; First is the number of the first one. Earlier rows may not be loaded yet.
type Page struct {
	First int
	Lines []render.Line
	Cols  int
}

// End returns the number after the last row.
func (p *Page) End() int { return p.First + len(p.Lines) }

// Line returns a row, or nil if it is not loaded.
func (p *Page) Line(row int) *render.Line {
	if row < p.First || row >= p.End() {
		return nil
	}
	return &p.Lines[row-p.First]
}

// Prepend adds the rows directly before the first.
func (p *Page) Prepend(lines []render.Line) {
	p.Lines = append(append(make([]render.Line, 0, len(lines)+len(p.Lines)), lines...), p.Lines...)
	p.First -= len(lines)
}

// Clamp returns the nearest position inside the page.
func (p *Page) Clamp(at Pos) Pos {
	at.Row = max(min(at.Row, p.End()-1), p.First)
	at.Col = max(min(at.Col, p.Cols-1), 0)
	return at
}

// text returns the text of a row between two columns, without trailing blanks if to is beyond the row's end. Skipped
// blanks become spaces.
func text(l *render.Line, from, to int) string {
	if l == nil {
		return ""
	}
	var b strings.Builder
	col := from
	for i := range l.Spans {
		s := &l.Spans[i]
		blank := s.Conceal || isImageSpan(l, s)
		s.Characters(func(t string, at, width int) bool {
			if at < from { // before it, or a wide character cut in two
				col = max(col, at+width)
				return true
			}
			if at >= to {
				return false
			}
			for ; col < at; col++ {
				b.WriteByte(' ')
			}
			if blank {
				t = strings.Repeat(" ", width)
			}
			b.WriteString(t)
			col = at + width
			return true
		})
	}
	if col < to || l.Wrapped {
		return strings.TrimRight(b.String(), " ")
	}
	return b.String()
}

// isImageSpan reports whether a span is part of an image. Such spans may contain blocks where the row's text has blanks.
func isImageSpan(l *render.Line, s *render.Span) bool {
	return slices.ContainsFunc(l.Pictures, func(p render.Picture) bool { return s.Col >= p.Col && s.Col < p.Col+p.Width })
}

// width returns the column after a row's last character.
func width(l *render.Line) int {
	if l == nil || len(l.Spans) == 0 {
		return 0
	}
	last := &l.Spans[len(l.Spans)-1]
	return last.Col + last.Width
}

// columnOf returns the column of a byte of a row's text (render.Line.Text).
func columnOf(l *render.Line, offset int) int {
	at := 0
	for i := range l.Spans {
		s := &l.Spans[i]
		if isImageSpan(l, s) { // a blank for each column
			if at+s.Width > offset {
				return s.Col + offset - at
			}
			at += s.Width
			continue
		}
		if at+len(s.Text) <= offset {
			at += len(s.Text)
			continue
		}
		column := s.Col
		s.Characters(func(t string, col, w int) bool {
			column = col
			if at+len(t) > offset {
				return false
			}
			at += len(t)
			column = col + w
			return true
		})
		return column
	}
	return width(l)
}
