package respond

import (
	"cmp"
	"slices"
	"time"
)

// Screen is the content of a terminal's screen when its output paused.
type Screen struct {
	Offset uint64 // end of the output it shows
	// Top is the number of the first row: how many rows have ever left the screen at its top. So a row keeps its number
	// while it scrolls.
	Top       uint64
	Alt       bool // the alternate screen is shown
	Cols      int
	Rows      []Row
	CursorRow int
	CursorCol int // in cells
}

// Row is a row of the screen.
type Row struct {
	Text    string // up to the last written cell
	Wrapped bool   // the text continues in the next row
	// Starts has the byte offset in Text of each column. If nil, each column is one byte.
	Starts []int
	// Redacted is Text with secrets masked, of the same length, for redacted rules. It is "" if Text has no secrets.
	Redacted string
}

// Screen processes the screen's content.
func (e *Engine) Screen(now time.Time, s Screen) []Action {
	e.advance(now)
	e.cols = s.Cols
	e.screen.last = &s
	if !e.done {
		e.matchScreen()
	}
	return e.runReplies()
}

// screenState is the state between screens.
type screenState struct {
	last     *Screen // newest screen; nil: none yet
	answered []screenMatch
	echo     screenEcho
}

// screenMatch is an answered match that has stayed on the screen.
type screenMatch struct {
	Rule       int    `json:"rule"`
	Row        uint64 `json:"row"`
	Alt        bool   `json:"alt"`
	Text       string `json:"text"`
	isOnScreen bool   // found on the current screen
}

// maxScreenMatches bounds the remembered matches: more than fit on a screen.
const maxScreenMatches = 1024

// screenLine is a logical line of a screen, or a row cut to a region.
type screenLine struct {
	number   uint64 // number of its first row
	firstRow int    // index of its first row on the screen
	text     []byte
	redacted []byte // text with secrets masked, as long as text; nil: as text
	cursor   int    // offset of the cursor in text; -1: elsewhere
}

// lines returns the logical lines, with wrapped rows joined.
func (s *Screen) lines() []screenLine {
	var lines []screenLine
	joined := false
	for i, r := range s.Rows {
		if !joined {
			lines = append(lines, screenLine{number: s.Top + uint64(i), firstRow: i, cursor: -1})
		}
		l := &lines[len(lines)-1]
		if i == s.CursorRow {
			l.cursor = len(l.text) + r.byteOffset(s.CursorCol)
		}
		if r.Redacted != "" && l.redacted == nil {
			l.redacted = append([]byte{}, l.text...)
		}
		if l.redacted != nil {
			l.redacted = append(l.redacted, cmp.Or(r.Redacted, r.Text)...)
		}
		l.text = append(l.text, r.Text...)
		joined = r.Wrapped
	}
	return lines
}

// byteOffset returns the byte offset of a column.
func (r *Row) byteOffset(col int) int {
	switch {
	case r.Starts == nil:
		return min(max(col, 0), len(r.Text))
	case col >= len(r.Starts):
		return len(r.Text)
	}
	return min(r.Starts[max(col, 0)], len(r.Text))
}

// matchScreen accepts new matches on the screen and drops the remembered ones that have left it.
func (e *Engine) matchScreen() {
	s := e.screen.last
	lines := s.lines()
	masked := e.screen.echo.findEchoes(s, lines)
	for i := range e.screen.answered {
		e.screen.answered[i].isOnScreen = false
	}
	for i := range lines {
		l := &lines[i]
		eachGap(masked[l.number], 0, len(l.text), func(from, to int) {
			e.matchLine(s, l, from, to)
		})
	}
	e.screen.answered = slices.DeleteFunc(e.screen.answered, func(x screenMatch) bool {
		return x.Alt == s.Alt && !x.isOnScreen
	})
}

// matchLine matches a part of a logical line with the rules for screens.
func (e *Engine) matchLine(s *Screen, l *screenLine, from, to int) {
	for i := range e.set.rules {
		r := &e.set.rules[i]
		if !r.matchesScreen || e.done {
			continue
		}
		lo, hi, ok := r.matchedPart(s, l)
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
		e.matchRange(l.text[:hi], l.redacted, lo, ends, []int{i}, func(int) bool { return true }, func(i int, text []byte, loc []int) {
			e.acceptScreenMatch(s, l, i, text, loc)
		})
	}
}

// matchedPart returns the part of a line that a rule matches: its region, or the cursor's line.
func (r *Rule) matchedPart(s *Screen, l *screenLine) (from, to int, ok bool) {
	to = len(l.text)
	if r.On == OnCursor {
		return 0, to, l.cursor >= 0
	}
	g := r.Region
	if g == nil {
		return 0, to, true
	}
	if l.firstRow < g.Top || g.Bottom > 0 && l.firstRow >= g.Bottom {
		return 0, 0, false
	}
	row := &s.Rows[l.firstRow]
	if g.Left > 0 {
		from = row.byteOffset(g.Left)
	}
	if g.Right > 0 {
		to = row.byteOffset(g.Right)
	}
	return from, to, true
}

// acceptScreenMatch accepts a match, unless it was answered and has stayed on the screen since.
func (e *Engine) acceptScreenMatch(s *Screen, l *screenLine, i int, text []byte, loc []int) {
	x := screenMatch{Rule: i, Row: l.number, Alt: s.Alt, Text: string(text[loc[0]:loc[1]]), isOnScreen: true}
	for j := range e.screen.answered {
		if had := &e.screen.answered[j]; had.Rule == i && had.Row == x.Row && had.Alt == x.Alt && had.Text == x.Text {
			had.isOnScreen = true
			return
		}
	}
	if !e.canMatch(i) || len(e.screen.answered) >= maxScreenMatches {
		return
	}
	e.screen.answered = append(e.screen.answered, x)
	e.acceptMatch(i, text, loc, s.Offset, &x.Row)
}
