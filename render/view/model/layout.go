package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Layout is a layout in its saved form. Sessions are identified by id; their names identify successors of removed
// sessions.
type Layout struct {
	Version int               `json:"version"`
	Tabs    []TabFile         `json:"tabs"`
	Current int               `json:"current"`
	Names   map[string]string `json:"names,omitempty"`
	Theme   string            `json:"theme,omitempty"` // if the user chose one
	Pinned  []layout.Float    `json:"pinned,omitempty"`
}

// TabFile is a tab of a layout.
type TabFile struct {
	Name  string       `json:"name,omitempty"`
	Auto  bool         `json:"auto,omitempty"`
	Tree  *layout.Node `json:"tree,omitempty"`
	Focus string       `json:"focus,omitempty"`
	Zoom  bool         `json:"zoom,omitempty"`
	Grid  bool         `json:"grid,omitempty"` // the tree was generated: if its panes get too small, one is shown

	Floats []layout.Float `json:"floats,omitempty"`
	Over   bool           `json:"floats_shown,omitempty"` // the floating panes are shown
}

// LayoutVersion is the version of saved layouts.
const LayoutVersion = 1

// defaultArea is the area of a common terminal, for saving the trees of tabs that follow the list of sessions.
var defaultArea = layout.Rect{W: 160, H: 48}

// Layout returns the model's arrangement for saving.
func (m *Model) Layout() Layout {
	f := Layout{Version: LayoutVersion, Current: m.Current, Names: map[string]string{}}
	for i, t := range m.Tabs {
		tf := TabFile{t.Name, t.Auto, t.Tree, t.Focus, t.zoomed, t.asGrid, t.Floats, t.FloatsShown}
		if ids := m.TiledPanes(t); t.Auto && len(m.Only) > 0 && len(ids) > 0 { // other viewers have other sessions
			tf.Auto, tf.Grid, tf.Tree = false, true, layout.Tiles(defaultArea, ids)
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

// UseLayout applies the parts of a layout whose sessions exist. It returns false if none does.
func (m *Model) UseLayout(f *Layout) bool {
	m.AwaitHosts(f)
	var tabs []*Tab
	current := 0
	for i, tf := range f.Tabs {
		t := &Tab{Name: tf.Name, Auto: tf.Auto, Focus: m.successor(f, tf.Focus), zoomed: tf.Zoom, asGrid: tf.Grid, FloatsShown: tf.Over, Floats: m.floatsOf(f, tf.Floats)}
		if !t.Auto {
			for _, id := range tf.Tree.Sessions() {
				if now := m.successor(f, id); now != "" && now != id {
					tf.Tree.Rename(id, now)
				}
			}
			t.Tree = tf.Tree.Filter(func(id string) bool { return m.Session(id) != nil })
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
		return !slices.ContainsFunc(tabs, func(t *Tab) bool { return t.isFloating(id) })
	})
	m.enter(current)
	return true
}

// successor returns the session for an id of a layout: that session, or a running one with its name, or "".
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

// ParseLayout parses a saved layout.
func ParseLayout(b []byte) (*Layout, error) {
	f := &Layout{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("layout not readable: %w", err)
	}
	if f.Version != LayoutVersion {
		return nil, fmt.Errorf("layout version %d not supported (this viewer reads version %d)", f.Version, LayoutVersion)
	}
	const maxTabs = 100
	f.Tabs = f.Tabs[:min(len(f.Tabs), maxTabs)]
	return f, nil
}

// Shows reports whether a viewer of these sessions would show any part of a layout: some of its sessions, or a grid of
// all.
func (f *Layout) Shows(sessions []Session) bool {
	m := New(nil)
	m.Sessions = sessions
	return m.UseLayout(f)
}

// Empty reports whether a layout has no session and no tab of all sessions.
func (f *Layout) Empty() bool {
	return !slices.ContainsFunc(f.Tabs, func(t TabFile) bool {
		named := slices.Concat(t.Tree.Sessions(), sessionsOf(t.Floats))
		return t.Auto || slices.ContainsFunc(named, func(id string) bool { return id != "" })
	})
}

// AnyRuns reports whether a tab has a session that runs.
func (m *Model) AnyRuns(t *TabFile) bool {
	return slices.ContainsFunc(t.Tree.Sessions(), m.Running) || slices.ContainsFunc(sessionsOf(t.Floats), m.Running)
}

// RenameSessions replaces the ids of a layout's sessions.
func (f *Layout) RenameSessions(newID func(id string) string) {
	names := map[string]string{}
	for id, name := range f.Names {
		names[newID(id)] = newID(name)
	}
	f.Names = names
	renameAll(f.Pinned, newID)
	for i := range f.Tabs {
		t := &f.Tabs[i]
		t.Focus = newID(t.Focus)
		for _, id := range t.Tree.Sessions() {
			t.Tree.Rename(id, newID(id))
		}
		renameAll(t.Floats, newID)
	}
}
