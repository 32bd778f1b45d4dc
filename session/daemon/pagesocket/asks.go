//go:build unix

package pagesocket

import (
	"reflect"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

const (
	// clearDelay delays the report that a session no longer needs input: at a prompt it needs input again at once.
	clearDelay = 500 * time.Millisecond
	// samePromptTime is how long needed input keeps its start time if it is interrupted for less than clearDelay.
	samePromptTime = time.Minute
	// maxReported bounds the number of sessions whose reported state is remembered.
	maxReported = 1024
)

// promptState is the part of a session's state that input events report.
type promptState struct {
	needs    *api.InputRequest
	activity *api.Activity
}

// inputFilter filters input events: it drops those that report what the page already knows, as a shell needs input
// again after each line. Only the goroutine that writes events uses it.
type inputFilter struct {
	reported map[string]promptState // by session, the state reported last
	held     []api.Event            // events of sessions that no longer need input, in order
	due      time.Time              // of the first of held
}

// add adds an event and returns those to report now.
func (a *inputFilter) add(e api.Event, now time.Time) (say []api.Event) {
	v, id := promptState{e.Session.Needs, e.Session.Activity}, e.Session.ID
	begins := len(a.held) == 0 // an event that replaces a held one does not wait longer than that one
	kept := a.held[:0]
	for _, h := range a.held {
		if h.Session.ID != id {
			kept = append(kept, h)
		}
	}
	a.held = kept
	was, known := a.reported[id]
	switch {
	case known && isSamePrompt(was, v, now):
		return nil
	case v.needs == nil && known && was.needs != nil:
		if begins {
			a.due = now.Add(clearDelay)
		}
		a.held = append(a.held, e)
		return nil
	}
	say = a.release()
	a.note(&e)
	return append(say, e)
}

// isSamePrompt reports whether two states look alike to the page.
func isSamePrompt(was, v promptState, now time.Time) bool {
	if (was.needs == nil) != (v.needs == nil) {
		return false
	}
	if v.needs != nil {
		a, b := *was.needs, *v.needs
		if now.Sub(a.Since) > samePromptTime {
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
	} else if v.needs == nil { // activity does not matter to a session that needs input
		return false
	}
	a.ElapsedMS = b.ElapsedMS
	return reflect.DeepEqual(a, b)
}

// release returns the held events. Call it before later events are reported, because the page acknowledges all events
// up to a number.
func (a *inputFilter) release() []api.Event {
	out := a.held
	a.held = nil
	for i := range out {
		a.note(&out[i])
	}
	return out
}

// note records the state reported to the page.
func (a *inputFilter) note(e *api.Event) {
	if a.reported == nil || len(a.reported) >= maxReported {
		a.reported = map[string]promptState{}
	}
	a.reported[e.Session.ID] = promptState{e.Session.Needs, e.Session.Activity}
}

// forget drops the state recorded for a session, or for all if session is empty.
func (a *inputFilter) forget(session string) {
	if delete(a.reported, session); session == "" {
		clear(a.reported)
	}
}
