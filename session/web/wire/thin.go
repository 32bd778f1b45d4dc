package wire

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// Typing at a prompt changes the end of one row and moves the cursor, and a prompt resembles the one before. A frame
// with only plain rows, their styles, a cursor and a scroll is thin: text in which control characters, which no cell
// contains, precede each part (docs/web-protocol.md, "Thin frames"). Numbers are in base 36.
const (
	thinVersion = '\x01' // how much the version grew, if not by 1
	thinScroll  = '\x02' // top,bottom,by
	thinCursor  = '\x03' // x,y; unless it follows the last text
	// thinPlace is row,col: the position of the following text, by default the previous cursor. row,col,like: columns
	// before col equal those of row like
	thinPlace  = '\x04'
	thinStyle  = '\x05' // of the text that follows, if not the default
	thinText   = '\x06'
	thinStyles = '\x07' // definitions of styles, as in "styles" of other frames
)

// kept is the page's copy of a row with the current or previous cursor. Typing changes only its end, and the next
// prompt may start like it.
type kept struct {
	row   int
	hash  uint64
	gen   uint64 // of the table of styles
	spans []piece
}

// maxKept is how many of those are remembered, the newest first.
const maxKept = 4

// worthLike is how many columns two rows must share for a reference to be shorter.
const worthLike = 6

// piece is text of one style.
type piece struct {
	style int
	text  string
}

// appendThin appends a thin frame, if one can express the page's next state.
func (s *Shown) appendThin(dst []byte, t *Styles, f *Frame, m move, moves bool) (out []byte, ok, nothing bool) {
	sc, h := f.Screen, s.head
	h.cursor.X, h.cursor.Y = sc.Cursor.X, sc.Cursor.Y
	if !f.Thin || f.At != nil || f.Behind > 0 || f.Asked || t.reset || h != headOf(f) ||
		sc.Version <= s.version {
		return dst, false, false
	}
	was := s.head.cursor
	rows := 0
	for i, l := s.from, 0; i < s.to; i++ {
		if s.next[i] == s.hash[i] {
			continue
		}
		rows++
		for l < len(sc.Lines) && sc.Lines[l].Row < i {
			l++
		}
		if s.ends[i] >= 0 && !plainRow(&sc.Lines[l]) {
			return dst, false, false
		}
	}
	if rows == 0 && !moves && was == h.cursor && len(t.fresh) == 0 {
		return dst, true, true
	}
	dst = strconv.AppendInt(dst, int64(f.ID), 36)
	if n := sc.Version - s.version; n != 1 {
		dst = strconv.AppendUint(append(dst, thinVersion), n, 36)
	}
	if moves {
		dst = appendNumbers(append(dst, thinScroll), m.top, m.bottom, m.by)
	}
	puts, x, y := s.appendPuts(nil, t, f, was)
	if len(puts) == 0 {
		x, y = was.X, was.Y
	}
	if x != h.cursor.X || y != h.cursor.Y {
		dst = appendNumbers(append(dst, thinCursor), h.cursor.X, h.cursor.Y)
	}
	if s.head = h; len(t.fresh) > 0 {
		dst = append(append(dst, thinStyles), t.fresh...)
		t.flush(nil)
	}
	return append(dst, puts...), true, false
}

// appendPuts appends the rows that the page has otherwise, each from where it differs. x and y are where text ends.
func (s *Shown) appendPuts(dst []byte, t *Styles, f *Frame, at render.Cursor) (out []byte, x, y int) {
	lines := f.Screen.Lines
	for row := s.from; row < s.to; row++ {
		if s.next[row] == s.hash[row] {
			continue
		}
		var spans []piece
		if s.ends[row] >= 0 {
			for len(lines) > 0 && lines[0].Row < row {
				lines = lines[1:]
			}
			spans = pieces(nil, t, &lines[0])
		}
		col, like, spans := s.begins(row, spans)
		if like != row {
			dst = appendNumbers(append(dst, thinPlace), row, col, like)
		} else if len(dst) > 0 || len(spans) == 0 || row != at.Y || col != at.X {
			dst = appendNumbers(append(dst, thinPlace), row, col)
		}
		for _, p := range spans {
			if p.style != 0 {
				dst = strconv.AppendInt(append(dst, thinStyle), int64(p.style), 36)
			}
			dst = append(append(dst, thinText), p.text...)
			col += utf8.RuneCountInString(p.text)
		}
		x, y = col, row
		s.hash[row] = s.next[row]
	}
	return dst, x, y
}

