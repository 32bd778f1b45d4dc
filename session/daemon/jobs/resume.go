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

// Load reads the jobs that the daemon before left; resume goes on with them once their
// sessions are there.
func (s *Set) Load(ctx context.Context) error {
	var err error
	s.found, err = s.store.Jobs(ctx, store.JobQuery{Open: true})
	return errors.Join(err, s.store.PruneJobs(ctx, registry.KeptJobs))
}

// Resume goes on with the jobs that Load read, and ends warm shells that none runs in.
func (s *Set) Resume() {
	slices.SortStableFunc(s.found, func(a, b store.Job) int { return a.Created.Compare(b.Created) })
	newest := map[string]*Job{}
	for i := range s.found {
		if s.found[i].Session == "" || s.reg.WasUnborn(s.found[i].Session) && s.isWanted(&s.found[i]) { // a person has to allow it first
			if err := s.wantAgain(&s.found[i]); err != nil {
				s.lost(&s.found[i], err)
			}
			continue
		}
		if s.reg.WasUnborn(s.found[i].Session) { // its caller asks again
			if err := s.store.DeleteJob(s.ctx, s.found[i].ID); err != nil {
				s.log.Error("forget a job", "job", s.found[i].ID, "err", err)
			}
			continue
		}
		if err := s.resumeOne(&s.found[i], newest); err != nil {
			s.lost(&s.found[i], err)
		}
	}
	s.found = nil
	s.pool.sweep()
}

var errSessionGone = errors.New("the session is gone")

// resumeOne goes on with a job. newest has the newest line that each session was given before.
func (s *Set) resumeOne(r *store.Job, newest map[string]*Job) error {
	var rec lineRecord // a command's has the same call in it
	if err := json.Unmarshal(r.Request, &rec); err != nil {
		return err
	}
	c := rec.Call
	e := s.reg.ByID(r.Session)
	if e == nil || !e.Ready() {
		return errSessionGone
	}
	command := r.Kind == store.JobCommand
	k, err := s.clocksOf(rec.Actor, &c, command)
	if err != nil {
		return err
	}
	c.Job = r.ID
	j, err := s.newJob(e, c, k, r.Line, nil)
	if err != nil {
		return err
	}
	j.req, j.began, j.command = r.Request, r.Created, command
	j.found.Store(!command)
	j.ruled = rec.Rules
	j.held, j.runsFrom = !command, rec.Admitted // until it is known whether the line was typed
	j.asking, j.orUnintegrated = askLine(r.ID, rec.Actor, e, rec.Exec), rec.Foreign
	j.asking.Readers = rec.Readers // what a person is asked about, or has allowed, is for them
	if command {
		j.asking = askFound(r, rec.Actor)
		s.gate.Recall(s.ctx, e.ID(), j.asking)
	}
	j.started.Number = uint64(max(0, r.N))
	if e.Pooled() {
		j.warm = &warm{Handle: e} // of no rack, so it goes afterwards
	}
	s.mu.Lock()
	s.live[j.id] = j
	s.mu.Unlock()
	if command {
		s.start(j, j.followCommand)
	} else {
		j.behind, newest[r.Session], j.placed = newest[r.Session], j, make(chan struct{})
		s.start(j, func(ctx context.Context) { j.followFound(ctx, rec.Exec) })
	}
	return nil
}

// lost ends the record of a job that cannot be gone on with.
func (s *Set) lost(r *store.Job, err error) {
	res := api.Result{Job: r.ID, Session: r.Session, State: "lost", TimedOut: "none", Mode: "pty", Error: err.Error()}
	r.State, r.Ended = store.JobDone, time.Now()
	r.Result, _ = json.Marshal(res) // of plain values
	if err := s.write(s.ctx, *r); err != nil {
		s.log.Error("record a lost job", "job", r.ID, "err", err)
	}
}

// followFound goes on with a line that the daemon before had: one that was typed is
// waited for, one that was not is typed.
func (j *Job) followFound(ctx context.Context, x api.Exec) {
	typed, err := j.e.Session.Typed(ctx, j.id) // once the session is rebuilt
	program := false                           // it was typed into what the shell ran
	if err == nil && !typed {
		program, err = j.e.Session.TypedInput(ctx, j.inputID())
	}
	j.typedBefore = (typed || program) && err == nil || j.started.Number > 0
	close(j.placed)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.letRun(j.since(), "")
		j.fail(err)
	case typed || j.started.Number > 0:
		j.letRun(j.since(), "")
		j.s.gate.Recall(ctx, j.e.ID(), j.asking)
		j.awaitFound(ctx)
	case program:
		j.letRun(j.since(), "")
		j.goUnintegrated(ctx)
	case j.ruled:
		j.letRun(j.since(), "")
		j.fail(errors.New("it was not typed: the rules it came with went with the daemon before; give it again"))
	default:
		j.askAgain(ctx, x)
	}
}

// awaitTyped waits for the end of a line that the daemon before typed into the same shell before this one. It may
// not have begun: the shell is at its prompt then, and what it begins with next is that line.
func (j *Job) awaitTyped(ctx context.Context) {
	for b := j.behind; b != nil; b = b.behind {
		if waitFor(ctx, b.placed); ctx.Err() != nil {
			return
		}
		if b.typedBefore {
			if !j.orUnintegrated || b.orUnintegrated { // else b may have started the program that j is for
				waitFor(ctx, b.over)
			}
			return
		}
	}
}

func waitFor(ctx context.Context, c <-chan struct{}) {
	select {
	case <-c:
	case <-ctx.Done():
	}
}

// awaitFound waits for the end of a line that was typed before.
func (j *Job) awaitFound(ctx context.Context) {
	if j.recall(ctx) {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = j.e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}})
	}()
	if !waitClosed(ctx, j.begun, stuckTime) && ctx.Err() == nil && j.e.Session.Status().Shell.Phase == shell.PhasePrompt {
		j.fail(errors.New("its beginning was not seen: the daemon was restarted")) // a comment, say
	}
	select {
	case <-ctx.Done():
	case <-j.ended:
	case <-gone: // with its shell; what it ended with may have been told
		if !j.recall(ctx) {
			j.fail(session.ErrEnded)
		}
	}
	if ctx.Err() != nil {
		<-gone
	}
}

// recall looks the line up among the commands that were recorded, and reports whether it
// ended.
func (j *Job) recall(ctx context.Context) bool {
	j.s.reg.Flush(ctx)
	list, err := j.s.store.Commands(ctx, store.CommandQuery{Session: j.e.ID(), Since: j.began.Add(-registry.ClockTick)})
	if err != nil {
		return false
	}
	j.mu.Lock()
	n := int(j.started.Number)
	j.mu.Unlock()
	for i := range list {
		r := &list[i]
		if n > 0 && r.N != n || n == 0 && r.Text != j.line {
			continue
		}
		c := recalled(r)
		j.saw(&c)
		return !c.Running
	}
	return false
}

// recalled is a command as its record tells it.
func recalled(r *store.Command) session.Command {
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
