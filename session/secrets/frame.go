package secrets

import (
	"github.com/longterm-dev/longterm/vterm"
)

// place is a cell of a line.
type place struct{ line, col int }

// Lines masks the secrets in rows of cells: what is drawn on them, also where it goes on in the next row. f
// has the tables that the cells refer to. Cells are replaced in place; the rows must be the caller's own.
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

// Around is lines from to to of a history with those around them in which a secret may begin or end that is partly in
// them; before says how many of those come first. joins says that they reach the screen: it is masked with them.
func Around(h vterm.History, from, to int) (lines []vterm.Line, before int, joins bool) {
	first, last := max(0, from-AroundLines), min(to+AroundLines, h.Len())
	lines = make([]vterm.Line, last-first)
	for i := range lines {
		h.Line(first+i, &lines[i])
	}
	return lines, from - first, last == h.Len()
}

// Above is the lines of history in which a secret may begin that goes on on the active screen, for Frame. Take them before
// the frame, which has the tables that they refer to.
func Above(e vterm.Engine) []vterm.Line {
	if m := e.Modes(); m.AltScreen { // it stands below nothing
		return nil
	}
	return AbovePrimary(e)
}

// AbovePrimary is Above of the primary screen, whether it is shown or not.
func AbovePrimary(e vterm.Engine) []vterm.Line {
	h := e.Recent(AroundLines)
	lines, _, _ := Around(h, h.Len(), h.Len())
	return lines
}

// Frame masks the secrets in a frame and in the lines of history right above it (Above), in which one may begin. All rows
// have to be present: a secret may go on in one that did not change.
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
