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

// Desk is what a footer may do with the viewer. Later, Beside and Context may be called
// from any goroutine, the others only on the viewer's.
type Desk struct{ v *viewer }

// Later runs f on the viewer's goroutine and draws.
func (d Desk) Later(f func()) { d.v.later(f) }

// Beside runs f on a goroutine that the viewer waits for at its end. The context has
// ended then.
func (d Desk) Beside(f func()) { d.v.spawn(f) }

// Context ends with the viewer.
func (d Desk) Context() context.Context { return d.v.ctx }

// After runs f on the viewer's goroutine in some time.
func (d Desk) After(t time.Duration, f func()) { d.v.after(t, f) }

// Say shows a text in the bar, until the next key.
func (d Desk) Say(text string) { d.v.message = text }

// Sessions are all sessions that are known, and the focused one's id.
func (d Desk) Sessions() (all []model.Session, focus string) { return d.v.m.Sessions, d.v.m.Focus }

// Go focuses a session, wherever it is.
func (d Desk) Go(id string) { d.v.m.GoTo(id) }

// Type types a text and Enter into the focused session, or into all of the tab. It
// reports whether there is one that could take it.
func (d Desk) Type(text string) bool {
	if !d.v.m.Running(d.v.m.Focus) || d.v.m.ReadOnly {
		return false
	}
	if p := d.v.focused(); p != nil {
		p.Present()
	}
	d.v.act(panes.Input{Paste: &text})
	d.v.act(panes.Input{Key: &input.Key{Code: input.KeyEnter}})
	return true
}

// Themes are the names of themes, and that of the one in use.
func (d Desk) Themes() (names []string, now string) {
	for _, t := range d.v.themes() {
		names = append(names, t.Name)
	}
	return names, d.v.theme.Name
}

// SetTheme reports whether there is a theme of that name.
func (d Desk) SetTheme(name string) bool {
	all := d.v.themes()
	i := slices.IndexFunc(all, func(t *theme.Theme) bool { return t.Name == name })
	if i >= 0 {
		d.v.setTheme(all[i])
	}
	return i >= 0
}

// Layouts are the names of layouts that were saved.
func (d Desk) Layouts() []string { return d.v.layouts.names }

// SetLayout loads a layout; what goes wrong is said in the bar.
func (d Desk) SetLayout(name string) { d.v.layouts.use(name) }

// Chord are the keys of an action, for people.
func (d Desk) Chord(a keymap.Action) string { return d.v.keys.Chord(a) }

// Wear takes other looks, as when the configuration changed.
func (d Desk) Wear(l Looks) error { return d.v.wear(l) }
