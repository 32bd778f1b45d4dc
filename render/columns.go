package render

import "unicode/utf8"

// Characters calls f for each character of a span, with joined code points together, its first column and its width. It
// stops when f returns false. A foreign span whose widths do not fit its text is processed as far as its columns allow.
func (s *Span) Characters(f func(text string, col, width int) bool) {
	col, end := s.Col, s.Col+s.Width
	for text, i := s.Text, 0; text != "" && col < end; {
		w := s.widthAt(i)
		_, n := utf8.DecodeRuneInString(text)
		i++
		for n < len(text) && s.widthAt(i) == 0 {
			_, more := utf8.DecodeRuneInString(text[n:])
			n += more
			i++
		}
		w = min(max(w, 1), end-col)
		if !f(text[:n], col, w) {
			return
		}
		text, col = text[n:], col+w
	}
}

// widthAt returns the width of character i.
func (s *Span) widthAt(i int) int {
	if i < len(s.Widths) {
		return int(s.Widths[i])
	}
	return 1
}

// split splits a span before the character at a column; either part may be empty.
func (s *Span) split(atCol int) (left, right Span) {
	left, right = *s, *s
	left.Width = 0
	bytes, chars := 0, 0
	s.Characters(func(text string, col, width int) bool {
		if col >= atCol {
			return false
		}
		bytes += len(text)
		chars += utf8.RuneCountInString(text)
		left.Width = col + width - s.Col
		return true
	})
	left.Text, right.Text = s.Text[:bytes], s.Text[bytes:]
	right.Col, right.Width = s.Col+left.Width, s.Width-left.Width
	chars = min(chars, len(s.Widths))
	left.Widths, right.Widths = s.Widths[:chars], s.Widths[chars:]
	return left, right
}
