//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/turns"
	"github.com/longterm-dev/longterm/store"
)

// Every command that is run for any caller is a job (R1).

// Exec runs a line in a session's shell.
func (s *Set) Exec(ctx context.Context, e *registry.Handle, x api.Exec) (api.Result, error) {
	return s.lineIn(ctx, e, x, lineDigest(e.ID(), &x), nil)
}

// lineIn does so; asked is the digest of what was asked for, w the warm shell that e is, if it is one.
func (s *Set) lineIn(ctx context.Context, e *registry.Handle, x api.Exec, asked string, w *warm) (api.Result, error) {
	begun := false
	defer func() {
		if w != nil && !begun {
			s.pool.used(w)
			s.pool.end(w.Handle)
		}
	}()
	if err := s.reg.CheckSandbox(e, x.Sandbox, x.OnDifference); err != nil {
		return api.Result{}, err
	}
	k, err := s.clocksOf(actor.Of(ctx), &x.Call, false)
	if err == nil {
		err = s.gate.Check(x.Policy)
	}
	if err != nil {
		return api.Result{}, err
	}
	stored := lineRecord{Exec: x, Rules: x.Respond != nil, Actor: actor.Of(ctx), Asked: asked}
	asking := askLine("", stored.Actor, e, x)
	stored.Readers = asking.Readers
	stored.Respond = nil // there may be secrets in them
	j, err := s.newJob(e, x.Call, k, x.Line, stored)
	if err != nil {
		return api.Result{}, err
	}
	if err := s.record(ctx, j); errors.Is(err, store.ErrJobExists) {
		return s.rejoin(ctx, &x.Call, asked, false, &x.Asking)
	} else if err != nil {
		return api.Result{}, err
	}
	j.orUnintegrated = x.Foreign
	j.asking, j.asking.ID = asking, j.id
	if err := j.askable(ctx, x); err != nil {
		s.drop(j)
		return api.Result{}, err
	}
	answer, pending, err := s.gate.Begin(ctx, j.asking)
	if err != nil {
		s.drop(j)
		return api.Result{}, err
	}
	give := func(ctx context.Context) (follow func(context.Context), err error) { return j.giveLine(ctx, x) }
	follow := func(ctx context.Context) {
		x.Wait = x.Wait || !x.Foreign // what a person has allowed is not given back because another line was faster
		j.followApproval(ctx, pending, give)
	}
	if pending == nil {
		if follow, err = give(ctx); err != nil {
			s.gate.Landed(e.ID(), j.id)
			s.drop(j)
			return api.Result{}, err
		}
		j.approval = answer.Approval
	} else {
		j.hold(pending)
	}
	j.warm, begun = w, true
	s.start(j, follow)
	r, err := j.await(ctx, &x.Call, &x.Asking, endsByCaller)
	if w != nil && err == nil && isClosed(j.over) && !r.Truncated {
		afterAnswer(ctx, func() { s.pool.end(e) })
	}
	return r, err
}

// askable says why a line would not be given to the shell at all: nobody is asked whether it may be then. What the rules
// deny they deny first.
func (j *Job) askable(ctx context.Context, x api.Exec) error {
	ended := j.e.Session.Status().State != session.Running
	if !ended && (x.Wait || x.Foreign) || j.s.gate.Judge(j.asking).Verdict != policy.Ask {
		return nil
	}
	if ended {
		return session.ErrEnded
	}
	_, err := j.e.Session.Exec(ctx, session.Line{Text: x.Line, Try: true})
	if errors.Is(err, session.ErrBusy) {
		return err
	}
	return nil
}

// giveLine gives the line to the shell, or to the program that it runs, and says how it is followed.
func (j *Job) giveLine(ctx context.Context, x api.Exec) (func(context.Context), error) {
	follow := j.followLine // unless the program tells nothing of its commands
	run, err := (*session.Run)(nil), session.ErrBusy
	if !gateway.ReadCode(j.asking.Readers) { // else it is the program's and not the shell's, even if that is back
		run, err = j.e.ExecWithRules(actor.With(ctx, j.asking.Actor), session.Line{
			Text: x.Line, Wait: x.Wait && !x.Foreign, ID: j.id, By: registry.Typist(j.asking.Actor, false), Record: x.History || j.s.conf.Get().Shells.History,
		}, x.Respond)
	}
	program := x.Foreign || gateway.ReadCode(j.asking.Readers)
	if x.Respond == nil && (errors.Is(err, session.ErrNoShell) || program && errors.Is(err, session.ErrBusy)) {
		run, follow = nil, j.followUnintegrated
		j.s.gate.NotGiven(j.e.ID(), j.id)
		err = j.typeUnintegrated(ctx, x.Wait)
	}
	if errors.Is(err, session.ErrStopped) { // it was not given to the shell
		err = registry.Replaced()
	}
	if err != nil {
		j.s.gate.NotGiven(j.e.ID(), j.id)
		return nil, err
	}
	j.give(run)
	return follow, nil
}

