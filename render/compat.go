package render

import "strings"

// Token is a run of text with one style, in Gemini CLI's form: a default colour is the empty string, and there is one
// kind of underline.
type Token struct {
	Text      string `json:"text"`
	Bold      bool   `json:"bold"`
	Italic    bool   `json:"italic"`
	Underline bool   `json:"underline"`
	Dim       bool   `json:"dim"`
	Inverse   bool   `json:"inverse"`
	FG        string `json:"fg"`
	BG        string `json:"bg"`
}

// Compat returns the screen in Gemini CLI's form (R33): an array of rows, each an array of tokens padded to the width
// of the screen; the cursor is an inverse cell.
func Compat(s *Screen) [][]Token {
	out := make([][]Token, 0, len(s.Lines))
	for i := range s.Lines {
		l := &s.Lines[i]
		cursor := -1
		if l.Row == s.Cursor.Y {
			cursor = s.Cursor.X
		}
		out = append(out, compatLine(l, s.Cols, cursor))
	}
	return out
}

// compatRow builds a row.
type compatRow struct {
	tokens []Token
	cursor int  // column of the cursor; negative: not in this row
	sealed bool // the last token is the cursor's, so nothing is appended to it
}

func compatLine(l *Line, cols, cursor int) []Token {
	row := compatRow{tokens: []Token{}, cursor: cursor}
	col := 0
	for i := range l.Spans {
		s := &l.Spans[i]
		row.blanks(col, s.Col)
		row.span(*s)
		col = s.Col + s.Width
	}
	row.blanks(col, cols)
	return row.tokens
}

func (r *compatRow) blanks(from, to int) {
	if from < to {
		r.span(Span{Text: strings.Repeat(" ", to-from), Col: from, Width: to - from})
	}
}

// span adds a span, with the character under the cursor as a separate token.
func (r *compatRow) span(s Span) {
	if r.cursor < s.Col || r.cursor >= s.Col+s.Width {
		r.add(&s, false)
		return
	}
	first, last := s.Col, s.Col+s.Width
	s.Characters(func(_ string, col, width int) bool {
		first, last = col, col+width
		return last <= r.cursor
	})
	left, s := s.split(first)
	under, right := s.split(last)
	r.add(&left, false)
	r.add(&under, true)
	r.add(&right, false)
}

func (r *compatRow) add(s *Span, cursor bool) {
	if s.Width == 0 {
		return
	}
	t := Token{
		Bold: s.Bold, Italic: s.Italic, Underline: s.Underline != "", Dim: s.Dim,
		Inverse: s.Inverse || cursor, FG: s.FG, BG: s.BG,
	}
	n := len(r.tokens)
	if n > 0 && !cursor && !r.sealed {
		last := r.tokens[n-1]
		if last.Text = ""; last == t {
			r.tokens[n-1].Text += s.Text
			return
		}
	}
	t.Text = s.Text
	r.tokens, r.sealed = append(r.tokens, t), cursor
}
