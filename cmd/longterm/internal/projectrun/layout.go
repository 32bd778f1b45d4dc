//go:build unix

package projectrun

import (
	"cmp"

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
		for _, name := range t.Sessions {
			if s := by[name]; s != nil {
				ids = append(ids, s.Session)
				if name == cmp.Or(t.Focus, name) && focus == "" {
					focus = s.Session
				}
			}
		}
		if len(ids) == 0 {
			continue
		}
		for _, a := range layout.Arrangements {
			if a.Name == t.Arrange {
				l.Tabs = append(l.Tabs, model.TabFile{Name: cmp.Or(t.Name, r.File.Name), Tree: a.Make(usual, ids), Focus: focus})
			}
		}
	}
	if len(l.Tabs) == 0 {
		return nil
	}
	return l
}