// lineRecord is what is kept of a request for a line.
type lineRecord struct {
	api.Exec
	Asked    string      `json:"asked,omitempty"` // digest of what was asked for
	Rules    bool        `json:"rules,omitempty"` // it came with rules
	Actor    actor.Actor `json:"actor"`
	Admitted time.Time   `json:"admitted,omitzero"` // when a person had allowed it
	Readers  []string    `json:"readers,omitempty"` // as whose code it was judged
}

// leave lets go of a job that did not begin here.
func (s *Set) leave(j *Job) {
	s.forget(j)
	closeOnce(j.settled)
}

// drop undoes the record of a job that did not begin. Who asked for it again meanwhile is
// told so.
func (s *Set) drop(j *Job) {
	s.leave(j)
	s.unwritten.Drop(j.id)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.store.DeleteJob(ctx, j.id); err != nil && !errors.Is(err, store.ErrNoJob) {
		s.log.Error("forget a job", "job", j.id, "err", err)
	}
}

// Run runs a command in a session of its own.
func (s *Set) Run(ctx context.Context, x api.Run) (api.Result, error) {
	asked := runDigest(&x)
	if x.Job != "" && s.exists(ctx, x.Job) {
		return s.rejoin(ctx, &x.Call, asked, x.Start, &x.Asking)
	}
	if s.ctx.Err() != nil {
		return api.Result{}, registry.Replaced()
	}
	if x.Warm && x.Sandbox != "" {
		return api.Result{}, api.Errorf(api.CodeInvalid, "a warm shell was started before, in no sandbox").WithHint("leave --warm or --sandbox out")
	}
	if x.Warm {
		return s.warm(ctx, x, asked)
	}
	k, err := s.clocksOf(actor.Of(ctx), &x.Call, true)
	if err != nil {
		return api.Result{}, err
	}
	if len(x.Argv) == 0 && x.Line == "" {
		return api.Result{}, api.Errorf(api.CodeInvalid, "the command is empty").WithHint("give argv or line")
	}
	if err := s.gate.Check(x.Policy); err != nil {
		return api.Result{}, err
	}
	if x.Job == "" {
		x.Job = uuid.NewString()
	}
	asking := askRun(actor.Of(ctx), &x)
	answer, pending, err := s.gate.Begin(ctx, asking)
	if err != nil {
		return api.Result{}, err
	}
	if pending != nil {
		w, err := s.want(ctx, x, asking, pending)
		if errors.Is(err, store.ErrJobExists) { // its caller asked twice at once
			pending.Later()
			return s.rejoin(ctx, &x.Call, asked, x.Start, &x.Asking)
		}
		if err != nil {
			pending.Later()
			return api.Result{}, err
		}
		return w.await(ctx, &x.Call, x.Start, &x.Asking)
	}
	j, err := s.startRun(ctx, x, k, false, func(j *Job) { j.admittedTo(asking, answer) })
	if errors.Is(err, store.ErrJobExists) { // its caller asked twice at once
		return s.rejoin(ctx, &x.Call, asked, x.Start, &x.Asking)
	}
	if err != nil {
		return api.Result{}, err
	}
	return j.firstAnswer(ctx, &x)
}

// startRun starts a command in a session of its own, as a job. known says that its record is there; tell is told of
// the job before anything is started.
func (s *Set) startRun(ctx context.Context, x api.Run, k clocks, known bool, tell func(*Job)) (*Job, error) {
	x.Temporary = !x.Keep && !inBackground(&x.Call)
	stored := runRecord{Run: x, Actor: actor.Of(ctx), Asked: runDigest(&x)}
	stored.Env = nil // what it was started with is the session's business
	var j *Job
	_, err := s.reg.CreateRecorded(ctx, x.NewSession, x.Job, func(e *registry.Handle) error {
		made, err := s.newJob(e, x.Call, k, textOf(&x), stored)
		if err != nil {
			return err
		}
		made.command, made.known = true, known
		if err := s.record(ctx, made); err != nil {
			return err
		}
		j = made
		tell(j)
		return nil
	})
	switch {
	case err != nil && j != nil && s.Leaving():
		s.leave(j)
		return nil, registry.Replaced() // it is found again by its job
	case err != nil && j != nil && known:
		s.leave(j)
		return nil, err
	case err != nil && j != nil:
		s.drop(j)
		return nil, err
	case err != nil:
		return nil, err
	}
	s.start(j, j.followCommand)
	return j, nil
}

