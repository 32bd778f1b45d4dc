package view

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Footer is a component between panes and bar, such as a prompt line. All its methods
// are called on the viewer's goroutine.
type Footer interface {
	// Open shows it, as the person asked for by an action: prompt or shell.
	Open(h FooterHost, as keymap.Action)
	// Height is how many rows it wants of a terminal's; 0 hides it.
	Height(cols, rows int) int
	// Draw is told of the focused session; nil: none.
	Draw(s Surface, session *model.Session)
	// Input reports whether it took the event; else that goes its usual way.
	Input(in FooterInput, session *model.Session) bool
}

// FooterInput is something a person does: one of Key, Paste and Mouse is set.
type FooterInput struct {
	Key   *input.Key
	Paste *string
	Mouse *tcell.EventMouse
	X, Y  int // of the mouse, from the footer's upper left corner
}

// Surface is where a footer draws. Positions count from its upper left corner.
type Surface struct {
	Cols, Rows int
	v          *viewer
	at         layout.Rect
}

// Text draws text from a column on, up to w columns; control characters do not reach the
// terminal.
func (s Surface) Text(x, y, w int, text string, st tcell.Style) {
	if y >= 0 && y < s.Rows && x >= 0 && x < s.Cols {
		s.v.canvas.Text(s.at.X+x, s.at.Y+y, min(w, s.Cols-x), text, st)
	}
}

// Cursor shows the terminal's cursor.
func (s Surface) Cursor(x, y int) {
	s.v.canvas.ShowCursor(s.at.X+x, s.at.Y+y, tcell.CursorStyleDefault)
}

// areas divides the terminal among panes and footer; the bar is below them.
func (v *viewer) areas() (panes, footer layout.Rect) {
	w, h := v.canvas.Size()
	panes, _ = bars.Split(w, h)
	footer = layout.Rect{X: 0, Y: panes.Y + panes.H, W: w, H: 0}
	if v.o.Footer == nil {
		return panes, footer
	}
	n := min(max(0, v.o.Footer.Height(w, h)), max(0, panes.H-3))
	panes.H -= n
	return panes, layout.Rect{X: 0, Y: panes.Y + panes.H, W: w, H: n}
}

// Theme is how the viewer's own parts look.
func (s Surface) Theme() *theme.Theme { return s.v.look() }

// footerInput gives the footer what a person does, while it is shown.
func (v *viewer) footerInput(in FooterInput) bool {
	_, at := v.areas()
	return at.H > 0 && v.o.Footer.Input(in, v.m.Session(v.m.Focus))
}

func openFooter(v *viewer, as keymap.Action) {
	if v.o.Footer == nil {
		v.message = "there is no prompt here"
		return
	}
	v.o.Footer.Open(FooterHost{v}, as)
}

func (v *viewer) drawFooter() {
	if _, at := v.areas(); at.H > 0 {
		v.o.Footer.Draw(Surface{at.W, at.H, v, at}, v.m.Session(v.m.Focus))
	}
}
