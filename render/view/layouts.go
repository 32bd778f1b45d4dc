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

// LastOfNamed is the name of the layout that a viewer of named sessions keeps. No viewer starts with it.
const LastOfNamed = "last of named sessions"

// ownName returns the name of the layout that this viewer keeps.
func (k *layoutKeeper) ownName() string {
	if len(k.m.Only) > 0 {
		return LastOfNamed
	}
	return lastLayout
}

// layoutHost is what the keeper of layouts needs of the viewer.
type layoutHost interface {
	// beside runs work beside the viewer's loop, and then on the loop what it returns.
	beside(work func(ctx context.Context) (then func()))
	say(text string)
	// chosenTheme is the theme that the person chose; empty: none.
	chosenTheme() string
}

// layoutKeeper loads layouts, and saves what is on the screen as it changes.
type layoutKeeper struct {
	store Layouts // nil: layouts are not kept
	host  layoutHost
	m     *model.Model
	begin string   // the layout to begin with; empty: the last one
	names []string // that can be loaded
	first []byte   // to begin with
	ready bool     // first was used, or there is none
	fresh bool     // none was ever kept: the person is new here
	saved []byte
	busy  bool
}

// load fetches what to begin with.
func (k *layoutKeeper) load(ctx context.Context) {
	if k.store == nil {
		k.ready = true
		return
	}
	if k.begin != "" {
		b, err := k.store.Load(ctx, k.begin)
		switch {
		case err != nil:
			k.host.say("layout " + k.begin + ": " + err.Error())
		case b == nil:
			k.host.say("there is no layout " + k.begin)
		}
		if k.first = b; b == nil { // the last one it is, which what is shown takes the place of
			k.begin = ""
		}
	}
	if k.begin == "" && len(k.m.Only) == 0 {
		b, err := k.store.Load(ctx, lastLayout)
		if err != nil {
			k.host.say("layout " + lastLayout + ": " + err.Error())
		}
		k.first, k.fresh = b, b == nil && err == nil
	}
	k.list(ctx)
}

// list fetches the names of layouts.
func (k *layoutKeeper) list(ctx context.Context) {
	names, err := k.store.Names(ctx)
	if err != nil {
		k.host.say("layouts: " + err.Error())
	}
	k.names = slices.DeleteFunc(names, func(n string) bool { return n == lastLayout || n == LastOfNamed })
}

// restore uses what was loaded, once the sessions are known; it returns the theme that goes
// with it.
func (k *layoutKeeper) restore() (theme string) {
	b := k.first
	k.first, k.ready = nil, true
	if b == nil {
		return ""
	}
	f, err := model.ParseLayout(b)
	if err != nil {
		k.host.say(err.Error())
		return ""
	}
	k.m.Await(f)
	f.Tabs = slices.DeleteFunc(f.Tabs, func(t model.TabFile) bool { return k.begin == "" && !k.m.AnyRuns(&t) && !t.Auto })
	k.m.UseLayout(f)
	return f.Theme
}

// use loads a layout by name.
func (k *layoutKeeper) use(name string) {
	if k.store == nil {
		k.host.say("layouts are not kept here")
		return
	}
	k.host.beside(func(ctx context.Context) func() {
		b, err := k.store.Load(ctx, name)
		return func() {
			if err == nil && b == nil {
				err = fmt.Errorf("there is no layout %s", name)
			}
			var f *model.Layout
			if err == nil {
				f, err = model.ParseLayout(b)
			}
			switch {
			case err != nil:
				k.host.say(err.Error())
			case !k.m.UseLayout(f):
				k.host.say("none of its sessions is there any more")
			}
		}
	})
}

func (k *layoutKeeper) bytes() ([]byte, error) {
	f := k.m.Layout()
	f.Theme = k.host.chosenTheme()
	return json.MarshalIndent(f, "", "  ")
}

// saveAs saves what is on the screen under a name.
func (k *layoutKeeper) saveAs(name string) {
	b, err := k.bytes()
	if err != nil {
		k.host.say("not saved: " + err.Error())
		return
	}
	k.host.beside(func(ctx context.Context) func() {
		err := k.store.Save(ctx, name, b)
		return func() {
			if err != nil {
				k.host.say("not saved: " + err.Error())
				return
			}
			k.host.say("saved as " + name)
			k.list(ctx)
		}
	})
}

// unsaved is the layout if it is not what was saved last.
func (k *layoutKeeper) unsaved() []byte {
	if k.store == nil || !k.ready || !k.m.Loaded {
		return nil
	}
	b, err := k.bytes()
	if err != nil || bytes.Equal(b, k.saved) {
		return nil
	}
	return b
}

// save keeps the layout, at most once a second.
func (k *layoutKeeper) save() {
	b := k.unsaved()
	if b == nil || k.busy {
		return
	}
	k.busy, k.saved = true, b
	name := k.ownName()
	k.host.beside(func(ctx context.Context) func() {
		err := k.store.Save(ctx, name, b)
		return func() {
			k.busy = false
			if err != nil {
				k.host.say("the layout is not being kept: " + err.Error())
			}
		}
	})
}

// saveTime bounds saving at the end.
const saveTime = 2 * time.Second

// saveAtEnd keeps the layout when ctx has ended, or is about to.
func (k *layoutKeeper) saveAtEnd(ctx context.Context) {
	if b := k.unsaved(); b != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
		_ = k.store.Save(ctx, k.ownName(), b) // the screen is closed: an error cannot be shown
	}
}