// firstAnswer is what the caller of a command that was started gets.
func (j *Job) firstAnswer(ctx context.Context, x *api.Run) (api.Result, error) {
	if x.Start {
		return j.answer(ctx, 0), nil
	}
	r, err := j.await(ctx, &x.Call, &x.Asking, endsByCaller)
	if err == nil && isClosed(j.over) && j.e.Temporary() && !r.Truncated && len(r.Background) == 0 {
		afterAnswer(ctx, func() { j.s.reg.RemoveEnded(j.e) })
	}
	return r, err
}

// textOf is a command as people read it.
func textOf(x *api.Run) string {
	if x.Line != "" {
		return x.Line
	}
	return shellquote.Line(x.Argv)
}

// runRecord is what is kept of a request for a command.
type runRecord struct {
	api.Run
	Asked string      `json:"asked,omitempty"` // digest of what was asked for
	Actor actor.Actor `json:"actor"`
}

// warm runs a line in a warm shell of the pool.
func (s *Set) warm(ctx context.Context, x api.Run, asked string) (api.Result, error) {
	if x.Line == "" || len(x.Argv) > 0 || x.Keep || x.Pipe || x.Start || x.Name != "" {
		return api.Result{}, api.Errorf(api.CodeInvalid, "a warm shell is given a line, and no name, pipes or session to keep").
			WithHint("use `longterm new` and `longterm exec` for more")
	}
	w, err := s.pool.take(ctx, x.NewSession)
	if err != nil {
		return api.Result{}, err
	}
	if x.OnTimeout == "" {
		x.OnTimeout = "kill"
	}
	return s.lineIn(ctx, w.Handle, api.Exec{Call: x.Call, Line: x.Line, Asking: x.Asking}, asked, w)
}

func (s *Set) exists(ctx context.Context, id string) bool {
	if s.await(ctx, id) != nil || s.wantedByID(id) != nil {
		return true
	}
	_, err := s.row(ctx, id)
	return err == nil
}

// rejoin answers a call whose job is there already: its caller lost the connection. start
// says that the caller only wants it started, and asks for its end afterwards; asked is the digest of its call.
func (s *Set) rejoin(ctx context.Context, c *api.Call, asked string, start bool, how *api.Asking) (api.Result, error) {
	if err := s.checkSame(ctx, c.Job, asked); err != nil {
		return api.Result{}, err
	}
	if w := s.wantedByID(c.Job); w != nil {
		return w.await(ctx, c, start, how)
	}
	switch j := s.await(ctx, c.Job); {
	case j != nil && start:
		return j.answer(ctx, 0), nil
	case j != nil:
		return j.await(ctx, c, how, endsByCaller)
	}
	r, err := s.row(ctx, c.Job)
	switch {
	case errors.Is(err, store.ErrNoJob): // it could not be started after all
		return api.Result{}, api.Errorf(api.CodeUnavailable, "the request that began job %s was broken off", c.Job).WithHint("ask again").AgainSoon()
	case err != nil:
		return api.Result{}, err
	case r.State != store.JobDone: // another daemon's, or this one leaves
		return api.Result{}, registry.Replaced()
	}
	res, err := s.storedResult(ctx, &r, c.MaxOutput)
	if e := s.reg.ByID(r.Session); err == nil && !start && e != nil && e.Ready() && !res.Truncated {
		afterAnswer(ctx, func() { s.doneWith(e) })
	}
	return res, err
}

// doneWith removes what was only there to be read, and was.
func (s *Set) doneWith(e *registry.Handle) {
	switch {
	case e.Pooled():
		s.pool.end(e)
	case e.Temporary() && e.Session.Status().State != session.Running:
		s.reg.RemoveEnded(e)
	}
}

// storedResult is the result that a record holds, with what the session still has of its output.
func (s *Set) storedResult(ctx context.Context, r *store.Job, limit int) (api.Result, error) {
	res, err := resultOf(r)
	e := s.reg.ByID(r.Session)
	if err != nil || e == nil || !e.Ready() || res.Range.End == 0 {
		return res, err
	}
	j := s.endedJob(r, e)
	j.fillPrinted(ctx, &res, res.Range, limit)
	j.parse(ctx, &res, r.Line) // neither is in the record
	return res, nil
}

