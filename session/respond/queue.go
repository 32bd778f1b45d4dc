package respond

import (
	"fmt"
	"slices"
	"time"
)

// replyQueue holds the remaining replies of a match.
type replyQueue struct {
	Rule     int               `json:"rule"`
	Steps    []Reply           `json:"steps"`
	Captures map[string]string `json:"captures,omitempty"`
	Due      time.Time         `json:"until,omitzero"` // when the first step's pause or timeout ends; zero: not started
}

// runReplies performs the queued replies as far as possible. It ends an event and returns its actions.
func (e *Engine) runReplies() []Action {
	for len(e.queue) > 0 && !e.done {
		j := &e.queue[0]
		if len(j.Steps) == 0 {
			e.queue = slices.Delete(e.queue, 0, 1)
			continue
		}
		if !e.runStep(j) {
			break
		}
	}
	return e.actions
}

// runStep performs the first step of a queue. It returns false if the step must wait.
func (e *Engine) runStep(j *replyQueue) bool {
	s := j.Steps[0]
	act := Action{Kind: ActionKind(s.Kind), Rule: j.Rule, Value: s.Value}
	switch s.Kind {
	case ReplyFail:
		e.failList(j.Rule, s.Value)
		return true
	case ReplyWait:
		if !e.hasElapsed(j, s.Wait) {
			return false
		}
		j.dropFirst()
		return true
	case ReplySecret:
		if e.echo != EchoOff && !e.set.rules[j.Rule].Force {
			return e.refuseSecret(j)
		}
	case ReplyHook:
		act.Captures = j.Captures
	}
	e.actions = append(e.actions, act)
	j.dropFirst()
	return true
}

// refuseSecret drops a secret and the replies after it once echo has stayed enabled for Set.Grace. It returns false
// before that.
func (e *Engine) refuseSecret(j *replyQueue) bool {
	if !e.hasElapsed(j, e.set.EchoOffGrace) {
		return false
	}
	why := "the terminal echoes"
	if e.echo == EchoApp {
		why = "the program reads keys and may show them (no password box found)"
	}
	e.actions = append(e.actions, Action{Kind: ActRefused, Rule: j.Rule,
		Value: fmt.Sprintf("%s not sent: %s; force it if that is meant", j.Steps[0].Value, why)})
	j.Steps = nil
	return true
}

// WaitsForEchoOff reports whether a secret waits until the terminal disables echo. That causes no output: read the
// terminal's settings every few milliseconds and call SetEcho.
func (e *Engine) WaitsForEchoOff() bool {
	return !e.done && len(e.queue) > 0 && len(e.queue[0].Steps) > 0 && e.queue[0].Steps[0].Kind == ReplySecret
}

// hasElapsed reports whether d has passed since its first call for the queue's first step. The first call starts the timer.
func (e *Engine) hasElapsed(j *replyQueue, d time.Duration) bool {
	if j.Due.IsZero() {
		j.Due = e.now.Add(d)
	}
	return !e.now.Before(j.Due)
}

// dropFirst removes the first step.
func (j *replyQueue) dropFirst() {
	j.Steps, j.Due = j.Steps[1:], time.Time{}
}
