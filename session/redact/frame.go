package redact

import (
	"github.com/longterm-dev/longterm/vterm"
)

// place is a cell of a line.
type place struct{ line, col int }

// Lines masks the secrets in rows of cells, also across rows. f has the tables that the cells refer to. It replaces
// cells in place; the rows must belong to the caller.
func (s *Set) Lines(f *vterm.Frame, lines []vterm.Line) {
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
	s.find(text, 0, func(pieces []span) {
		for _, p := range pieces {
			for i := p.from; i < p.to; i++ {
				star(lines, places[i])
			}
		}
	})
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

// AroundLines is the number of lines of history, before and behind the lines to be masked, that are searched with them: a secret
// may continue there.
const AroundLines = 64

// Surrounding returns lines from to to of a history, plus the lines around them that a secret may extend into; before
// is the number of preceding ones. joins reports whether they reach the screen, which is then masked with them.
func Surrounding(h vterm.History, from, to int) (lines []vterm.Line, before int, joins bool) {
	first, last := max(0, from-AroundLines), min(to+AroundLines, h.Len())
	lines = make([]vterm.Line, last-first)
	for i := range lines {
		h.Line(first+i, &lines[i])
	}
	return lines, from - first, last == h.Len()
}

// Above returns the history lines in which a secret on the active screen may start, for Frame. Call it before taking
// the frame, whose tables they refer to.
func Above(e vterm.Engine) []vterm.Line {
	if m := e.Modes(); m.AltScreen { // it stands below nothing
		return nil
	}
	return AbovePrimary(e)
}

// AbovePrimary is Above of the primary screen, even if it is not shown.
func AbovePrimary(e vterm.Engine) []vterm.Line {
	h := e.Recent(AroundLines)
	lines, _, _ := Surrounding(h, h.Len(), h.Len())
	return lines
}

// Frame masks the secrets in a frame and in the history lines right above it (Above). All rows must be present: a
// secret may extend into an unchanged row.
func (s *Set) Frame(f *vterm.Frame, above []vterm.Line) {
	if s.Empty() {
		return
	}
	s.Lines(f, append(above[:len(above):len(above)], f.Lines...))
	f.Title = s.Text(f.Title)
	links := make([]vterm.Link, len(f.Links)) // the engine's own table stays
	for i, l := range f.Links {
		links[i] = l
		links[i].URI = s.Text(l.URI)
	}
	f.Links = links
}