// endedJob returns a job for a record, with its call and caller: their limits and secrets apply to its output.
func (s *Set) endedJob(r *store.Job, e *registry.Handle) *Job {
	j := &Job{s: s, e: e, asking: gateway.Ask{Actor: actorIn(r.Request)}}
	_ = json.Unmarshal(r.Request, &j.call) // if it cannot be read: the defaults
	return j
}

// keepsSession says that a command's session is to stay when its job is forgotten.
func keepsSession(r *store.Job) bool {
	var x api.Run
	return json.Unmarshal(r.Request, &x) != nil || x.Keep
}

func resultOf(r *store.Job) (api.Result, error) {
	var res api.Result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		return res, api.Errorf(api.CodeStorage, "the record of job %s cannot be read: %v", r.ID, err)
	}
	return res, nil
}

func noJob(ref string, err error) error {
	if errors.Is(err, store.ErrNoJob) {
		return api.Errorf(api.CodeNotFound, "no job %q", ref).WithHint("`longterm jobs` lists them")
	}
	return err
}

// await waits for a job's end, or until its caller is to come back without it: how says whether it does when a person
// has to allow something (nil: it does not). leaves is
// what it means when the caller breaks off: nothing (endsByItself), or the job's end.
func (j *Job) await(ctx context.Context, c *api.Call, how *api.Asking, leaves ending) (api.Result, error) {
	var yield <-chan time.Time
	switch {
	case c.Background:
		return j.answer(ctx, 0), nil
	case c.YieldMS > 0:
		t := time.NewTimer(turns.Left(ctx, time.Duration(c.YieldMS)*time.Millisecond))
		defer t.Stop()
		yield = t.C
	}
	asks := make(chan struct{})
	if c.OnInput == "return" {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go j.watchInput(ctx, asks)
	}
	if leaves == endsByCaller {
		j.callers.waiting.Add(1)
		defer j.callers.waiting.Add(-1)
	}
	released := j.released
	if leaves == endsByItself { // a client who looks on waits for the end
		released = nil
	}
	approvals := approvalTimer{how: how}
	defer approvals.stop()
	for begun, waits := j.begun, true; waits; {
		now, changed := j.tells(how)
		if now {
			break
		}
		open := j.waitsFor()
		waits = false
		select {
		case <-j.over:
		case <-released:
		case <-yield:
		case <-asks:
		case <-approvals.wait(open):
			if c.OnTimeout != "kill" {
				j.release()
				break
			}
			j.mark(endsByRequest)
			j.ask(j.grace())
			return api.Result{}, approvals.timeoutErr(open)
		case <-begun:
			begun, waits = nil, true
		case <-changed:
			waits = true
		case <-j.s.ctx.Done():
			err := api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again for job %s", j.id)
			err.Retry = c.Job != "" || leaves == endsByItself // else the same request would be another job
			return api.Result{}, err
		case <-ctx.Done():
			j.abandoned(ctx, c, leaves)
		}
	}
	if !isClosed(j.over) {
		return j.answer(context.WithoutCancel(ctx), 0), nil
	}
	return j.outcome()
}

// outcome is the result that stands, or why there is none.
func (j *Job) outcome() (api.Result, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.result.State == "refused" && errors.Is(j.err, session.ErrEnded):
		return *j.result, errNotBegun
	case j.err == nil, errors.Is(j.err, context.Canceled), errors.Is(j.err, session.ErrEnded) && j.started.Number > 0:
		return *j.result, nil // "exit 3", say, ends its shell too
	}
	return *j.result, j.err
}

// ask has runClocks end the job.
func (j *Job) ask(grace time.Duration) {
	select {
	case j.stops <- grace:
	default: // it is being ended
	}
}

// skipTime bounds how long skipStep waits for a kill ladder to be in a step that can be skipped.
const skipTime = time.Second

// skipStep ends the time of the current step of the kill ladder. It reports false if no ladder took the request.
func (j *Job) skipStep(ctx context.Context) bool {
	t := time.NewTimer(skipTime)
	defer t.Stop()
	select {
	case j.skips <- struct{}{}:
		return true
	case <-j.over:
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// watchInput closes asks when the job, once begun, waits for input.
func (j *Job) watchInput(ctx context.Context, asks chan<- struct{}) {
	select {
	case <-j.begun:
	case <-ctx.Done():
		return
	}
	for {
		w, err := j.e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondInput}}})
		switch {
		case err != nil || len(w.Fired) == 0:
			return
		case !j.unintegrated.Load() || j.hasQuestion(ctx): // else it is at its own prompt: the line has ended
			close(asks)
			return
		}
		select {
		case <-time.After(restTime):
		case <-ctx.Done():
			return
		}
	}
}
