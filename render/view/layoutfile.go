package view

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// layoutFile is a layout as it is kept. Sessions are named by id; their names help to
// find their successors when they are gone.
type layoutFile struct {
	Version int               `json:"version"`
	Tabs    []tabFile         `json:"tabs"`
	Current int               `json:"current"`
	Names   map[string]string `json:"names,omitempty"`
	Theme   string            `json:"theme,omitempty"` // if the person chose one
}

type tabFile struct {
	Name  string       `json:"name,omitempty"`
	Auto  bool         `json:"auto,omitempty"`
	Tree  *layout.Node `json:"tree,omitempty"`
	Focus string       `json:"focus,omitempty"`
	Zoom  bool         `json:"zoom,omitempty"`
}

const layoutVersion = 1

// file is the model's arrangement.
func (m *model) file() layoutFile {
	f := layoutFile{Version: layoutVersion, Current: m.current, Names: map[string]string{}}
	for i, t := range m.tabs {
		tf := tabFile{t.name, t.auto, t.tree, t.focus, t.zoomed}
		if i == m.current {
			tf.Focus, tf.Zoom = m.focus, m.zoomed
		}
		f.Tabs = append(f.Tabs, tf)
		for _, id := range t.tree.Sessions() {
			if s := m.session(id); s != nil {
				f.Names[id] = s.Name
			}
		}
	}
	return f
}

// use arranges what there is of a layout; false when nothing of it is there.
func (m *model) use(f *layoutFile) bool {
	var tabs []*tab
	current := 0
	for i, tf := range f.Tabs {
		t := &tab{name: tf.Name, auto: tf.Auto, focus: m.successor(f, tf.Focus), zoomed: tf.Zoom}
		if !t.auto {
			for _, id := range tf.Tree.Sessions() {
				if now := m.successor(f, id); now != "" && now != id {
					tf.Tree.Rename(id, now)
				}
			}
			t.tree = tf.Tree.Keep(func(id string) bool { return m.session(id) != nil })
			if t.tree == nil {
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
	m.tabs = tabs
	m.enter(current)
	return true
}

// successor is the session that an id of a layout stands for: itself, or one that runs
// under its name now; empty: none.
func (m *model) successor(f *layoutFile, id string) string {
	if m.session(id) != nil {
		return id
	}
	for i := range m.sessions {
		if s := &m.sessions[i]; s.Name == f.Names[id] && s.State == StateRunning {
			return s.ID
		}
	}
	return ""
}

func readLayout(b []byte) (*layoutFile, error) {
	f := &layoutFile{}
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("the layout cannot be read: %w", err)
	}
	if f.Version != layoutVersion {
		return nil, fmt.Errorf("the layout has version %d; this viewer reads version %d", f.Version, layoutVersion)
	}
	const maxTabs = 100
	f.Tabs = f.Tabs[:min(len(f.Tabs), maxTabs)]
	return f, nil
}

// anyRuns reports whether a tree has a session that still runs.
func (m *model) anyRuns(n *layout.Node) bool { return slices.ContainsFunc(n.Sessions(), m.running) }
