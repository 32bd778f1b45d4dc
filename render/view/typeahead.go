package view

import (
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
)

// typeAhead holds keys and pastes, in order, until the pane that they are meant for exists.
type typeAhead struct {
	events   []tcell.Event
	opened   time.Time // when the viewer was opened
	starting int       // sessions that are being started and will have the focus
	prefixed bool      // the last key that was held was the prefix
}

const (
	// maxTypeAhead bounds the events that are held; further ones are dropped.
	maxTypeAhead = 1 << 16
	// typeAheadTime bounds how long keys wait for a session that was started, or for a host that has not answered.
	typeAheadTime = 5 * time.Second
	// quitTime is how long the keys that quit wait for the first list of sessions.
	quitTime = time.Second
)

// awaitsPane reports whether the pane that keys are meant for does not exist yet.
func (v *viewer) awaitsPane() bool {
	switch {
	case !v.m.Loaded:
		return true
	case v.over != nil:
		return false
	case v.ahead.starting > 0, v.m.IsExpected(v.m.Focus):
		return true
	}
	return len(v.m.Shown()) == 0 && v.m.NeverHeard() && v.o.Now().Sub(v.ahead.opened) < typeAheadTime
}

// holdInput keeps a key or paste event for later. It returns false if the event can be handled now.
func (v *viewer) holdInput(e tcell.Event) bool {
	if len(v.ahead.events) == 0 && !v.awaitsPane() {
		return false
	}
	if k, ok := e.(*tcell.EventKey); ok && !v.m.Loaded {
		v.quitUnloaded(k)
	}
	if len(v.ahead.events) == 0 {
		v.after(typeAheadTime, v.dropLate)
	}
	if len(v.ahead.events) < maxTypeAhead {
		v.ahead.events = append(v.ahead.events, e)
	}
	return true
}

// quitUnloaded quits a second after the keys that quit, unless a list of sessions comes before.
func (v *viewer) quitUnloaded(e *tcell.EventKey) {
	k := events.Key(e)
	action := v.keys.Direct(k)
	if v.ahead.prefixed {
		action = v.keys.AfterPrefix(k)
	}
	v.ahead.prefixed = !v.ahead.prefixed && k.Is(v.o.Prefix)
	if action == "quit" {
		v.after(quitTime, func() { v.quit = v.quit || !v.m.Loaded })
	}
}

// dropLate drops the events that are held for a started session that has not appeared in time.
func (v *viewer) dropLate() {
	if v.m.Loaded && (v.ahead.starting > 0 || v.m.IsExpected(v.m.Focus)) {
		v.ahead.starting, v.ahead.events = 0, nil
		v.m.Unexpect(v.m.Focus)
		v.message = "not typed: the new session did not come in time"
	}
	v.releaseInput()
}

// releaseInput handles the held events, until a pane is missing. In a viewer without sessions they were meant for a session and
// are not run as commands.
func (v *viewer) releaseInput() {
	for len(v.ahead.events) > 0 && !v.quit && !v.awaitsPane() {
		if len(v.m.Shown()) == 0 {
			v.emptied = v.o.Now()
		}
		e := v.ahead.events[0]
		v.ahead.events = v.ahead.events[1:]
		v.input(e)
	}
	if len(v.ahead.events) == 0 {
		v.ahead.events = nil
	}
}

// input handles a key, or a mark of a paste.
func (v *viewer) input(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventKey:
		v.key(e)
	case *tcell.EventPaste:
		v.paste(e.Start())
	}
}
