package wire

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
)

// Typing at a prompt changes the end of one row and moves the cursor, and a prompt resembles the previous one. A frame with
// only plain rows, their styles, a cursor and a scroll is thin: text in which control characters, which no cell contains,
// precede each part (docs/web-protocol.md, "Thin frames"). Numbers are in base 36.
const (
	thinVersion = '\x01' // increase of the version, if not 1
	thinScroll  = '\x02' // top,bottom,by
	thinCursor  = '\x03' // x,y; unless it is after the last text
	// thinPlace is row,col: the position of the following text, by default the previous cursor. row,col,like: columns
	// before col equal those of row like
	thinPlace  = '\x04'
	thinStyle  = '\x05' // style of the following text, if not the default
	thinText   = '\x06'
	thinStyles = '\x07' // definitions of styles, as in "styles" of other frames
)

// keptRow is the page's copy of a row with the current or a previous cursor. Typing changes only its end, and the next prompt
// may start like it.
type keptRow struct {
	row   int
	hash  uint64
	gen   uint64 // generation of the style table
	spans []textRun
}

// maxKept bounds the kept rows, newest first.
const maxKept = 4

// minSharedColumns is the number of columns that two rows must share for a reference to be shorter.
const minSharedColumns = 6

// textRun is text of one style.
type textRun struct {
	style int
	text  string
}

// appendThin appends a thin frame. ok is false if a thin frame cannot express the page's next state.
func (s *PageScreen) appendThin(dst []byte, t *Styles, f *Frame, m rowShift, moves bool) (out []byte, ok, unchanged bool) {
	sc, h := f.Screen, s.header
	h.cursor.X, h.cursor.Y = sc.Cursor.X, sc.Cursor.Y
	if !f.Thin || f.At != nil || f.Behind > 0 || f.Requested || t.reset || h != headerOf(f) ||
		sc.Version <= s.version {
		return dst, false, false
	}
	was := s.header.cursor
	rows := 0
	for i, l := s.from, 0; i < s.to; i++ {
		if s.newHashes[i] == s.hashes[i] {
			continue
		}
		rows++
		for l < len(sc.Lines) && sc.Lines[l].Row < i {
			l++
		}
		if s.bodyStarts[i] >= 0 && !isPlainRow(&sc.Lines[l]) {
			return dst, false, false
		}
	}
	if rows == 0 && !moves && was == h.cursor && len(t.pending) == 0 {
		return dst, true, true
	}
	dst = strconv.AppendInt(dst, int64(f.ID), 36)
	if n := sc.Version - s.version; n != 1 {
		dst = strconv.AppendUint(append(dst, thinVersion), n, 36)
	}
	if moves {
		dst = appendNumbers(append(dst, thinScroll), m.top, m.bottom, m.by)
	}
	puts, x, y := s.appendRowTexts(nil, t, f, was)
	if len(puts) == 0 {
		x, y = was.X, was.Y
	}
	if x != h.cursor.X || y != h.cursor.Y {
		dst = appendNumbers(append(dst, thinCursor), h.cursor.X, h.cursor.Y)
	}
	if s.header = h; len(t.pending) > 0 {
		dst = append(append(dst, thinStyles), t.pending...)
		t.flush(nil)
	}
	return append(dst, puts...), true, false
}

// appendRowTexts appends the rows that the page lacks, each from its first difference. x and y are the end of the text.
func (s *PageScreen) appendRowTexts(dst []byte, t *Styles, f *Frame, at render.Cursor) (out []byte, x, y int) {
	lines := f.Screen.Lines
	for row := s.from; row < s.to; row++ {
		if s.newHashes[row] == s.hashes[row] {
			continue
		}
		var spans []textRun
		if s.bodyStarts[row] >= 0 {
			for len(lines) > 0 && lines[0].Row < row {
				lines = lines[1:]
			}
			spans = textRuns(nil, t, &lines[0])
		}
		col, like, spans := s.sharedPrefix(row, spans)
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
		s.hashes[row] = s.newHashes[row]
	}
	return dst, x, y
}

