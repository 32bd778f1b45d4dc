//go:build unix

package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store"
)

// state is the state of a job. States are compared by their order: a job has started from stateRunning on, and has
// ended from stateEnded on.
type state uint8

const (
	stateUnrecorded      state = iota // known in memory only
	statePreparing                    // recorded; its request decides whether it starts
	stateAdopting                     // left by the previous daemon; whether its line was typed is not known yet
	statePendingApproval              // a user has to allow it; its timeouts are paused
	stateQueued                       // submitted; the shell has not started it
	stateRunning                      // the shell or program has started it
	statePendingCommit                // it has ended in a draft, and a user has to allow its changes; its timeouts are paused
	stateEnded                        // its end is known, its result is not recorded
	stateHandedOff                    // its record is continued by the next daemon, or by another owner in this one
	stateDone                         // its result is recorded
	stateDropped                      // not started, without a record
	stateCount
)

var stateNames = [stateCount]string{
	"unrecorded", "preparing", "adopting", "pending approval", "queued", "running", "pending commit", "ended", "handed off", "done", "dropped",
}

func (s state) String() string { return stateNames[s] }

// isPaused reports whether a job's timeouts are paused in s.
func (s state) isPaused() bool {
	return s == stateAdopting || s == statePendingApproval || s == statePendingCommit
}

// recordState returns the state that a job's record has in s.
func (s state) recordState() string {
	switch {
	case s < stateRunning:
		return store.JobWaiting
	case s < stateDone:
		return store.JobRunning
	}
	return store.JobDone
}

// trigger is an event that moves a job from one state to another.
type trigger uint8

const (
	triggerRecorded          trigger = iota // a caller's request was accepted
	triggerNotRecorded                      // its record cannot be inserted, because its id is taken for example
	triggerStartAllowed                     // a user allowed a command that is recorded already
	triggerAdopted                          // the daemon read a job of the previous daemon from its record
	triggerApprovalRequested                // the policy demands a user's approval
	triggerAllowed                          // the user allowed the line
	triggerSubmitted                        // the shell, or its queue, has the line
	triggerStarted                          // the shell or program started it
	triggerDraftEnded                       // its end in a draft was seen, and the policy demands a user's approval of its changes
	triggerExited                           // its end was seen
	triggerFailed                           // its end will not be seen
	triggerFinished                         // its result is complete
	triggerDropped                          // it cannot be started
	triggerHandedOff                        // the daemon ends, or the record gets another owner
	triggerCount
)

var triggerNames = [triggerCount]string{
	"recorded", "not recorded", "start allowed", "found", "approval requested", "allowed", "submitted", "began", "draft ended", "exited", "failed", "finished",
	"dropped", "handed off",
}

func (t trigger) String() string { return triggerNames[t] }

// write is what a transition does to the job's record.
type write uint8

const (
	writeNothing write = iota
	insertRecord
	updateRecord
	deleteRecord
)

// transition is a row of the table: the states that a trigger leaves, the next state, and what is written.
type transition struct {
	from  []state
	to    state
	first write  // done before the new state is visible
	then  write  // done after the new state is visible: nothing depends on it
	what  string // names the written record in the state diagram
}

