package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// lastLayout is the name of the layout that the viewer keeps by itself.
const lastLayout = "last"

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

// layoutKeeper saves what is on the screen as it changes.
type layoutKeeper struct {
	names []string // that can be loaded
	first []byte   // to begin with
	ready bool     // first was used, or there is none
	saved []byte
	busy  bool
}

// loadLayouts fetches what to begin with.
func (v *viewer) loadLayouts() {
	if v.o.Layouts == nil {
		v.layouts.ready = true
		return
	}
	name := v.o.Layout
	if name == "" {
		name = lastLayout
	}
	if v.o.Layout != "" || len(v.m.only) == 0 {
		b, err := v.o.Layouts.Load(v.ctx, name)
		switch {
		case err != nil:
			v.m.message = "layout " + name + ": " + err.Error()
		case b == nil && v.o.Layout != "":
			v.m.message = "there is no layout " + name
		}
		v.layouts.first = b
	}
	v.nameLayouts()
}

func (v *viewer) nameLayouts() {
	names, err := v.o.Layouts.Names(v.ctx)
	if err != nil {
		v.m.message = "layouts: " + err.Error()
	}
	v.layouts.names = slices.DeleteFunc(names, func(n string) bool { return n == lastLayout })
}

// restoreLayout uses what was loaded, once the sessions are known.
func (v *viewer) restoreLayout() {
	b := v.layouts.first
	v.layouts.first, v.layouts.ready = nil, true
	if b == nil {
		return
	}
	if f, err := readLayout(b); err != nil {
		v.m.message = err.Error()
	} else {
		f.Tabs = slices.DeleteFunc(f.Tabs, func(t tabFile) bool { return v.o.Layout == "" && !v.m.anyRuns(t.Tree) && !t.Auto })
		v.m.use(f)
		for _, t := range v.themes() {
			if t.Name == f.Theme && v.o.Theme == nil && !v.o.NoColor {
				v.theme, v.chosen, v.fresh = t, t.Name, true
			}
		}
	}
}

// anyRuns reports whether a tree has a session that still runs.
func (m *model) anyRuns(n *layout.Node) bool { return slices.ContainsFunc(n.Sessions(), m.running) }

// useLayout loads a layout by name.
func (v *viewer) useLayout(name string) {
	v.spawn(func() {
		b, err := v.o.Layouts.Load(v.ctx, name)
		v.later(func() {
			if err == nil && b == nil {
				err = fmt.Errorf("there is no layout %s", name)
			}
			var f *layoutFile
			if err == nil {
				f, err = readLayout(b)
			}
			switch {
			case err != nil:
				v.m.message = err.Error()
			case !v.m.use(f):
				v.m.message = "none of its sessions is there any more"
			}
		})
	})
}

func (v *viewer) layoutBytes() ([]byte, error) {
	f := v.m.file()
	f.Theme = v.chosen
	return json.MarshalIndent(f, "", "  ")
}

func (v *viewer) saveAs(name string) {
	b, err := v.layoutBytes()
	if err != nil {
		v.m.message = "not saved: " + err.Error()
		return
	}
	v.spawn(func() {
		err := v.o.Layouts.Save(v.ctx, name, b)
		v.later(func() {
			if err != nil {
				v.m.message = "not saved: " + err.Error()
				return
			}
			v.m.message = "saved as " + name
			v.nameLayouts()
		})
	})
}

// unsaved is the layout if it is not what was saved last.
func (v *viewer) unsaved() []byte {
	if v.o.Layouts == nil || !v.layouts.ready || !v.m.loaded || len(v.m.only) > 0 {
		return nil
	}
	b, err := v.layoutBytes()
	if err != nil || bytes.Equal(b, v.layouts.saved) {
		return nil
	}
	return b
}

// saveLayout keeps the layout, at most once a second.
func (v *viewer) saveLayout() {
	b := v.unsaved()
	if b == nil || v.layouts.busy {
		return
	}
	v.layouts.busy, v.layouts.saved = true, b
	v.spawn(func() {
		err := v.o.Layouts.Save(v.ctx, lastLayout, b)
		v.later(func() {
			v.layouts.busy = false
			if err != nil {
				v.m.message = "the layout is not being kept: " + err.Error()
			}
		})
	})
}

// saveTime bounds saving at the end.
const saveTime = 2 * time.Second

func (v *viewer) saveAtEnd() {
	if b := v.unsaved(); b != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), saveTime)
		defer cancel()
		_ = v.o.Layouts.Save(ctx, lastLayout, b) // nobody is left to tell
	}
}
