//go:build unix

package pagesocket

import (
	"reflect"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

const (
	// calmFor is for how long it is not told that a session asks nothing any more: at a prompt it asks again at once.
	calmFor = 500 * time.Millisecond
	// sameFor is for how long what a session asks counts as asked since then, if it asks nothing in between for less
	// than calmFor.
	sameFor = time.Minute
	// maxTold bounds the sessions of which it is known what the page was told.
	maxTold = 1024
)

// asks is what the input of a session's program is told by.
type asks struct {
	needs    *api.Needs
	activity *api.Activity
}

// askings says of sessions what they ask, and not again what the page knows: at a prompt a shell asks with each line.
// It belongs to who tells the page.
type askings struct {
	told map[string]asks // by session, what was told last
	held []api.Event     // sessions that ask nothing any more, in the order of their events
	due  time.Time       // of the first of held
}

// take takes an event, and is what is to be told now.
func (a *askings) take(e api.Event, now time.Time) (say []api.Event) {
	v, id := asks{e.Session.Needs, e.Session.Activity}, e.Session.ID
	begins := len(a.held) == 0 // what is held anew in place of what was waits no longer than that
	kept := a.held[:0]
	for _, h := range a.held {
		if h.Session.ID != id {
			kept = append(kept, h)
		}
	}
	a.held = kept
	was, known := a.told[id]
	switch {
	case known && same(was, v, now):
		return nil
	case v.needs == nil && known && was.needs != nil:
		if begins {
			a.due = now.Add(calmFor)
		}
		a.held = append(a.held, e)
		return nil
	}
	say = a.release()
	a.note(&e)
	return append(say, e)
}

// same says whether a page that knows one knows the other.
func same(was, v asks, now time.Time) bool {
	if (was.needs == nil) != (v.needs == nil) {
		return false
	}
	if v.needs != nil {
		a, b := *was.needs, *v.needs
		if now.Sub(a.Since) > sameFor {
			return false
		}
		a.Since = b.Since
		if a != b {
			return false
		}
	}
	if v.activity == nil {
		return was.activity == nil
	}
	a, b := api.Activity{N: v.activity.N, Running: true}, *v.activity
	if was.activity != nil {
		a = *was.activity
	} else if v.needs == nil { // for who asks it changes nothing that something runs
		return false
	}
	a.ElapsedMS = b.ElapsedMS
	return reflect.DeepEqual(a, b)
}

// release is what was held back. It is to be told before whatever else happened later: the page says up to which event
// it knows all.
func (a *askings) release() []api.Event {
	out := a.held
	a.held = nil
	for i := range out {
		a.note(&out[i])
	}
	return out
}

// note notes what the page is told.
func (a *askings) note(e *api.Event) {
	if a.told == nil || len(a.told) >= maxTold {
		a.told = map[string]asks{}
	}
	a.told[e.Session.ID] = asks{e.Session.Needs, e.Session.Activity}
}

// forget notes that it is not known what the page was told of a session; "": of any.
func (a *askings) forget(session string) {
	if delete(a.told, session); session == "" {
		clear(a.told)
	}
}
