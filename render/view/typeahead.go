package view

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
)

// typeAhead holds keys and pastes, in order, until the pane for which they are meant exists.
type typeAhead struct {
	events      []tcell.Event
	opened      time.Time // when the viewer was opened
	starting    int       // number of sessions being started that will get the focus
	afterPrefix bool      // the last held key was the prefix
}

const (
	// maxTypeAhead limits the held events; further ones are dropped.
	maxTypeAhead = 1 << 16
	// typeAheadTime limits how long keys wait for a started session, or for a host that has not answered.
	typeAheadTime = 5 * time.Second
	// quitTime is how long the keys for quitting wait for the first list of sessions.
	quitTime = time.Second
)

// awaitsPane reports whether the pane that keys are meant for does not exist yet.
func (v *viewer) awaitsPane() bool {
	switch {
	case !v.m.Loaded:
		return true
	case v.overlay != nil:
		return false
	case v.typeAhead.starting > 0, v.m.IsExpected(v.m.Focus):
		return true
	}
	return len(v.m.ShownPanes()) == 0 && v.m.HasUnreachedHost() && v.o.Now().Sub(v.typeAhead.opened) < typeAheadTime
}

// holdInput keeps a key or paste event for later. It returns false if the event can be handled now.
func (v *viewer) holdInput(e tcell.Event) bool {
	if len(v.typeAhead.events) == 0 && !v.awaitsPane() {
		return false
	}
	if k, ok := e.(*tcell.EventKey); ok && !v.m.Loaded {
		v.quitUnloaded(k)
	}
	if len(v.typeAhead.events) == 0 {
		v.after(typeAheadTime, v.dropLate)
	}
	if len(v.typeAhead.events) < maxTypeAhead {
		v.typeAhead.events = append(v.typeAhead.events, e)
	}
	return true
}

// quitUnloaded quits a second after the keys for quitting, unless a list of sessions arrives before.
func (v *viewer) quitUnloaded(e *tcell.EventKey) {
	k := events.Key(e)
	action := v.keys.Direct(k)
	if v.typeAhead.afterPrefix {
		action = v.keys.AfterPrefix(k)
	}
	v.typeAhead.afterPrefix = !v.typeAhead.afterPrefix && k.Is(v.o.Prefix)
	if action == "quit" {
		v.after(quitTime, func() { v.quit = v.quit || !v.m.Loaded })
	}
}

// dropLate drops held events for a started session that has not appeared in time.
func (v *viewer) dropLate() {
	if v.m.Loaded && (v.typeAhead.starting > 0 || v.m.IsExpected(v.m.Focus)) {
		v.typeAhead.starting, v.typeAhead.events = 0, nil
		v.m.Unexpect(v.m.Focus)
		v.message = "not typed: session not started in time"
	}
	v.releaseInput()
}

// releaseInput handles the held events, as far as their pane exists. In a viewer without sessions they were meant for a
// session and are not run as commands.
func (v *viewer) releaseInput() {
	for len(v.typeAhead.events) > 0 && !v.quit && !v.awaitsPane() {
		if len(v.m.ShownPanes()) == 0 {
			v.emptySince = v.o.Now()
		}
		e := v.typeAhead.events[0]
		v.typeAhead.events = v.typeAhead.events[1:]
		v.input(e)
	}
	if len(v.typeAhead.events) == 0 {
		v.typeAhead.events = nil
	}
}

// input handles a key or a paste mark.
func (v *viewer) input(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventKey:
		v.key(e)
	case *tcell.EventPaste:
		v.paste(e.Start())
	}
}
