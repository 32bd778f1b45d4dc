package respond

import (
	"cmp"
	"slices"
	"time"
)

// Screen is the content of a terminal's screen when its output paused.
type Screen struct {
	Offset uint64 // of the output it shows
	// Top numbers the first row, counted so that a row keeps its number while it scrolls: rows that ever left the
	// screen at its top.
	Top       uint64
	Alt       bool // the alternate screen
	Cols      int
	Rows      []Row
	CursorRow int
	CursorCol int
}

// Row is a row of the screen.
type Row struct {
	Text    string // up to the last cell that was written
	Wrapped bool   // the text continues in the next row
	// Starts has the byte offset in Text of each column. If nil, each column is one byte.
	Starts []int
	// Shown is Text with secrets masked, of the same length, for redacted rules. It is "" if Text has no secrets.
	Shown string
}

// Screen processes the screen's content.
func (e *Engine) Screen(now time.Time, s Screen) []Action {
	e.advance(now)
	e.cols = s.Cols
	e.screen.last = &s
	if !e.done {
		e.matchScreen()
	}
	return e.pump()
}

// screens is the state that is kept from one screen to the next.
type screens struct {
	last  *Screen
	shown []shown
	echo  screenEcho
}

// shown is an answered match that has stayed on the screen.
type shown struct {
	Rule  int    `json:"rule"`
	Row   uint64 `json:"row"`
	Alt   bool   `json:"alt"`
	Text  string `json:"text"`
	still bool   // it is on this screen
}

// maxShown bounds the remembered matches: more than fit a screen.
const maxShown = 1024

// screenLine is a logical line of a screen, or a row cut to a region.
type screenLine struct {
	number uint64 // of its first row
	row    int    // first row on the screen
	text   []byte
	shown  []byte // as long as text; nil: as text
	cursor int    // offset of the cursor in text; -1: it is elsewhere
}

// lines joins the rows of each logical line.
func (s *Screen) lines() []screenLine {
	var lines []screenLine
	joined := false
	for i, r := range s.Rows {
		if !joined {
			lines = append(lines, screenLine{number: s.Top + uint64(i), row: i, cursor: -1})
		}
		l := &lines[len(lines)-1]
		if i == s.CursorRow {
			l.cursor = len(l.text) + r.start(s.CursorCol)
		}
		if r.Shown != "" && l.shown == nil {
			l.shown = append([]byte{}, l.text...)
		}
		if l.shown != nil {
			l.shown = append(l.shown, cmp.Or(r.Shown, r.Text)...)
		}
		l.text = append(l.text, r.Text...)
		joined = r.Wrapped
	}
	return lines
}

// start returns the byte offset of a column.
func (r *Row) start(col int) int {
	switch {
	case r.Starts == nil:
		return min(max(col, 0), len(r.Text))
	case col >= len(r.Starts):
		return len(r.Text)
	}
	return min(r.Starts[max(col, 0)], len(r.Text))
}

// matchScreen fires new matches on the screen.
func (e *Engine) matchScreen() {
	s := e.screen.last
	lines := s.lines()
	masked := e.screen.echo.find(s, lines)
	for i := range e.screen.shown {
		e.screen.shown[i].still = false
	}
	for i := range lines {
		l := &lines[i]
		eachGap(masked[l.number], 0, len(l.text), func(from, to int) {
			e.matchLine(s, l, from, to)
		})
	}
	e.screen.shown = slices.DeleteFunc(e.screen.shown, func(x shown) bool {
		return x.Alt == s.Alt && !x.still
	})
}

// matchLine matches a part of a logical line with the rules for it.
func (e *Engine) matchLine(s *Screen, l *screenLine, from, to int) {
	for i := range e.set.rules {
		r := &e.set.rules[i]
		if !r.screen || e.done {
			continue
		}
		lo, hi, ok := r.covers(s, l)
		if lo, hi = max(lo, from), min(hi, to); !ok || lo >= hi {
			continue
		}
		ends := 0
		if lo == 0 {
			ends |= atStart
		}
		if hi == len(l.text) {
			ends |= atEnd
		}
		e.matchSpan(l.text[:hi], l.shown, lo, ends, []int{i}, func(int) bool { return true }, func(i int, text []byte, loc []int) {
			e.show(s, l, i, text, loc)
		})
	}
}

// covers returns the part of a line that a rule matches.
func (r *Rule) covers(s *Screen, l *screenLine) (from, to int, ok bool) {
	to = len(l.text)
	if r.On == OnCursor {
		return 0, to, l.cursor >= 0
	}
	g := r.Region
	if g == nil {
		return 0, to, true
	}
	if l.row < g.Top || g.Bottom > 0 && l.row >= g.Bottom {
		return 0, 0, false
	}
	row := &s.Rows[l.row]
	if g.Left > 0 {
		from = row.start(g.Left)
	}
	if g.Right > 0 {
		to = row.start(g.Right)
	}
	return from, to, true
}

// show fires a match, unless it was answered and has stayed on the screen since.
func (e *Engine) show(s *Screen, l *screenLine, i int, text []byte, loc []int) {
	x := shown{Rule: i, Row: l.number, Alt: s.Alt, Text: string(text[loc[0]:loc[1]]), still: true}
	for j := range e.screen.shown {
		if had := &e.screen.shown[j]; had.Rule == i && had.Row == x.Row && had.Alt == x.Alt && had.Text == x.Text {
			had.still = true
			return
		}
	}
	if !e.eligible(i) || len(e.screen.shown) >= maxShown {
		return
	}
	e.screen.shown = append(e.screen.shown, x)
	e.fire(i, text, loc, s.Offset, &x.Row)
}
