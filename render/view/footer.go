package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
)

// Footer is a component between panes and bar, such as a prompt line. All its methods
// are called on the viewer's goroutine. session is the focused one; nil: none.
type Footer interface {
	// Height is how many rows it wants of a terminal's; 0 hides it.
	Height(cols, rows int) int
	Draw(s Surface, session *Session)
	// Key and Mouse report whether they took the event; else it goes its usual way.
	Key(k vterm.Key, session *Session) bool
	Mouse(e *tcell.EventMouse, x, y int, session *Session) bool
}

// Surface is where a footer draws. Positions count from its upper left corner.
type Surface struct {
	Cols, Rows int
	v          *viewer
	at         rect
}

// Text draws text from a column on, up to w columns; control characters do not reach the
// terminal.
func (s Surface) Text(x, y, w int, text string, st tcell.Style) {
	if y >= 0 && y < s.Rows && x >= 0 && x < s.Cols {
		s.v.canvas.text(s.at.X+x, s.at.Y+y, min(w, s.Cols-x), text, st)
	}
}

// Cursor shows the terminal's cursor.
func (s Surface) Cursor(x, y int) {
	s.v.canvas.setCursor(cursor{s.at.X + x, s.at.Y + y, tcell.CursorStyleDefault})
}

// areas divides the terminal among panes and footer; the bar is below them.
func (v *viewer) areas() (panes, footer rect) {
	w, h := v.canvas.screen.Size()
	panes, _ = split(w, h)
	footer = rect{X: 0, Y: panes.Y + panes.H, W: w, H: 0}
	if v.o.Footer == nil {
		return panes, footer
	}
	n := min(max(0, v.o.Footer.Height(w, h)), max(0, panes.H-3))
	panes.H -= n
	return panes, rect{X: 0, Y: panes.Y + panes.H, W: w, H: n}
}

func (v *viewer) drawFooter() {
	if _, at := v.areas(); at.H > 0 {
		v.o.Footer.Draw(Surface{at.W, at.H, v, at}, v.m.session(v.m.focus))
	}
}
