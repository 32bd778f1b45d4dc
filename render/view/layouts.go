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

// lastLayout is the name of the viewer's automatic layout.
const lastLayout = "last"

// LastOfNamed is the name of the automatic layout of a viewer of named sessions. No viewer starts with it.
const LastOfNamed = "last of named sessions"

// ownName returns the name of this viewer's automatic layout.
func (k *layoutKeeper) ownName() string {
	if len(k.m.Only) > 0 {
		return LastOfNamed
	}
	return lastLayout
}

// layoutHost is the part of the viewer that layoutKeeper uses.
type layoutHost interface {
	// runAsync runs work in the background, then runs the function it returned on the loop.
	runAsync(work func(ctx context.Context) (then func()))
	showMessage(text string)
	// chosenTheme returns the theme that the user chose, or "".
	chosenTheme() string
}

// layoutKeeper loads layouts, and saves the current one when it changes.
type layoutKeeper struct {
	store       Layouts // nil: layouts are not stored
	host        layoutHost
	m           *model.Model
	initialName string   // name of the first layout to load; "": the last one
	names       []string // names of stored layouts
	first       []byte   // the loaded first layout
	ready       bool     // first was used, or none exists
	isNewUser   bool     // no layout was ever saved: the user is new here
	saved       []byte   // the last saved layout
	busy        bool     // a save is in progress
}

// load fetches the first layout.
func (k *layoutKeeper) load(ctx context.Context) {
	if k.store == nil {
		k.ready = true
		return
	}
	if k.initialName != "" {
		b, err := k.store.Load(ctx, k.initialName)
		switch {
		case err != nil:
			k.host.showMessage("layout " + k.initialName + ": " + err.Error())
		case b == nil:
			k.host.showMessage("layout " + k.initialName + " not found")
		}
		if k.first = b; b == nil { // a new layout of this name replaces the last one
			k.initialName = ""
		}
	}
	if k.initialName == "" && len(k.m.Only) == 0 {
		b, err := k.store.Load(ctx, lastLayout)
		if err != nil {
			k.host.showMessage("layout " + lastLayout + ": " + err.Error())
		}
		k.first, k.isNewUser = b, b == nil && err == nil
	}
	k.list(ctx)
}

// list fetches the names of layouts.
func (k *layoutKeeper) list(ctx context.Context) {
	names, err := k.store.Names(ctx)
	if err != nil {
		k.host.showMessage("layouts: " + err.Error())
	}
	k.names = slices.DeleteFunc(names, func(n string) bool { return n == lastLayout || n == LastOfNamed })
}

// restore applies the first layout once the sessions are known, and returns its theme.
func (k *layoutKeeper) restore() (theme string) {
	b := k.first
	k.first, k.ready = nil, true
	if b == nil {
		return ""
	}
	f, err := model.ParseLayout(b)
	if err != nil {
		k.host.showMessage(err.Error())
		return ""
	}
	k.m.AwaitHosts(f)
	f.Tabs = slices.DeleteFunc(f.Tabs, func(t model.TabFile) bool { return k.initialName == "" && !k.m.AnyRuns(&t) && !t.Auto })
	k.m.UseLayout(f)
	return f.Theme
}

// use loads a layout by name.
func (k *layoutKeeper) use(name string) {
	if k.store == nil {
		k.host.showMessage("layouts are not saved here")
		return
	}
	k.host.runAsync(func(ctx context.Context) func() {
		b, err := k.store.Load(ctx, name)
		return func() {
			if err == nil && b == nil {
				err = fmt.Errorf("layout %s not found", name)
			}
			var f *model.Layout
			if err == nil {
				f, err = model.ParseLayout(b)
			}
			switch {
			case err != nil:
				k.host.showMessage(err.Error())
			case !k.m.UseLayout(f):
				k.host.showMessage("layout not loaded: none of its sessions exists")
			}
		}
	})
}

func (k *layoutKeeper) bytes() ([]byte, error) {
	f := k.m.Layout()
	f.Theme = k.host.chosenTheme()
	return json.MarshalIndent(f, "", "  ")
}

// saveAs saves the current layout under a name.
func (k *layoutKeeper) saveAs(name string) {
	b, err := k.bytes()
	if err != nil {
		k.host.showMessage("not saved: " + err.Error())
		return
	}
	k.host.runAsync(func(ctx context.Context) func() {
		err := k.store.Save(ctx, name, b)
		return func() {
			if err != nil {
				k.host.showMessage("not saved: " + err.Error())
				return
			}
			k.host.showMessage("saved as " + name)
			k.list(ctx)
		}
	})
}

// unsavedLayout returns the layout if it differs from the saved one, else nil.
func (k *layoutKeeper) unsavedLayout() []byte {
	if k.store == nil || !k.ready || !k.m.Loaded {
		return nil
	}
	b, err := k.bytes()
	if err != nil || bytes.Equal(b, k.saved) {
		return nil
	}
	return b
}

// save saves the layout if it has changed, at most once a second.
func (k *layoutKeeper) save() {
	b := k.unsavedLayout()
	if b == nil || k.busy {
		return
	}
	k.busy, k.saved = true, b
	name := k.ownName()
	k.host.runAsync(func(ctx context.Context) func() {
		err := k.store.Save(ctx, name, b)
		return func() {
			k.busy = false
			if err != nil {
				k.host.showMessage("layout not saved: " + err.Error())
			}
		}
	})
}

// saveTime is the timeout for saving at the end.
const saveTime = 2 * time.Second

// saveAtEnd keeps the layout when ctx has ended, or is about to.
func (k *layoutKeeper) saveAtEnd(ctx context.Context) {
	if b := k.unsavedLayout(); b != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
		_ = k.store.Save(ctx, k.ownName(), b) // the screen is closed: an error cannot be shown
	}
}
