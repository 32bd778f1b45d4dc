package secrets

import (
	"github.com/longterm-dev/longterm/vterm"
)

// place is a cell of a line.
type place struct{ line, col int }

// Lines masks the secrets in rows of cells: what is drawn on them, also where it goes on in the next row. f
// has the tables that the cells refer to. Cells are replaced in place; the rows must be the caller's own.
func (s *Set) Lines(f *vterm.Frame, lines []vterm.Line) { s.lines(f, lines, false) }

// lines is Lines; open masks what may become a secret, too.
func (s *Set) lines(f *vterm.Frame, lines []vterm.Line, open bool) {
	if s.Empty() {
		return
	}
	var text []byte
	var places []place
	for n := range lines {
		l := &lines[n]
		last := len(l.Cells)
		if !l.Wrapped {
			for last > 0 && l.Cells[last-1].Blank() {
				last--
			}
		}
		for col, c := range l.Cells[:last] {
			was := len(text)
			if text = f.AppendText(text, c); len(text) > was && text[was] < ' ' {
				text[was] = ' '
			}
			for range len(text) - was {
				places = append(places, place{n, col})
			}
		}
		follows := n+1 < len(lines) && (lines[n+1].Row == l.Row+1 || lines[n+1].Row == 0)
		if !l.Wrapped || !follows {
			text, places = append(text, '\n'), append(places, place{-1, 0})
		}
	}
	from := s.find(text, 0, func(pieces []span) {
		for _, p := range pieces {
			for i := p.from; i < p.to; i++ {
				star(lines, places[i])
			}
		}
	})
	for ; open && from < len(text); from++ {
		star(lines, places[from])
	}
}

// star puts a * in place of a cell; a wide one becomes two.
func star(lines []vterm.Line, p place) {
	if p.line < 0 {
		return
	}
	cells := lines[p.line].Cells
	c := cells[p.col]
	wide := c.Width() == vterm.WidthWide
	cells[p.col] = vterm.NewCell('*', vterm.WidthNarrow, c.Style(), 0)
	if wide && p.col+1 < len(cells) {
		cells[p.col+1] = vterm.NewCell('*', vterm.WidthNarrow, c.Style(), 0)
	}
}

// Frame masks the secrets in a frame and in lines of history that were taken with it. All rows have to be
// present: a secret may go on in one that did not change.
func (s *Set) Frame(f *vterm.Frame, history []vterm.Line) {
	if s.Empty() {
		return
	}
	s.Lines(f, append(history[:len(history):len(history)], f.Lines...))
	f.Title = s.Text(f.Title)
	links := make([]vterm.Link, len(f.Links)) // the engine's own table stays
	for i, l := range f.Links {
		links[i] = l
		links[i].URI = s.Text(l.URI)
	}
	f.Links = links
}
