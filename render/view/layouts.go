package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
)

// lastLayout is the name of the layout that the viewer keeps by itself.
const lastLayout = "last"

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
	if v.o.Layout != "" || len(v.m.Only) == 0 {
		b, err := v.o.Layouts.Load(v.ctx, name)
		switch {
		case err != nil:
			v.message = "layout " + name + ": " + err.Error()
		case b == nil && v.o.Layout != "":
			v.message = "there is no layout " + name
		}
		v.layouts.first = b
	}
	v.nameLayouts()
}

func (v *viewer) nameLayouts() {
	names, err := v.o.Layouts.Names(v.ctx)
	if err != nil {
		v.message = "layouts: " + err.Error()
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
	if f, err := model.ParseLayout(b); err != nil {
		v.message = err.Error()
	} else {
		f.Tabs = slices.DeleteFunc(f.Tabs, func(t model.TabFile) bool { return v.o.Layout == "" && !v.m.AnyRuns(t.Tree) && !t.Auto })
		v.m.UseLayout(f)
		for _, t := range v.themes() {
			if t.Name == f.Theme && v.o.Theme == nil && !v.o.NoColor {
				v.theme, v.chosen, v.fresh = t, t.Name, true
			}
		}
	}
}

// useLayout loads a layout by name.
func (v *viewer) useLayout(name string) {
	v.spawn(func() {
		b, err := v.o.Layouts.Load(v.ctx, name)
		v.later(func() {
			if err == nil && b == nil {
				err = fmt.Errorf("there is no layout %s", name)
			}
			var f *model.Layout
			if err == nil {
				f, err = model.ParseLayout(b)
			}
			switch {
			case err != nil:
				v.message = err.Error()
			case !v.m.UseLayout(f):
				v.message = "none of its sessions is there any more"
			}
		})
	})
}

func (v *viewer) layoutBytes() ([]byte, error) {
	f := v.m.Layout()
	f.Theme = v.chosen
	return json.MarshalIndent(f, "", "  ")
}

func (v *viewer) saveAs(name string) {
	b, err := v.layoutBytes()
	if err != nil {
		v.message = "not saved: " + err.Error()
		return
	}
	v.spawn(func() {
		err := v.o.Layouts.Save(v.ctx, name, b)
		v.later(func() {
			if err != nil {
				v.message = "not saved: " + err.Error()
				return
			}
			v.message = "saved as " + name
			v.nameLayouts()
		})
	})
}

// unsaved is the layout if it is not what was saved last.
func (v *viewer) unsaved() []byte {
	if v.o.Layouts == nil || !v.layouts.ready || !v.m.Loaded || len(v.m.Only) > 0 {
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
				v.message = "the layout is not being kept: " + err.Error()
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
