package view

import (
	"context"
	"slices"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Footer is a component between panes and bar, such as a prompt line. All its methods
// are called on the viewer's goroutine.
type Footer interface {
	// Open shows the footer in the mode of an action: prompt or shell.
	Open(h FooterHost, as keymap.Action)
	// Height returns the number of rows that it needs on a terminal of this size; 0 hides it.
	Height(cols, rows int) int
	// Draw draws the footer for the focused session, which may be nil.
	Draw(s Surface, session *model.Session)
	// Input handles an event. It returns false for an event that the viewer must handle.
	Input(in FooterInput, session *model.Session) bool
}

// FooterInput is an input event: one of Key, Paste and Mouse is set.
type FooterInput struct {
	Key   *input.Key
	Paste *string
	Mouse *tcell.EventMouse
	X, Y  int // position of the mouse, relative to the footer's upper left corner
}

// Surface is the area on which a footer draws. Positions are relative to its upper left corner.
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
	panes, _ = statusbar.Split(w, h)
	footer = layout.Rect{X: 0, Y: panes.Y + panes.H, W: w, H: 0}
	if v.o.Footer == nil {
		return panes, footer
	}
	n := min(max(0, v.o.Footer.Height(w, h)), max(0, panes.H-3))
	panes.H -= n
	return panes, layout.Rect{X: 0, Y: panes.Y + panes.H, W: w, H: n}
}

// Theme returns the theme of the viewer.
func (s Surface) Theme() *theme.Theme { return s.v.terminalTheme() }

// footerInput passes an event to the footer if it is shown, and reports whether the footer handled it.
func (v *viewer) footerInput(in FooterInput) bool {
	_, at := v.areas()
	return at.H > 0 && v.o.Footer.Input(in, v.m.Session(v.m.Focus))
}

func openFooter(v *viewer, as keymap.Action) {
	if v.o.Footer == nil {
		v.message = "prompt line unavailable"
		return
	}
	v.o.Footer.Open(FooterHost{v}, as)
}

func (v *viewer) drawFooter() {
	if _, at := v.areas(); at.H > 0 {
		v.o.Footer.Draw(Surface{at.W, at.H, v, at}, v.m.Session(v.m.Focus))
	}
}

// FooterHost is the part of the viewer that a footer uses. Later, RunAsync and Context may be called from any
// goroutine, the others only on the viewer's.
type FooterHost struct{ v *viewer }

// Later runs f on the viewer's goroutine, followed by a drawing.
func (h FooterHost) Later(f func()) { h.v.later(f) }

// RunAsync runs f on a goroutine that the viewer waits for at its end. The context has
// ended then.
func (h FooterHost) RunAsync(f func()) { h.v.spawn(f) }

// Context returns a context that ends with the viewer.
func (h FooterHost) Context() context.Context { return h.v.ctx }

// After runs f on the viewer's goroutine after t.
func (h FooterHost) After(t time.Duration, f func()) { h.v.after(t, f) }

// ShowMessage shows a text in the status bar until the next key.
func (h FooterHost) ShowMessage(text string) { h.v.message = text }

// Sessions returns all known sessions and the focused one's id.
func (h FooterHost) Sessions() (all []model.Session, focus string) {
	return h.v.m.Sessions, h.v.m.Focus
}

// Go focuses a session, wherever it is.
func (h FooterHost) Go(id string) { h.v.m.GoTo(id) }

// Type types a text and Enter into the focused session, or into all of the tab. It returns false if none accepts input.
func (h FooterHost) Type(text string) bool {
	if !h.v.m.Running(h.v.m.Focus) || h.v.m.ReadOnly {
		return false
	}
	if p := h.v.focusedPane(); p != nil {
		p.LeaveCopyMode()
	}
	h.v.sendInput(panes.Input{Paste: &text})
	h.v.sendInput(panes.Input{Key: &input.Key{Code: input.KeyEnter}})
	return true
}

// Themes returns the names of all themes and of the current one.
func (h FooterHost) Themes() (names []string, now string) {
	for _, t := range h.v.themes() {
		names = append(names, t.Name)
	}
	return names, h.v.theme.Name
}

// SetTheme applies a theme. It returns false for an unknown name.
func (h FooterHost) SetTheme(name string) bool {
	all := h.v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == name })
	if i >= 0 {
		h.v.setTheme(all[i])
	}
	return i >= 0
}

// Layouts returns the names of the saved layouts.
func (h FooterHost) Layouts() []string { return h.v.layouts.names }

// SetLayout loads a layout. Errors are shown in the status bar.
func (h FooterHost) SetLayout(name string) { h.v.layouts.use(name) }

// Chord returns the keys of an action as a label.
func (h FooterHost) Chord(a keymap.Action) string { return h.v.keys.Chord(a) }

// Reconfigure applies changed options.
func (h FooterHost) Reconfigure(l LiveOptions) error { return h.v.reconfigure(l) }
