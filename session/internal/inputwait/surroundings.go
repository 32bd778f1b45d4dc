package inputwait

import (
	"strings"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of what is looked at around the cursor.
const (
	nearLines = 20  // above and below it
	nearRows  = 400 // of the screen and of history, which lines of narrow screens take
)

// NearHistory is the number of lines of history that a Screen needs: nearRows, and as many again on both sides for wrapped lines
// that reach into them.
const NearHistory = 3 * nearRows

// surroundings reads the lines around the cursor. Rows have ids as History counts them.
type surroundings struct {
	frame   *vterm.Frame
	history vterm.History
	top     uint64 // id of the screen's first row
	from    uint64 // of the first row that belongs to what runs now
	typed   map[uint64]bool
	alt     bool
}

// screenFacts puts the lines around the cursor into the facts: only those that were printed by what
// runs now. Rows that something was typed on are answered questions, or lines given to a shell. half says that a line is being
// typed: it is no part of what it is typed at.
func (m *Machine) screenFacts(f *evidence.Facts, v *View) (half bool) {
	sc := m.host.Screen()
	c := surroundings{frame: &sc.Frame, history: sc.History, alt: f.AltScreen}
	c.top = c.history.FirstID() + uint64(c.history.Len())
	if !c.alt {
		if v.Followed {
			c.from = c.ranFrom(&v.Shell, &sc)
		}
		c.typed = make(map[uint64]bool, len(sc.Typed))
		for i := range sc.Typed {
			c.typed[sc.Typed[i].Row] = true
		}
	}
	c.facts(f)
	f.Line, half = strings.CutSuffix(f.Line, sc.Half)
	return half && sc.Half != ""
}

// ranFrom is the first row that belongs to what the shell runs: below the line that it was given,
// unless that is not there any more because the screen was cleared.
func (c *surroundings) ranFrom(st *shell.State, sc *Screen) uint64 {
	if first, end, ok := sc.Editor.Ran(); ok {
		if st.Running == nil || c.shows(first, end, st.Running.Text) {
			return end
		}
		return 0
	}
	if typed := sc.Typed.Since(st.PromptAt); len(typed) > 0 {
		if row := typed[0].Row; st.Running == nil || c.shows(row, row+1, st.Running.Text) {
			return row + 1
		}
	}
	return 0
}

// shows reports if the first word of a text is on some rows.
func (c *surroundings) shows(from, to uint64, text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 || to-from > nearRows {
		return true
	}
	var rows strings.Builder
	for row := from; row == from || row < to; row++ {
		t, _ := c.text(row)
		rows.WriteString(t)
	}
	return strings.Contains(rows.String(), words[0]) || c.frame.Cols < 20
}

func (c *surroundings) facts(f *evidence.Facts) {
	cursor := &c.frame.Cursor
	at := c.top + uint64(cursor.Row)
	f.Line, f.After = c.beforeCursor(cursor)
	row := at
	f.Line, row = c.joined(f.Line, row)
	for n := 0; n < nearLines && row > c.from; n++ {
		row--
		text, _ := c.text(row)
		typed := c.typed[row]
		text, row = c.joined(text, row)
		if typed {
			text = ""
		}
		f.Above = append(f.Above, strings.TrimRight(text, " "))
		if at-row > nearRows {
			break
		}
	}
	for i, j := 0, len(f.Above)-1; i < j; i, j = i+1, j-1 {
		f.Above[i], f.Above[j] = f.Above[j], f.Above[i]
	}
	for i := 1; i <= nearLines && cursor.Row+i < c.frame.Rows; i++ {
		text, _ := c.text(at + uint64(i))
		f.Below = append(f.Below, strings.TrimRight(text, " "))
	}
}

// joined puts the rows before a row that it continues in front of its text, and returns the first.
func (c *surroundings) joined(text string, row uint64) (string, uint64) {
	for n := 0; row > c.from && n < nearRows; n++ {
		before, wrapped := c.text(row - 1)
		if !wrapped {
			break
		}
		text, row = before+text, row-1
	}
	return text, row
}

// beforeCursor is the cursor's row up to the cursor, and from there on.
func (c *surroundings) beforeCursor(cursor *vterm.Cursor) (before, after string) {
	l := c.line(c.top + uint64(cursor.Row))
	if l == nil {
		return strings.Repeat(" ", cursor.Col), ""
	}
	col := cursor.Col
	if cursor.Pending {
		col++
	}
	at := min(col, len(l.Cells))
	return c.cells(l.Cells[:at]) + strings.Repeat(" ", col-at), strings.TrimRight(c.cells(l.Cells[at:]), " ")
}

// text is a row's text, and whether it goes on in the next row.
func (c *surroundings) text(row uint64) (text string, wrapped bool) {
	if l := c.line(row); l != nil {
		return c.cells(l.Cells), l.Wrapped
	}
	return "", false
}

// line finds a row; nil if it is not there.
func (c *surroundings) line(row uint64) *vterm.Line {
	if row >= c.top {
		if i := int(row - c.top); i < len(c.frame.Lines) && c.frame.Lines[i].Row == i {
			return &c.frame.Lines[i]
		}
		return nil
	}
	if first := c.history.FirstID(); !c.alt && row >= first {
		var l vterm.Line
		c.history.Line(int(row-first), &l)
		return &l
	}
	return nil
}

func (c *surroundings) cells(cells []vterm.Cell) string {
	var b []byte
	for _, x := range cells {
		b = c.frame.AppendText(b, x)
	}
	return string(b)
}