// sharedPrefix returns how many columns of a row the page already has, in that row or a similar one, and the remaining text.
func (s *PageScreen) sharedPrefix(row int, spans []textRun) (col, like int, rest []textRun) {
	like, rest = row, spans
	least := 0 // columns that save nothing
	for i := range s.keptRows {
		k := &s.keptRows[i]
		if k.row < s.from || k.row >= s.to || k.hash != s.hashes[k.row] || k.gen != s.styleGen {
			continue
		}
		c, r := firstDifference(k.spans, spans)
		switch {
		case k.row == row:
			if like == row || c+minSharedColumns > col {
				col, like, rest = c, row, r
			}
			least = c + minSharedColumns
		case c >= max(least, minSharedColumns) && c > col:
			col, like, rest = c, k.row, r
		}
	}
	return col, like, rest
}

// keepCursorRow keeps the page's copy of the cursor's row.
func (s *PageScreen) keepCursorRow(t *Styles, f *Frame) {
	row := f.Screen.Cursor.Y
	if row < s.from || row >= s.to {
		return
	}
	for i := range s.keptRows {
		if k := &s.keptRows[i]; k.row == row && k.hash == s.hashes[row] && k.gen == s.styleGen {
			return
		}
	}
	for i := range f.Screen.Lines {
		l := &f.Screen.Lines[i]
		if l.Row != row || !isPlainRow(l) {
			continue
		}
		if i := slices.IndexFunc(s.keptRows, func(k keptRow) bool { return k.row == row }); i >= 0 {
			s.keptRows = slices.Delete(s.keptRows, i, i+1)
		}
		s.keptRows = s.keptRows[:min(len(s.keptRows), maxKept-1)]
		s.keptRows = slices.Insert(s.keptRows, 0, keptRow{row, s.hashes[row], s.styleGen, textRuns(nil, t, l)})
	}
}

// shiftKeptRows applies a shift to the kept rows.
func (s *PageScreen) shiftKeptRows(m rowShift) {
	for i := range s.keptRows {
		if k := &s.keptRows[i]; k.row >= m.top && k.row < m.bottom {
			if k.row -= m.by; k.row < m.top || k.row >= m.bottom {
				k.row = -1
			}
		}
	}
}

// isPlainRow reports whether a row consists of single-width characters in a line of normal size that does not wrap.
func isPlainRow(l *render.Line) bool {
	if l.Wrapped || l.Size != "" {
		return false
	}
	for i := range l.Spans {
		p := &l.Spans[i]
		if len(p.Widths) > 0 || p.Text == "" || !utf8.ValidString(p.Text) || strings.ContainsFunc(p.Text, isControl) {
			return false
		}
	}
	return true
}

// textRuns appends a row's text by style.
func textRuns(dst []textRun, t *Styles, l *render.Line) []textRun {
	for i := range l.Spans {
		dst = append(dst, textRun{t.id(&l.Spans[i]), l.Spans[i].Text})
	}
	return dst
}

// firstDifference returns the first column where two rows differ, and the remaining text of the second.
func firstDifference(was, now []textRun) (col int, rest []textRun) {
	for i, p := range now {
		if i >= len(was) || was[i].style != p.style {
			return col, now[i:]
		}
		n := commonPrefix(was[i].text, p.text)
		col += utf8.RuneCountInString(p.text[:n])
		if n < len(p.text) {
			rest := append([]textRun{{p.style, p.text[n:]}}, now[i+1:]...)
			return col, rest
		}
		if n < len(was[i].text) {
			return col, now[i+1:]
		}
	}
	return col, nil
}

// commonPrefix returns the length in bytes of the common prefix of whole characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// appendNumbers appends numbers in base 36, separated by commas.
func appendNumbers(dst []byte, n ...int) []byte {
	for i, v := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(v), 36)
	}
	return dst
}