// transitions is the table of all transitions. A trigger has no effect in a state that its row does not list: the first
// end of a job counts, for example, and later ones are ignored.
var transitions = [triggerCount]transition{
	triggerRecorded:          {from: []state{stateUnrecorded}, to: statePreparing, first: insertRecord, what: "the request"},
	triggerNotRecorded:       {from: []state{stateUnrecorded}, to: stateDropped},
	triggerStartAllowed:      {from: []state{stateUnrecorded}, to: statePreparing, first: updateRecord, what: "the session"},
	triggerAdopted:           {from: []state{stateUnrecorded}, to: stateAdopting},
	triggerApprovalRequested: {from: []state{statePreparing, stateAdopting}, to: statePendingApproval},
	triggerAllowed:           {from: []state{statePendingApproval}, to: stateQueued, first: updateRecord, what: "the time of the answer"},
	triggerSubmitted:         {from: []state{statePreparing, stateAdopting}, to: stateQueued},
	triggerStarted: {
		from: []state{statePreparing, stateAdopting, stateQueued, stateRunning}, to: stateRunning, then: updateRecord, what: "the command's number",
	},
	triggerDraftEnded: {from: []state{stateRunning}, to: statePendingCommit},
	triggerExited:     {from: []state{stateAdopting, stateQueued, stateRunning, statePendingCommit}, to: stateEnded},
	triggerFailed:     {from: []state{stateAdopting, statePendingApproval, stateQueued, stateRunning, statePendingCommit}, to: stateEnded},
	triggerFinished:   {from: []state{stateEnded}, to: stateDone, first: updateRecord, what: "the result"},
	triggerDropped:    {from: []state{statePreparing}, to: stateDropped, first: deleteRecord, what: "the record"},
	triggerHandedOff: {
		from: []state{statePreparing, stateAdopting, statePendingApproval, stateQueued, stateRunning, statePendingCommit}, to: stateHandedOff,
	},
}

// leaves reports whether the transition leads out of s.
func (t *transition) leaves(s state) bool { return slices.Contains(t.from, s) }

var errNoTransition = errors.New("the job's state has no such transition")

// machine holds the state of a job and wakes those that wait for it to change. The zero machine is unrecorded.
type machine struct {
	saving sync.Mutex // held while the record is written; taken before mu

	mu       sync.Mutex // guards the state and the job's data; taken after Set.mu
	state    state
	released bool          // callers return although the job continues
	changed  chan struct{} // closed at the next change; nil: nothing waits
}

// apply moves the machine by t. It runs set under mu. If the table has something written first, it then runs persist under
// saving; the new state is visible after both. It returns errNoTransition if t does not leave the state, or the error of
// persist.
func (m *machine) apply(t trigger, set func(), persist func() error) error {
	edge := &transitions[t]
	if edge.first != writeNothing {
		m.saving.Lock()
		defer m.saving.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from := m.state
	if !edge.leaves(from) {
		return errNoTransition
	}
	if set != nil {
		set()
	}
	if edge.first != writeNothing {
		m.mu.Unlock()
		err := persist()
		m.mu.Lock()
		if err != nil {
			return err
		}
		if m.state != from { // it ended while the record was written
			return errNoTransition
		}
	}
	m.state = edge.to
	m.notifyLocked()
	return nil
}

// releaseCallers makes callers return although the job continues.
func (m *machine) releaseCallers() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.released = true
	m.notifyLocked()
}

func (m *machine) notifyLocked() {
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// progress is a snapshot of a machine.
type progress struct {
	state    state
	released bool
	changed  <-chan struct{} // closed when one of them has changed
}

// watch returns the machine's progress.
func (m *machine) watch() progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return progress{m.state, m.released, m.changed}
}

// current returns the current state.
func (m *machine) current() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// hasReached reports whether the machine is in a state, or one beyond it.
func (m *machine) hasReached(at state) bool { return m.current() >= at }

// await waits until the machine has reached a state, or one beyond it. It reports false if ctx ends before.
func (m *machine) await(ctx context.Context, at state) bool {
	_, reached := m.awaitOr(ctx, at, nil)
	return reached
}

// awaitOr is await until other is closed. It also reports whether other was closed first.
func (m *machine) awaitOr(ctx context.Context, at state, other <-chan struct{}) (closed, reached bool) {
	for {
		p := m.watch()
		if p.state >= at {
			return false, true
		}
		select {
		case <-p.changed:
		case <-other:
			return ctx.Err() == nil, m.hasReached(at)
		case <-ctx.Done():
			return false, m.hasReached(at)
		}
	}
}

// awaitFor is await for at most d.
func (m *machine) awaitFor(ctx context.Context, at state, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return m.await(ctx, at)
}
