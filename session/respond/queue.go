package respond

import (
	"fmt"
	"slices"
	"time"
)

// job holds the remaining replies of a firing.
type job struct {
	Rule     int               `json:"rule"`
	Steps    []Reply           `json:"steps"`
	Captures map[string]string `json:"captures,omitempty"`
	Until    time.Time         `json:"until,omitzero"` // when the first step's pause or timeout ends
}

// pump performs the queue as far as possible, and ends an event.
func (e *Engine) pump() []Action {
	for len(e.queue) > 0 && !e.done {
		j := &e.queue[0]
		if len(j.Steps) == 0 {
			e.queue = slices.Delete(e.queue, 0, 1)
			continue
		}
		if !e.step(j) {
			break
		}
	}
	return e.out
}

// step performs the first step of a job, and reports whether the job is done.
func (e *Engine) step(j *job) bool {
	s := j.Steps[0]
	act := Action{Kind: ActionKind(s.Kind), Rule: j.Rule, Value: s.Value}
	switch s.Kind {
	case ReplyFail:
		e.fail(j.Rule, s.Value)
		return true
	case ReplyWait:
		if !e.hasElapsed(j, s.Wait) {
			return false
		}
		j.next()
		return true
	case ReplySecret:
		if e.echo != EchoOff && !e.set.rules[j.Rule].Force {
			return e.refuse(j)
		}
	case ReplyHook:
		act.Captures = j.Captures
	}
	e.out = append(e.out, act)
	j.next()
	return true
}

// refuse drops a secret, and the replies after it, if echo stays enabled for Set.Grace.
func (e *Engine) refuse(j *job) bool {
	if !e.hasElapsed(j, e.set.Grace) {
		return false
	}
	why := "the terminal echoes"
	if e.echo == EchoApp {
		why = "the program reads keys and may show them (no password box found)"
	}
	e.out = append(e.out, Action{Kind: ActRefused, Rule: j.Rule,
		Value: fmt.Sprintf("%s not sent: %s; force it if that is meant", j.Steps[0].Value, why)})
	j.Steps = nil
	return true
}

// WaitsForSilence reports whether a secret waits for the echo to be disabled. That causes no output: read the
// terminal's settings every few milliseconds and call Echo.
func (e *Engine) WaitsForSilence() bool {
	return !e.done && len(e.queue) > 0 && len(e.queue[0].Steps) > 0 && e.queue[0].Steps[0].Kind == ReplySecret
}

// hasElapsed reports whether d has passed since a job's first step was first tried.
func (e *Engine) hasElapsed(j *job, d time.Duration) bool {
	if j.Until.IsZero() {
		j.Until = e.now.Add(d)
	}
	return !e.now.Before(j.Until)
}

func (j *job) next() {
	j.Steps, j.Until = j.Steps[1:], time.Time{}
}
