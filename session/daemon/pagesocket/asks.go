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

// asks tells what of a session an event about its input changes.
type asks struct {
	T        string        `json:"t"`
	Seq      uint64        `json:"seq"`
	S        string        `json:"s"`
	Needs    *api.Needs    `json:"needs_input,omitempty"`
	Activity *api.Activity `json:"activity,omitempty"`
}

// askings says of sessions what they ask, and not again what the page knows: at a prompt a shell asks with each line.
// It belongs to who tells the page.
type askings struct {
	told map[string]asks // by session, what was told last
	held []asks          // sessions that ask nothing any more, in the order of their events
	due  time.Time       // of the first of held
}

// take takes an event, and is what is to be told now.
func (a *askings) take(v asks, now time.Time) (say []asks) {
	begins := len(a.held) == 0 // what is held anew in place of what was waits no longer than that
	kept := a.held[:0]
	for _, h := range a.held {
		if h.S != v.S {
			kept = append(kept, h)
		}
	}
	a.held = kept
	was, known := a.told[v.S]
	switch {
	case known && same(was, v, now):
		return nil
	case v.Needs == nil && known && was.Needs != nil:
		if begins {
			a.due = now.Add(calmFor)
		}
		a.held = append(a.held, v)
		return nil
	}
	say = a.release()
	a.note(v)
	return append(say, v)
}

// same says whether a page that knows one knows the other.
func same(was, v asks, now time.Time) bool {
	if (was.Needs == nil) != (v.Needs == nil) {
		return false
	}
	if v.Needs != nil {
		a, b := *was.Needs, *v.Needs
		if now.Sub(a.Since) > sameFor {
			return false
		}
		a.Since = b.Since
		if a != b {
			return false
		}
	}
	if was.Activity == nil || v.Activity == nil {
		return was.Activity == v.Activity
	}
	a, b := *was.Activity, *v.Activity
	a.ElapsedMS = b.ElapsedMS
	return reflect.DeepEqual(a, b)
}

// release is what was held back. It is to be told before whatever else happened later: the page says up to which event
// it knows all.
func (a *askings) release() []asks {
	out := a.held
	a.held = nil
	for _, v := range out {
		a.note(v)
	}
	return out
}

func (a *askings) note(v asks) {
	if a.told == nil || len(a.told) >= maxTold {
		a.told = map[string]asks{}
	}
	a.told[v.S] = v
}

// forget notes that the page was told of a session otherwise; "": of all.
func (a *askings) forget(session string) {
	if delete(a.told, session); session == "" {
		clear(a.told)
	}
}
