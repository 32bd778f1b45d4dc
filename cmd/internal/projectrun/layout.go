//go:build unix

package projectrun

import (
	"cmp"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
)

// usual is the terminal that panes are divided for; they share whatever there is.
var usual = layout.Rect{W: 200, H: 60}

// Layout is the viewer's arrangement of the sessions that are there, as the file has it; nil: there are none.
func (r *Runner) Layout(states []State) *model.Layout {
	by, l := map[string]*State{}, &model.Layout{Version: model.LayoutVersion, Names: map[string]string{}}
	for i := range states {
		if s := &states[i]; s.Session != "" {
			by[s.Name], l.Names[s.Session] = s, s.Called
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
				floats := floating(by, t.Floating)
				l.Tabs = append(l.Tabs, model.TabFile{Name: cmp.Or(t.Name, r.File.Name), Tree: a.Make(usual, ids), Focus: focus, Floats: floats, Over: len(floats) > 0})
				l.Pinned = append(l.Pinned, floating(by, t.Pinned)...)
			}
		}
	}
	if len(l.Tabs) == 0 {
		return nil
	}
	return l
}

// floating are the panes of those that are there.
func floating(by map[string]*State, names []string) (list []layout.Float) {
	for i, name := range names {
		if s := by[name]; s != nil {
			list = append(list, layout.NewFloat(s.Session, i))
		}
	}
	return list
}