// begins returns how many columns of a row the page already has, in that row or a similar one, and the rest.
func (s *Shown) begins(row int, spans []piece) (col, like int, rest []piece) {
	like, rest = row, spans
	least := 0 // columns that are no gain
	for i := range s.kept {
		k := &s.kept[i]
		if k.row < s.from || k.row >= s.to || k.hash != s.hash[k.row] || k.gen != s.gen {
			continue
		}
		c, r := differ(k.spans, spans)
		switch {
		case k.row == row:
			if like == row || c+worthLike > col {
				col, like, rest = c, row, r
			}
			least = c + worthLike
		case c >= max(least, worthLike) && c > col:
			col, like, rest = c, k.row, r
		}
	}
	return col, like, rest
}

// keep remembers the row of the cursor as the page has it now.
func (s *Shown) keep(t *Styles, f *Frame) {
	row := f.Screen.Cursor.Y
	if row < s.from || row >= s.to {
		return
	}
	for i := range s.kept {
		if k := &s.kept[i]; k.row == row && k.hash == s.hash[row] && k.gen == s.gen {
			return
		}
	}
	for i := range f.Screen.Lines {
		l := &f.Screen.Lines[i]
		if l.Row != row || !plainRow(l) {
			continue
		}
		if i := slices.IndexFunc(s.kept, func(k kept) bool { return k.row == row }); i >= 0 {
			s.kept = slices.Delete(s.kept, i, i+1)
		}
		s.kept = s.kept[:min(len(s.kept), maxKept-1)]
		s.kept = slices.Insert(s.kept, 0, kept{row, s.hash[row], s.gen, pieces(nil, t, l)})
	}
}

// moveKept notes that rows have moved.
func (s *Shown) moveKept(m move) {
	for i := range s.kept {
		if k := &s.kept[i]; k.row >= m.top && k.row < m.bottom {
			if k.row -= m.by; k.row < m.top || k.row >= m.bottom {
				k.row = -1
			}
		}
	}
}

// plainRow reports whether a row consists of single-width characters in a line of normal size that does not wrap.
func plainRow(l *render.Line) bool {
	if l.Wrapped || l.Size != "" {
		return false
	}
	for i := range l.Spans {
		p := &l.Spans[i]
		if len(p.Widths) > 0 || p.Text == "" || !utf8.ValidString(p.Text) || strings.ContainsFunc(p.Text, control) {
			return false
		}
	}
	return true
}

func pieces(dst []piece, t *Styles, l *render.Line) []piece {
	for i := range l.Spans {
		dst = append(dst, piece{t.id(&l.Spans[i]), l.Spans[i].Text})
	}
	return dst
}

// differ returns the first column where two rows differ, and the rest of the second.
func differ(was, now []piece) (col int, rest []piece) {
	for i, p := range now {
		if i >= len(was) || was[i].style != p.style {
			return col, now[i:]
		}
		n := common(was[i].text, p.text)
		col += utf8.RuneCountInString(p.text[:n])
		if n < len(p.text) {
			rest := append([]piece{{p.style, p.text[n:]}}, now[i+1:]...)
			return col, rest
		}
		if n < len(was[i].text) {
			return col, now[i+1:]
		}
	}
	return col, nil
}

// common returns the length in bytes of the common character prefix.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

func appendNumbers(dst []byte, n ...int) []byte {
	for i, v := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 36)
	}
	return dst
}
