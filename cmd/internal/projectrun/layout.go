//go:build unix

package projectrun

import (
	"cmp"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

// referenceSize is the terminal size that panes are divided for; viewers scale the shares to their own.
var referenceSize = layout.Rect{W: 200, H: 60}

// Layout returns the viewer layout of the running sessions as the file describes it, or nil without sessions.
func (r *Runner) Layout(states []State) *model.Layout {
	by, l := map[string]*State{}, &model.Layout{Version: model.LayoutVersion, Names: map[string]string{}}
	for i := range states {
		if s := &states[i]; s.Session != "" {
			by[s.Name], l.Names[s.Session] = s, s.SessionName
		}
	}
	tabs := r.File.Tabs
	if len(tabs) == 0 {
		tabs = append(tabs, r.File.AllTab())
	}
	for _, t := range tabs {
		var ids []string
		focus := ""
		if s := by[t.Focus]; s != nil {
			focus = s.Session
		}
		over := slices.Concat(t.Floating, t.Pinned)
		for _, name := range t.Sessions {
			if s := by[name]; s != nil && !slices.Contains(over, name) {
				ids = append(ids, s.Session)
				focus = cmp.Or(focus, s.Session)
			}
		}
		if len(ids) == 0 {
			continue
		}
		for _, a := range layout.Arrangements {
			if a.Name == t.Arrange {
				floats := floatingPanes(by, t.Floating)
				l.Tabs = append(l.Tabs, model.TabFile{Name: cmp.Or(t.Name, r.File.Name), Tree: a.Make(referenceSize, ids), Focus: focus, Floats: floats, Over: len(floats) > 0})
				l.Pinned = append(l.Pinned, floatingPanes(by, t.Pinned)...)
			}
		}
	}
	if len(l.Tabs) == 0 {
		return nil
	}
	return l
}

// floatingPanes returns the floating panes of the named sessions that exist.
func floatingPanes(states map[string]*State, names []string) (list []layout.Float) {
	for i, name := range names {
		if s := states[name]; s != nil {
			list = append(list, layout.NewFloat(s.Session, i))
		}
	}
	return list
}
