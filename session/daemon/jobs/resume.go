//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// Load reads the jobs that the previous daemon left. Resume continues them when their sessions are restored.
func (s *Set) Load(ctx context.Context) error {
	var err error
	s.toResume, err = s.store.Jobs(ctx, store.JobQuery{Open: true})
	return errors.Join(err, s.store.PruneJobs(ctx, registry.KeptJobs))
}

// Resume continues the jobs that Load read, and ends warm shells without a job.
func (s *Set) Resume() {
	slices.SortStableFunc(s.toResume, func(a, b store.Job) int { return a.Created.Compare(b.Created) })
	newest := map[string]*Job{}
	for i := range s.toResume {
		if s.toResume[i].Session == "" || s.reg.WasNeverStarted(s.toResume[i].Session) && s.isPendingStart(&s.toResume[i]) { // a user has to allow it first
			if err := s.resumePendingStart(&s.toResume[i]); err != nil {
				s.recordLost(&s.toResume[i], err)
			}
			continue
		}
		if s.reg.WasNeverStarted(s.toResume[i].Session) { // its caller asks again
			if err := s.store.DeleteJob(s.ctx, s.toResume[i].ID); err != nil {
				s.log.Error("forget a job", "job", s.toResume[i].ID, "err", err)
			}
			continue
		}
		if err := s.resumeOne(&s.toResume[i], newest); err != nil {
			s.recordLost(&s.toResume[i], err)
		}
	}
	s.toResume = nil
	s.pool.sweep()
}

var errSessionRemoved = errors.New("the session is gone")

// resumeOne continues a job. newest holds the newest line that was submitted to each session.
func (s *Set) resumeOne(r *store.Job, newest map[string]*Job) error {
	var rec lineRecord // a command's has the same call in it
	if err := json.Unmarshal(r.Request, &rec); err != nil {
		return err
	}
	c := rec.Call
	e := s.reg.ByID(r.Session)
	if e == nil || !e.IsReady() {
		return errSessionRemoved
	}
	command := r.Kind == store.JobCommand
	k, err := s.timeoutsOf(rec.Actor, &c, command)
	if err != nil {
		return err
	}
	c.Job = r.ID
	j, err := s.newJob(e, c, k, r.Line, nil)
	if err != nil {
		return err
	}
	j.request, j.created, j.command = r.Request, r.Created, command
	j.previous.recordOnly, j.previous.rules, j.previous.hadStarted = !command, rec.Rules, r.State == store.JobRunning
	j.timing.from = rec.Admitted
	j.approval.request, j.program.allowed = lineRequest(r.ID, rec.Actor, e, rec.Exec), rec.Foreign
	j.approval.request.Readers = rec.Readers // the request is for these readers, and its approval too
	if command {
		j.approval.request = j.requestOfRecord(r, rec.Actor)
		s.gate.Recall(s.ctx, e.ID(), j.approval.request)
	}
	j.outcome.started.Number = uint64(max(0, r.N))
	if e.IsPooled() {
		j.warm = &warm{Handle: e} // of no rack, so it goes afterwards
	}
	if !command {
		j.previous.line, newest[r.Session] = newest[r.Session], j
	}
	s.mu.Lock()
	s.live[j.id] = j
	s.mu.Unlock()
	j.move(triggerAdopted, nil)
	if command {
		s.follow(j, j.followCommand)
	} else {
		s.follow(j, func(ctx context.Context) { j.followAdopted(ctx, rec.Exec) })
	}
	return nil
}

// recordLost ends the record of a job that cannot be continued.
func (s *Set) recordLost(r *store.Job, err error) {
	res := api.Result{Job: r.ID, Session: r.Session, State: "lost", TimedOut: "none", Mode: "pty", Error: err.Error()}
	r.State, r.Ended = store.JobDone, time.Now()
	r.Result, _ = json.Marshal(res) // of plain values
	if err := s.write(s.ctx, *r); err != nil {
		s.log.Error("record a lost job", "job", r.ID, "err", err)
	}
}

