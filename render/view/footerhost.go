package view

import (
	"context"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm/input"
)

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
