package redact

import (
	"github.com/longterm-dev/longterm/vterm"
)

// cellPos is the position of a cell.
type cellPos struct{ line, col int }

// RedactRows masks the secrets in rows of cells, also across rows. f has the tables that the cells refer to. It replaces
// cells in place; the rows must belong to the caller.
func (s *Set) RedactRows(f *vterm.Frame, lines []vterm.Line) {
	if s.Empty() {
		return
	}
	var text []byte
	var places []cellPos
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
				places = append(places, cellPos{n, col})
			}
		}
		follows := n+1 < len(lines) && (lines[n+1].Row == l.Row+1 || lines[n+1].Row == 0)
		if !l.Wrapped || !follows {
			text, places = append(text, '\n'), append(places, cellPos{-1, 0})
		}
	}
	s.findSecrets(text, 0, func(pieces []span) {
		for _, p := range pieces {
			for i := p.from; i < p.to; i++ {
				maskCell(lines, places[i])
			}
		}
	})
}

// maskCell replaces a cell by *; a wide cell becomes two.
func maskCell(lines []vterm.Line, p cellPos) {
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

// ContextLines is the number of history lines, before and after those to redact, in which a secret may start or end.
const ContextLines = 64

// LinesAround returns the lines [from, to) of a history, plus up to ContextLines on each side. before counts the preceding
// ones. reachesScreen reports whether they end at the screen, which must be redacted with them.
func LinesAround(h vterm.History, from, to int) (lines []vterm.Line, before int, reachesScreen bool) {
	first, last := max(0, from-ContextLines), min(to+ContextLines, h.Len())
	lines = make([]vterm.Line, last-first)
	for i := range lines {
		h.Line(first+i, &lines[i])
	}
	return lines, from - first, last == h.Len()
}

// LinesAbove returns the history lines in which a secret on the active screen may start, for RedactFrame. Call it before
// taking the frame: the lines refer to the frame's tables.
func LinesAbove(e vterm.Engine) []vterm.Line {
	if m := e.Modes(); m.AltScreen { // it has no history
		return nil
	}
	return LinesAbovePrimary(e)
}

// LinesAbovePrimary returns LinesAbove for the primary screen, even if it is not shown.
func LinesAbovePrimary(e vterm.Engine) []vterm.Line {
	h := e.Recent(ContextLines)
	lines, _, _ := LinesAround(h, h.Len(), h.Len())
	return lines
}

// RedactFrame masks the secrets in a frame and in the history lines right above it (LinesAbove). All rows must be present: a
// secret may extend into an unchanged row.
func (s *Set) RedactFrame(f *vterm.Frame, above []vterm.Line) {
	if s.Empty() {
		return
	}
	s.RedactRows(f, append(above[:len(above):len(above)], f.Lines...))
	f.Title = s.RedactText(f.Title)
	links := make([]vterm.Link, len(f.Links)) // the engine's own table is not changed
	for i, l := range f.Links {
		links[i] = l
		links[i].URI = s.RedactText(l.URI)
	}
	f.Links = links
}
