package session

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// What is typed comes back as output: the terminal or a line editor echoes it. A wait for
// text must not take it for an answer (R44). Two things tell echo from output:
//
//   - a shell that marks its prompts: what comes between the end of a prompt and the mark
//     that a command begins is the editor's (inputRegion);
//   - elsewhere, the text itself: what was typed is expected next, at the cursor (echoes).

// typedText is something that was typed.
type typedText struct {
	at    uint64   // offset of the output then
	lines []string // as they would be echoed; the last one is not ended
	line  uint64   // where the cursor stood: id of the row
	col   int
}

// maxTypedTexts bounds how many are remembered: waits rarely begin further back.
const maxTypedTexts = 32

// rememberTyped notes what is being typed, for those who look for its answer.
func (s *Session) rememberTyped(data []byte) {
	if r := &s.input; s.shell != nil && !r.open && r.from > 0 && r.to == 0 && s.shell.Phase() == shell.PhasePrompt {
		r.from, r.open = s.off, true // a shell that does not tell where its prompt ends
	}
	lines := echoOf(data)
	if lines == nil {
		return
	}
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // the cursor only
	h := s.engine.History()
	t := typedText{s.off, lines, h.FirstID() + uint64(h.Len()) + uint64(f.Cursor.Row), f.Cursor.Col}
	if n := len(s.typed); n > 0 && s.typed[n-1].at == t.at { // not echoed yet: one text
		last := &s.typed[n-1]
		last.lines[len(last.lines)-1] += lines[0]
		last.lines = append(last.lines, lines[1:]...)
		return
	}
	s.typed = append(s.typed, t)
	if len(s.typed) > maxTypedTexts {
		s.typed = append(s.typed[:0], s.typed[1:]...)
	}
}

var pasteMarks = [][]byte{[]byte("\x1b[200~"), []byte("\x1b[201~")}

// echoOf is how typed bytes are echoed, line by line; nil when that cannot be said: keys
// that move the cursor, say.
func echoOf(data []byte) []string {
	for _, m := range pasteMarks {
		data = bytes.ReplaceAll(data, m, nil)
	}
	if len(data) == 0 || len(data) > 1<<16 || bytes.IndexByte(data, 0x1b) >= 0 || !utf8.Valid(data) {
		return nil
	}
	var b strings.Builder
	for _, c := range data {
		switch {
		case c == '\r' || c == '\n':
			b.WriteByte('\n')
		case c == '\t', c >= ' ' && c != 0x7f:
			b.WriteByte(c)
		default: // ECHOCTL
			b.WriteByte('^')
			b.WriteByte(c ^ 0x40)
		}
	}
	return strings.Split(b.String(), "\n")
}

// inputRegion is the newest stretch of output that is a line editor's: from is the end of
// the prompt, to where the command's output began, 0 while it has not. Rows count from
// firstRow up to endRow, by id.
type inputRegion struct {
	from, to         uint64
	firstRow, endRow uint64
	open             bool
}

// noteRegion follows the shell's marks.
func (s *Session) noteRegion(e *vterm.Event, m *shell.Mark) {
	r := &s.input
	switch m.Kind {
	case shell.MarkPrompt:
		*r = inputRegion{from: e.At, firstRow: e.Line}
	case shell.MarkInput:
		if !r.open { // else the editor draws its prompt anew
			r.from = e.At
		}
		r.to, r.open = 0, true
	case shell.MarkOutput:
		if r.open {
			r.to, r.endRow, r.open = e.At, e.Line, false
		}
	}
}

// editors reports whether the byte at an offset is a line editor's, and up to where that
// answer holds.
func (r *inputRegion) editors(at uint64) (yes bool, until uint64) {
	const ever = 1<<64 - 1
	switch {
	case r.from == 0 || !r.open && r.to == 0: // none, or a prompt that nothing was typed at
		return false, ever
	case at < r.from:
		return false, r.from
	case r.open:
		return true, ever
	case at < r.to:
		return true, r.to
	}
	return false, ever
}

// hasRow says that a row is (also) the prompt's or the editor's.
func (r *inputRegion) hasRow(id uint64) bool {
	if r.from == 0 || id < r.firstRow {
		return false
	}
	return r.open || r.to > 0 && id < r.endRow
}

// echoes takes what was typed out of lines of output.
type echoes struct {
	expect []string // lines, the next one first
	prefix string   // what stood in the line before
}

// expectText begins to expect a text after the unfinished line so far.
func (x *echoes) expectText(t *typedText, unfinished string) {
	if len(x.expect) == 0 {
		x.prefix = unfinished
	}
	x.expect = append(x.expect, t.lines...)
}

// strip returns a line without the echo in it. whole says that the line has ended.
func (x *echoes) strip(line string, whole bool) string {
	if len(x.expect) == 0 {
		return line
	}
	want := x.expect[0]
	rest, ok := strings.CutPrefix(line, x.prefix)
	switch {
	case ok && strings.HasPrefix(rest, want):
		rest = x.prefix + rest[len(want):]
		if whole {
			x.expect, x.prefix = x.expect[1:], ""
		}
		return rest
	case ok && !whole && strings.HasPrefix(want, rest): // on its way
		return x.prefix
	case whole: // it was not echoed, or not like that
		x.expect, x.prefix = nil, ""
	}
	return line
}

// rowWithout is a row's text less what was typed there. id is the row's.
func rowWithout(f *vterm.Frame, l *vterm.Line, id uint64, typed []typedText) string {
	text := func(cells []vterm.Cell) string {
		var b []byte
		for _, c := range cells {
			b = f.AppendText(b, c)
		}
		return string(b)
	}
	for i := range typed {
		t := &typed[i]
		row, col := t.line, t.col
		for _, part := range t.lines {
			for {
				room := max(f.Cols-col, 1)
				here := firstCells(part, room)
				if row == id && col <= len(l.Cells) {
					if rest, ok := strings.CutPrefix(text(l.Cells[col:]), here); ok && here != "" {
						return text(l.Cells[:col]) + rest
					}
				}
				part = part[len(here):]
				row, col = row+1, 0
				if part == "" {
					break
				}
			}
			if row > id {
				break
			}
		}
	}
	return text(l.Cells)
}

// firstCells is as much of a text as fits n cells, were each character one wide: wide ones
// are found again by being a prefix.
func firstCells(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
