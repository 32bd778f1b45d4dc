package render

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// Apply merges a delta into a full screen: its rows replace the old ones. A screen that is not a delta of this one
// replaces it. The spans of delta are shared afterwards.
func (s *Screen) Apply(delta *Screen) {
	if !delta.Delta || s.Cols != delta.Cols || s.Rows != delta.Rows || len(s.Lines) != s.Rows {
		*s = *delta
		s.fill()
		return
	}
	lines := s.Lines
	*s = *delta
	s.Lines, s.Delta = lines, false
	s.put(delta.Lines)
}

// fill makes Lines contain every row, in order.
func (s *Screen) fill() {
	if s.Rows < 0 || s.Rows > vterm.MaxRows {
		s.Rows = 0
	}
	rows := s.Lines
	s.Lines, s.Delta = make([]Line, s.Rows), false
	for i := range s.Lines {
		s.Lines[i] = Line{Row: i, Spans: []Span{}}
	}
	s.put(rows)
}

func (s *Screen) put(lines []Line) {
	for _, l := range lines {
		if l.Row >= 0 && l.Row < len(s.Lines) {
			s.Lines[l.Row] = l
		}
	}
}

// Trim removes empty rows at the end, except the cursor's.
func (s *Screen) Trim() {
	n := len(s.Lines)
	for n > 0 && s.Lines[n-1].Row > s.Cursor.Y && strings.TrimRight(s.Lines[n-1].Text, " ") == "" {
		n--
	}
	s.Lines = s.Lines[:n]
}

// DropColors sets every colour to the terminal's default; attributes are kept (R31).
func (s *Screen) DropColors() {
	for _, lines := range [][]Line{s.Lines, s.Scrollback} {
		for i := range lines {
			for j := range lines[i].Spans {
				p := &lines[i].Spans[j]
				p.FG, p.BG, p.ULColor, p.FGIndex, p.BGIndex = "", "", "", nil, nil
			}
		}
	}
}