// followAdopted continues a line of the previous daemon. It waits for a line that was typed, and types one that was not.
func (j *Job) followAdopted(ctx context.Context, x api.Exec) {
	typed, err := j.e.Session.WasLineTyped(ctx, j.id) // once the session is rebuilt
	program := false                                  // it was typed into what the shell ran
	if err == nil && !typed {
		program, err = j.e.Session.WasInputTyped(ctx, j.inputID())
	}
	j.mu.Lock()
	numbered := j.outcome.started.Number > 0
	j.previous.typed = (typed || program) && err == nil || numbered
	j.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.fail(err)
	case typed || numbered:
		j.move(triggerSubmitted, nil)
		j.s.gate.Recall(ctx, j.e.ID(), j.approval.request)
		j.awaitAdopted(ctx)
	case program:
		j.move(triggerSubmitted, nil)
		j.submitUnintegrated(ctx)
	case j.previous.rules:
		j.fail(errors.New("it was not typed: the rules it came with went with the daemon before; give it again"))
	default:
		j.reauthorize(ctx, x)
	}
}

// awaitTyped waits for the end of a line that the previous daemon typed into the same shell before this one. If that
// line has not started, the shell is at its prompt: its next command is that line.
func (j *Job) awaitTyped(ctx context.Context) {
	for b := j.previous.line; b != nil; b = b.previous.line {
		if b.await(ctx, statePendingApproval); ctx.Err() != nil { // it has left stateAdopting then
			return
		}
		if b.wasTypedBefore() {
			if !j.program.allowed || b.program.allowed { // else b may have started the program that j is for
				b.await(ctx, stateDone)
			}
			return
		}
	}
}

// awaitAdopted waits for the end of a line that was typed before.
func (j *Job) awaitAdopted(ctx context.Context) {
	if j.findRecorded(ctx) {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = j.e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondExit}}})
	}()
	if !j.awaitFor(ctx, stateRunning, stuckTime) && ctx.Err() == nil && j.e.Session.Status().Shell.Phase == shell.PhasePrompt {
		j.fail(errors.New("its beginning was not seen: the daemon was restarted")) // a comment, for example
	}
	if closed, _ := j.awaitOr(ctx, stateEnded, gone); closed && !j.findRecorded(ctx) { // it ended with its shell, maybe after a command
		j.fail(session.ErrEnded)
	}
	if ctx.Err() != nil {
		<-gone
	}
}

// findRecorded finds the line among the session's recorded commands, and reports whether it ended.
func (j *Job) findRecorded(ctx context.Context) bool {
	j.s.reg.Flush(ctx)
	list, err := j.s.store.Commands(ctx, store.CommandQuery{Session: j.e.ID(), Since: j.created.Add(-registry.ClockTick)})
	if err != nil {
		return false
	}
	j.mu.Lock()
	n := int(j.outcome.started.Number)
	j.mu.Unlock()
	for i := range list {
		r := &list[i]
		if n > 0 && r.N != n || n == 0 && r.Text != j.line {
			continue
		}
		c := commandOf(r)
		j.onCommand(&c, nil)
		return !c.Running
	}
	return false
}

// commandOf returns a command from its record.
func commandOf(r *store.Command) session.Command {
	c := session.Command{Running: r.State == store.CommandRunning}
	c.Number, c.Text, c.Exit, c.Start, c.End = uint64(r.N), r.Text, r.ExitCode, r.From, r.To
	c.Began, c.Command.Ended, c.CwdBefore, c.CwdAfter = r.Started, r.Ended, r.Cwd, r.CwdAfter
	c.Quality = shell.Quality(r.Quality)
	for name, value := range r.Env {
		ch := shell.EnvChange{Kind: shell.EnvUnset, Name: name}
		if value != nil {
			if ch.Kind, ch.Redacted = shell.EnvSet, *value == store.Redacted; !ch.Redacted {
				ch.Value = *value
			}
		}
		c.Env = append(c.Env, ch)
	}
	return c
}
