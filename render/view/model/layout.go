package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Layout is a layout as it is kept. Sessions are named by id; their names help to
// find their successors when they are gone.
type Layout struct {
	Version int               `json:"version"`
	Tabs    []TabFile         `json:"tabs"`
	Current int               `json:"current"`
	Names   map[string]string `json:"names,omitempty"`
	Theme   string            `json:"theme,omitempty"` // if the person chose one
	Pinned  []layout.Float    `json:"pinned,omitempty"`
}

// TabFile is a tab of a layout.
type TabFile struct {
	Name  string       `json:"name,omitempty"`
	Auto  bool         `json:"auto,omitempty"`
	Tree  *layout.Node `json:"tree,omitempty"`
	Focus string       `json:"focus,omitempty"`
	Zoom  bool         `json:"zoom,omitempty"`
	Grid  bool         `json:"grid,omitempty"` // nobody arranged the tree: where its panes cannot be read one is shown

	Floats []layout.Float `json:"floats,omitempty"`
	Over   bool           `json:"floats_shown,omitempty"`
}

// LayoutVersion is that of layouts as they are kept.
const LayoutVersion = 1

// usualArea is the area of a common terminal. It shapes saved trees of tabs that follow the list of sessions.
var usualArea = layout.Rect{W: 160, H: 48}

// Layout is the model's arrangement.
func (m *Model) Layout() Layout {
	f := Layout{Version: LayoutVersion, Current: m.Current, Names: map[string]string{}}
	for i, t := range m.Tabs {
		tf := TabFile{t.Name, t.Auto, t.Tree, t.Focus, t.zoomed, t.asGrid, t.Floats, t.Over}
		if ids := m.Tiled(t); t.Auto && len(m.Only) > 0 && len(ids) > 0 { // other viewers have other sessions
			tf.Auto, tf.Grid, tf.Tree = false, true, layout.Tiles(usualArea, ids)
		}
		if i == m.Current {
			tf.Focus, tf.Zoom = m.Focus, m.Zoomed
		}
		f.Tabs = append(f.Tabs, tf)
		m.nameAll(f.Names, tf.Tree.Sessions())
		m.nameAll(f.Names, sessionsOf(t.Floats))
	}
	f.Pinned = m.Pinned
	m.nameAll(f.Names, sessionsOf(m.Pinned))
	return f
}

func (m *Model) nameAll(names map[string]string, ids []string) {
	for _, id := range ids {
		if s := m.Session(id); s != nil {
			names[id] = s.Name
		}
	}
}

// UseLayout arranges what there is of a layout; false when nothing of it is there.
func (m *Model) UseLayout(f *Layout) bool {
	m.Await(f)
	var tabs []*Tab
	current := 0
	for i, tf := range f.Tabs {
		t := &Tab{Name: tf.Name, Auto: tf.Auto, Focus: m.successor(f, tf.Focus), zoomed: tf.Zoom, asGrid: tf.Grid, Over: tf.Over, Floats: m.floatsOf(f, tf.Floats)}
		if !t.Auto {
			for _, id := range tf.Tree.Sessions() {
				if now := m.successor(f, id); now != "" && now != id {
					tf.Tree.Rename(id, now)
				}
			}
			t.Tree = tf.Tree.Keep(func(id string) bool { return m.Session(id) != nil })
			t.Floats = keptFloats(t.Floats, func(id string) bool { return !t.Tree.Has(id) })
			if t.setTree(t.Tree); t.Tree == nil {
				continue
			}
		}
		if i == f.Current {
			current = len(tabs)
		}
		tabs = append(tabs, t)
	}
	if len(tabs) == 0 {
		return false
	}
	m.Tabs = tabs
	m.Pinned = keptFloats(m.floatsOf(f, f.Pinned), func(id string) bool {
		return !slices.ContainsFunc(tabs, func(t *Tab) bool { return t.floats(id) })
	})
	m.enter(current)
	return true
}

// successor is the session that an id of a layout stands for: itself, or one that runs
// under its name now; empty: none.
func (m *Model) successor(f *Layout, id string) string {
	if m.Session(id) != nil {
		return id
	}
	for i := range m.Sessions {
		if s := &m.Sessions[i]; s.Name == f.Names[id] && s.State == StateRunning {
			return s.ID
		}
	}
	return ""
}

// ParseLayout reads a layout as it was kept.
func ParseLayout(b []byte) (*Layout, error) {
	f := &Layout{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("the layout cannot be read: %w", err)
	}
	if f.Version != LayoutVersion {
		return nil, fmt.Errorf("the layout has version %d; this viewer reads version %d", f.Version, LayoutVersion)
	}
	const maxTabs = 100
	f.Tabs = f.Tabs[:min(len(f.Tabs), maxTabs)]
	return f, nil
}

// Shows reports whether a viewer of these sessions would show anything of a layout: some of its sessions, or a grid of all.
func (f *Layout) Shows(sessions []Session) bool {
	m := New(nil)
	m.Sessions = sessions
	return m.UseLayout(f)
}

// Empty reports whether there is nothing in a layout that could be shown anywhere.
func (f *Layout) Empty() bool {
	return !slices.ContainsFunc(f.Tabs, func(t TabFile) bool {
		named := slices.Concat(t.Tree.Sessions(), sessionsOf(t.Floats))
		return t.Auto || slices.ContainsFunc(named, func(id string) bool { return id != "" })
	})
}

// AnyRuns reports whether a tab has a session that still runs.
func (m *Model) AnyRuns(t *TabFile) bool {
	return slices.ContainsFunc(t.Tree.Sessions(), m.Running) || slices.ContainsFunc(sessionsOf(t.Floats), m.Running)
}

// Call calls the sessions of a layout by other ids.
func (f *Layout) Call(as func(id string) string) {
	names := map[string]string{}
	for id, name := range f.Names {
		names[as(id)] = as(name)
	}
	f.Names = names
	callAll(f.Pinned, as)
	for i := range f.Tabs {
		t := &f.Tabs[i]
		t.Focus = as(t.Focus)
		for _, id := range t.Tree.Sessions() {
			t.Tree.Rename(id, as(id))
		}
		callAll(t.Floats, as)
	}
}
