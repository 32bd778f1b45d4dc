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

// FooterHost is what a footer may do with the viewer. Later, Beside and Context may be called
// from any goroutine, the others only on the viewer's.
type FooterHost struct{ v *viewer }

// Later runs f on the viewer's goroutine and draws.
func (h FooterHost) Later(f func()) { h.v.later(f) }

// Beside runs f on a goroutine that the viewer waits for at its end. The context has
// ended then.
func (h FooterHost) Beside(f func()) { h.v.spawn(f) }

// Context ends with the viewer.
func (h FooterHost) Context() context.Context { return h.v.ctx }

// After runs f on the viewer's goroutine in some time.
func (h FooterHost) After(t time.Duration, f func()) { h.v.after(t, f) }

// Say shows a text in the bar, until the next key.
func (h FooterHost) Say(text string) { h.v.message = text }

// Sessions are all sessions that are known, and the focused one's id.
func (h FooterHost) Sessions() (all []model.Session, focus string) {
	return h.v.m.Sessions, h.v.m.Focus
}

// Go focuses a session, wherever it is.
func (h FooterHost) Go(id string) { h.v.m.GoTo(id) }

// Type types a text and Enter into the focused session, or into all of the tab. It
// reports whether there is one that could take it.
func (h FooterHost) Type(text string) bool {
	if !h.v.m.Running(h.v.m.Focus) || h.v.m.ReadOnly {
		return false
	}
	if p := h.v.focused(); p != nil {
		p.Present()
	}
	h.v.act(panes.Input{Paste: &text})
	h.v.act(panes.Input{Key: &input.Key{Code: input.KeyEnter}})
	return true
}

// Themes are the names of themes, and that of the one in use.
func (h FooterHost) Themes() (names []string, now string) {
	for _, t := range h.v.themes() {
		names = append(names, t.Name)
	}
	return names, h.v.theme.Name
}

// SetTheme reports whether there is a theme of that name.
func (h FooterHost) SetTheme(name string) bool {
	all := h.v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == name })
	if i >= 0 {
		h.v.setTheme(all[i])
	}
	return i >= 0
}

// Layouts are the names of layouts that were saved.
func (h FooterHost) Layouts() []string { return h.v.layouts.names }

// SetLayout loads a layout; what goes wrong is said in the bar.
func (h FooterHost) SetLayout(name string) { h.v.layouts.use(name) }

// Chord are the keys of an action, for people.
func (h FooterHost) Chord(a keymap.Action) string { return h.v.keys.Chord(a) }

// Reconfigure takes other options, as when the configuration changed.
func (h FooterHost) Reconfigure(l LiveOptions) error { return h.v.reconfigure(l) }
