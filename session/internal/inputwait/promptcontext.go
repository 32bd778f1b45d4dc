package inputwait

import (
	"strings"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of the text around the cursor.
const (
	contextLines = 20  // lines above and below the cursor
	contextRows  = 400 // rows of screen and history that those lines may take on narrow screens
)

// ContextHistory is the number of lines of history that a Screen needs: contextRows, and as many again on both sides for
// wrapped lines that reach into them.
const ContextHistory = 3 * contextRows

// promptContext reads the lines around the cursor. Rows have ids as History counts them.
type promptContext struct {
	frame   *vterm.Frame
	history vterm.History
	top     uint64          // id of the screen's first row
	from    uint64          // first row of the current program's output
	typed   map[uint64]bool // rows with typed input, by id
	alt     bool            // a full-screen program is shown
}

// screenEvidence sets the lines around the cursor in f: only those printed by the current program. Rows with typed input
// are answered prompts, or lines of a shell. partial reports whether a partial line was removed from the prompt's line.
func (m *Machine) screenEvidence(f *inputdetect.Evidence, v *View) (partial bool) {
	sc := m.host.Screen()
	c := promptContext{frame: &sc.Frame, history: sc.History, alt: f.AltScreen}
	c.top = c.history.FirstID() + uint64(c.history.Len())
	if !c.alt {
		if v.HasIntegration {
			c.from = c.commandOutputStart(&v.Shell, &sc)
		}
		c.typed = make(map[uint64]bool, len(sc.Typed))
		for i := range sc.Typed {
			c.typed[sc.Typed[i].Row] = true
		}
	}
	c.fillEvidence(f)
	f.Line, partial = strings.CutSuffix(f.Line, sc.PartialLine)
	return partial && sc.PartialLine != ""
}

// commandOutputStart returns the first row of the current command's output, below the command line. It returns 0 if
// that line was cleared from the screen.
func (c *promptContext) commandOutputStart(st *shell.State, sc *Screen) uint64 {
	if first, end, ok := sc.Editor.CommandRows(); ok {
		if st.Running == nil || c.hasFirstWord(first, end, st.Running.Text) {
			return end
		}
		return 0
	}
	if typed := sc.Typed.Since(st.PromptAt); len(typed) > 0 {
		if row := typed[0].Row; st.Running == nil || c.hasFirstWord(row, row+1, st.Running.Text) {
			return row + 1
		}
	}
	return 0
}

// hasFirstWord reports whether the first word of a text is on the rows from from to to.
func (c *promptContext) hasFirstWord(from, to uint64, text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 || to-from > contextRows {
		return true
	}
	var rows strings.Builder
	for row := from; row == from || row < to; row++ {
		t, _ := c.text(row)
		rows.WriteString(t)
	}
	return strings.Contains(rows.String(), words[0]) || c.frame.Cols < 20
}

// fillEvidence sets the prompt and the lines around the cursor in f.
func (c *promptContext) fillEvidence(f *inputdetect.Evidence) {
	cursor := &c.frame.Cursor
	at := c.top + uint64(cursor.Row)
	f.Line, f.After = c.beforeCursor(cursor)
	row := at
	f.Line, row = c.joinWrapped(f.Line, row)
	for n := 0; n < contextLines && row > c.from; n++ {
		row--
		text, _ := c.text(row)
		typed := c.typed[row]
		text, row = c.joinWrapped(text, row)
		if typed {
			text = ""
		}
		f.Above = append(f.Above, strings.TrimRight(text, " "))
		if at-row > contextRows {
			break
		}
	}
	for i, j := 0, len(f.Above)-1; i < j; i, j = i+1, j-1 {
		f.Above[i], f.Above[j] = f.Above[j], f.Above[i]
	}
	for i := 1; i <= contextLines && cursor.Row+i < c.frame.Rows; i++ {
		text, _ := c.text(at + uint64(i))
		f.Below = append(f.Below, strings.TrimRight(text, " "))
	}
}

// joinWrapped prepends the rows that a row continues to its text, and returns the first row.
func (c *promptContext) joinWrapped(text string, row uint64) (string, uint64) {
	for n := 0; row > c.from && n < contextRows; n++ {
		before, wrapped := c.text(row - 1)
		if !wrapped {
			break
		}
		text, row = before+text, row-1
	}
	return text, row
}

// beforeCursor splits the cursor's row at the cursor.
func (c *promptContext) beforeCursor(cursor *vterm.Cursor) (before, after string) {
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

// text returns a row's text, and whether it continues in the next row.
func (c *promptContext) text(row uint64) (text string, wrapped bool) {
	if l := c.line(row); l != nil {
		return c.cells(l.Cells), l.Wrapped
	}
	return "", false
}

// line returns a row, or nil if it is not available.
func (c *promptContext) line(row uint64) *vterm.Line {
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

// cells returns the text of cells.
func (c *promptContext) cells(cells []vterm.Cell) string {
	var b []byte
	for _, x := range cells {
		b = c.frame.AppendText(b, x)
	}
	return string(b)
}
