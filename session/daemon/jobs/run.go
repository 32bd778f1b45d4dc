//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/effects"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// Every command that is run for any caller is a job (R1).

// Exec runs a line in a session's shell.
func (s *Set) Exec(ctx context.Context, e *registry.Handle, x api.Exec) (api.Result, error) {
	return s.submitLine(ctx, e, x, lineDigest(e.ID(), &x), nil, nil)
}

// submitLine runs a line in a session's shell. reqDigest is the digest of the request; w is the session's warm shell,
// or nil. noDraft is why the line does not run in a draft; nil: it may.
func (s *Set) submitLine(ctx context.Context, e *registry.Handle, x api.Exec, reqDigest string, w *warm, noDraft error) (api.Result, error) {
	begun := false
	defer func() {
		if w != nil && !begun {
			s.pool.replaceUsed(w)
			s.pool.end(w.Handle)
		}
	}()
	if err := s.reg.CheckSandbox(e, x.Sandbox, x.OnDifference); err != nil {
		return api.Result{}, err
	}
	k, err := s.timeoutsOf(identity.Of(ctx), &x.Call, false)
	if err == nil {
		err = s.gate.Check(x.Policy)
	}
	if err != nil {
		return api.Result{}, err
	}
	stored := lineRecord{Exec: x, Rules: x.Respond != nil, Actor: identity.Of(ctx), RequestDigest: reqDigest}
	asking := lineRequest("", stored.Actor, e, x)
	stored.Readers = asking.Readers
	stored.Respond = nil // there may be secrets in them
	j, err := s.newJob(e, x.Call, k, x.Line, stored)
	if err != nil {
		return api.Result{}, err
	}
	asking.ID = j.id
	j.program.allowed, j.approval.request, j.warm = x.Foreign, asking, w
	if err := s.record(ctx, j, triggerRecorded); errors.Is(err, store.ErrJobExists) {
		return s.rejoin(ctx, &x.Call, reqDigest, false, &x.ApprovalOptions)
	} else if err != nil {
		return api.Result{}, err
	}
	if err := j.checkSubmittable(ctx, x); err != nil {
		s.drop(j)
		return api.Result{}, err
	}
	asking = j.approval.request
	asking.MakeDraft = func() (effects.Draft, error) { return effects.Draft{}, noDraft }
	if asking.Actor.IsAgent() && w == nil && noDraft == nil {
		asking.MakeDraft, asking.ShellVariables = s.lineDraft(ctx, e, &x, asking.Readers)
	}
	answer, pending, err := s.gate.Begin(ctx, asking)
	if err == nil && answer.Draft {
		s.drop(j)
		return s.execInDraft(ctx, e, x, k, reqDigest, asking)
	}
	if err != nil {
		s.drop(j)
		return api.Result{}, err
	}
	give := func(ctx context.Context) (follow func(context.Context), err error) { return j.submitToShell(ctx, x) }
	follow := func(ctx context.Context) {
		x.Wait = x.Wait || !x.Foreign // what a user has allowed is not given back because another line was faster
		j.followApproval(ctx, pending, give)
	}
	if pending != nil {
		j.move(triggerApprovalRequested, func() { j.approval.pending = pending })
	} else {
		j.approval.id = answer.Approval
		if follow, err = give(ctx); err != nil {
			s.gate.LineFinished(e.ID(), j.id)
			s.drop(j)
			return api.Result{}, err
		}
		j.move(triggerSubmitted, nil) // unless a program has started with it
	}
	begun = true
	s.follow(j, follow)
	r, err := j.awaitResult(ctx, &x.Call, &x.ApprovalOptions, endsByCaller)
	if w != nil && err == nil && j.hasReached(stateDone) && !r.Truncated {
		afterAnswer(ctx, func() { s.pool.end(e) })
	}
	return r, err
}

// checkSubmittable returns why a line would not be submitted, before an approval is requested. Lines that the rules
// deny pass: the gateway denies them.
func (j *Job) checkSubmittable(ctx context.Context, x api.Exec) error {
	ended := j.e.Session.Status().State != session.Running
	if !ended && (x.Wait || x.Foreign) || j.s.gate.Judge(j.approval.request).Verdict != policy.Ask {
		return nil
	}
	if ended {
		return session.ErrEnded
	}
	_, err := j.e.Session.Exec(ctx, session.Line{Text: x.Line, DryRun: true})
	if errors.Is(err, session.ErrBusy) {
		return err
	}
	return nil
}

// submitToShell submits the line to the shell, or to the program that it runs. It returns the function that follows the
// line.
func (j *Job) submitToShell(ctx context.Context, x api.Exec) (func(context.Context), error) {
	follow := j.followLine // unless it is for a program without command marks
	run, err := (*session.Run)(nil), session.ErrBusy
	if !authorize.AreInterpreters(j.approval.request.Readers) { // else it is the program's and not the shell's, even if that is back
		run, err = j.e.ExecWithRules(identity.WithActor(ctx, j.approval.request.Actor), session.Line{
			Text: x.Line, Wait: x.Wait && !x.Foreign, ID: j.id, By: registry.InputAuthorName(j.approval.request.Actor, false), RecordHistory: x.History || j.s.conf.Get().Shells.History,
		}, x.Respond)
	}
	program := x.Foreign || authorize.AreInterpreters(j.approval.request.Readers)
	if x.Respond == nil && (errors.Is(err, session.ErrNoShell) || program && errors.Is(err, session.ErrBusy)) {
		run, follow = nil, j.followUnintegrated
		j.s.gate.NotSubmitted(j.e.ID(), j.id)
		err = j.typeUnintegrated(ctx, x.Wait)
	}
	if errors.Is(err, session.ErrStopped) { // it was not given to the shell
		err = registry.ErrReplaced()
	}
	if err != nil {
		j.s.gate.NotSubmitted(j.e.ID(), j.id)
		return nil, err
	}
	j.mu.Lock()
	j.run = run
	ended := j.state >= stateEnded
	j.mu.Unlock()
	if ended && run != nil { // it was taken back at this moment
		_ = j.e.Session.Drop(ctx, run)
	}
	return follow, nil
}

// lineRecord is the recorded part of a request for a line.
type lineRecord struct {
	api.Exec
	RequestDigest string         `json:"asked,omitempty"` // digest of the request
	Rules         bool           `json:"rules,omitempty"` // it came with rules
	Actor         identity.Actor `json:"actor"`
	Admitted      time.Time      `json:"admitted,omitzero"` // when a user had allowed it
	Readers       []string       `json:"readers,omitempty"` // programs that the line was judged for
}

// handOff removes a job that did not start here; another owner continues its record.
func (s *Set) handOff(j *Job) {
	s.forget(j)
	j.move(triggerHandedOff, nil)
}

// drop deletes a job that did not start. Callers that wait for it get an error, and may retry.
func (s *Set) drop(j *Job) {
	j.move(triggerDropped, nil)
}

// Run runs a command in its own session.
func (s *Set) Run(ctx context.Context, x api.Run) (api.Result, error) {
	asked := runDigest(&x)
	if x.Job != "" && s.exists(ctx, x.Job) {
		return s.rejoin(ctx, &x.Call, asked, x.Start, &x.ApprovalOptions)
	}
	if s.ctx.Err() != nil {
		return api.Result{}, registry.ErrReplaced()
	}
	if x.Warm && len(x.Draft) > 0 {
		return api.Result{}, api.Errorf(api.CodeInvalid, "a warm shell was started before, without a draft").WithHint("leave --warm or --draft out")
	}
	if x.Warm && x.Sandbox != "" {
		return api.Result{}, api.Errorf(api.CodeInvalid, "a warm shell was started before, in no sandbox").WithHint("leave --warm or --sandbox out")
	}
	if x.Warm {
		return s.runWarm(ctx, x, asked)
	}
	k, err := s.timeoutsOf(identity.Of(ctx), &x.Call, true)
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
	asking := runRequest(identity.Of(ctx), &x)
	asking.MakeDraft = s.draftRoot(&x)
	answer, pending, err := s.gate.Begin(ctx, asking)
	if err == nil && answer.Draft {
		j, taken, draftErr := s.startInDraft(ctx, x, k, asked, asking)
		switch {
		case j != nil:
			return j.firstAnswer(ctx, &x)
		case taken:
			return s.rejoin(ctx, &x.Call, asked, x.Start, &x.ApprovalOptions)
		}
		answer, pending, err = s.requestWithoutDraft(ctx, asking, draftErr)
	}
	if err != nil {
		return api.Result{}, err
	}
	if pending != nil {
		w, err := s.addPendingStart(ctx, x, asking, pending)
		if errors.Is(err, store.ErrJobExists) { // its caller asked twice at once
			pending.Release()
			return s.rejoin(ctx, &x.Call, asked, x.Start, &x.ApprovalOptions)
		}
		if err != nil {
			pending.Release()
			return api.Result{}, err
		}
		return w.awaitResult(ctx, &x.Call, x.Start, &x.ApprovalOptions)
	}
	j, err := s.startRun(ctx, x, k, runRecord{RequestDigest: asked}, false, func(j *Job) { j.noteAnswer(asking, answer) })
	if errors.Is(err, store.ErrJobExists) { // its caller asked twice at once
		return s.rejoin(ctx, &x.Call, asked, x.Start, &x.ApprovalOptions)
	}
	if err != nil {
		return api.Result{}, err
	}
	return j.firstAnswer(ctx, &x)
}

// startRun starts a command in its own session, as a job. stored has what the record of the job keeps besides x. known is true if
// that record exists. admit is called with the job before anything is started.
func (s *Set) startRun(ctx context.Context, x api.Run, k timeouts, stored runRecord, known bool, admit func(*Job)) (*Job, error) {
	x.Temporary = !x.Keep && !inBackground(&x.Call)
	stored.Run, stored.Actor = x, identity.Of(ctx)
	stored.Env = nil // what it was started with is the session's business
	var j *Job
	_, err := s.reg.CreateRecorded(ctx, x.NewSession, x.Job, func(e *registry.Handle) error {
		made, err := s.newJob(e, x.Call, k, textOf(&x), stored)
		if err != nil {
			return err
		}
		made.command = true
		how := triggerRecorded
		if known {
			how = triggerStartAllowed
		}
		if err := s.record(ctx, made, how); err != nil {
			return err
		}
		j = made
		admit(j)
		return nil
	})
	switch {
	case err != nil && j != nil && s.IsStopping():
		s.handOff(j)
		return nil, registry.ErrReplaced() // it is found again by its job
	case err != nil && j != nil && known:
		s.handOff(j)
		return nil, err
	case err != nil && j != nil:
		s.drop(j)
		return nil, err
	case err != nil:
		return nil, err
	}
	j.move(triggerSubmitted, nil)
	s.follow(j, j.followCommand)
	return j, nil
}

// firstAnswer returns the result for the caller that started a command.
func (j *Job) firstAnswer(ctx context.Context, x *api.Run) (api.Result, error) {
	if x.Start {
		return j.answer(ctx, 0), nil
	}
	r, err := j.awaitResult(ctx, &x.Call, &x.ApprovalOptions, endsByCaller)
	if err == nil && j.hasReached(stateDone) && j.e.IsTemporary() && !r.Truncated && len(r.Background) == 0 {
		afterAnswer(ctx, func() { j.s.reg.RemoveEnded(j.e) })
	}
	return r, err
}

// textOf returns a command as users read it.
func textOf(x *api.Run) string {
	if x.Line != "" {
		return x.Line
	}
	return shellquote.Line(x.Argv)
}

// runRecord is the recorded part of a request for a command.
type runRecord struct {
	api.Run
	RequestDigest string         `json:"asked,omitempty"` // digest of the request
	Actor         identity.Actor `json:"actor"`
	// InDraft is the gateway's request of a command that runs in a draft because the rules want that.
	InDraft *authorize.Request `json:"in_draft,omitempty"`
}

// runWarm runs a line in a warm shell of the pool.
func (s *Set) runWarm(ctx context.Context, x api.Run, reqDigest string) (api.Result, error) {
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
	return s.submitLine(ctx, w.Handle, api.Exec{Call: x.Call, Line: x.Line, ApprovalOptions: x.ApprovalOptions}, reqDigest, w, errors.New("a warm shell runs it"))
}

// exists reports whether a job has this ID.
func (s *Set) exists(ctx context.Context, id string) bool {
	if s.await(ctx, id) != nil || s.pendingStartByID(id) != nil {
		return true
	}
	_, err := s.row(ctx, id)
	return err == nil
}

// rejoin answers a call whose job exists already, because its caller lost the connection. start is true if the caller
// wants only the start, and requests the end later. reqDigest is the digest of the request.
func (s *Set) rejoin(ctx context.Context, c *api.Call, reqDigest string, start bool, how *api.ApprovalOptions) (api.Result, error) {
	if err := s.checkSame(ctx, c.Job, reqDigest); err != nil {
		return api.Result{}, err
	}
	if w := s.pendingStartByID(c.Job); w != nil {
		return w.awaitResult(ctx, c, start, how)
	}
	switch j := s.await(ctx, c.Job); {
	case j != nil && start:
		return j.answer(ctx, 0), nil
	case j != nil:
		return j.awaitResult(ctx, c, how, endsByCaller)
	}
	r, err := s.row(ctx, c.Job)
	switch {
	case errors.Is(err, store.ErrNoJob): // it could not be started after all
		return api.Result{}, firstCallerError(c.Job)
	case err != nil:
		return api.Result{}, err
	case r.State != store.JobDone: // another daemon's, or this one leaves
		return api.Result{}, registry.ErrReplaced()
	}
	res, err := s.storedResult(ctx, &r, c.MaxOutput)
	if e := s.reg.ByID(r.Session); err == nil && !start && e != nil && e.IsReady() && !res.Truncated {
		afterAnswer(ctx, func() { s.removeReadSession(e) })
	}
	return res, err
}

// firstCallerError returns the error of a caller that waited for a job whose first caller could not start it.
func firstCallerError(id string) error {
	return api.Errorf(api.CodeUnavailable, "the request that began job %s was broken off", id).WithHint("ask again").Retryable()
}

// removeReadSession removes a pooled or ended temporary session after its result was returned.
func (s *Set) removeReadSession(e *registry.Handle) {
	switch {
	case e.IsPooled():
		s.pool.end(e)
	case e.IsTemporary() && e.Session.Status().State != session.Running:
		s.reg.RemoveEnded(e)
	}
}

// storedResult returns the result of a record, with what the session still has of its output.
func (s *Set) storedResult(ctx context.Context, r *store.Job, limit int) (api.Result, error) {
	res, err := resultOf(r)
	e := s.reg.ByID(r.Session)
	if err != nil || e == nil || !e.IsReady() || res.Range.End == 0 {
		return res, err
	}
	j := s.endedJob(r, e)
	j.fillPrinted(ctx, &res, res.Range, limit)
	j.parse(ctx, &res, r.Line) // neither is in the record
	return res, nil
}

// endedJob returns a job for a record, with its call and caller: their limits and secrets apply to its output.
func (s *Set) endedJob(r *store.Job, e *registry.Handle) *Job {
	j := &Job{s: s, e: e, approval: approval{request: authorize.Request{Actor: actorIn(r.Request)}}}
	_ = json.Unmarshal(r.Request, &j.call) // if it cannot be read: the defaults
	return j
}

// keepsSession reports whether a command's session stays when its job is forgotten.
func keepsSession(r *store.Job) bool {
	var x api.Run
	return json.Unmarshal(r.Request, &x) != nil || x.Keep
}

// resultOf decodes the result in a record.
func resultOf(r *store.Job) (api.Result, error) {
	var res api.Result
	if err := json.Unmarshal(r.Result, &res); err != nil {
		return res, api.Errorf(api.CodeStorage, "the record of job %s cannot be read: %v", r.ID, err)
	}
	return res, nil
}

// noJob returns the error for an unknown job, or another error of its lookup.
func noJob(ref string, err error) error {
	if errors.Is(err, store.ErrNoJob) {
		return api.Errorf(api.CodeNotFound, "no job %q", ref).WithHint("`longterm jobs` lists them")
	}
	return err
}

// awaitResult waits for a job's end, or until its caller returns before it. how is set if the caller may return for an
// approval. leaves is what happens if the caller leaves: nothing (endsByItself), or the job's end.
func (j *Job) awaitResult(ctx context.Context, c *api.Call, how *api.ApprovalOptions, leaves endReason) (api.Result, error) {
	var yield <-chan time.Time
	switch {
	case c.Background:
		return j.answer(ctx, 0), nil
	case c.YieldMS > 0:
		t := time.NewTimer(fairsched.TimeRemaining(ctx, time.Duration(c.YieldMS)*time.Millisecond))
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
	approvals := approvalTimer{how: how}
	defer approvals.stop()
	for waits := true; waits; {
		p := j.watch()
		now, changed := j.notifiesCaller(how)
		// a caller that only looks waits for the end
		if now || p.state == stateDone || p.released && leaves == endsByCaller {
			break
		}
		open := j.waitsFor()
		waits = false
		select {
		case <-yield:
		case <-asks:
		case <-approvals.wait(open):
			if c.OnTimeout != "kill" {
				j.detach()
				break
			}
			j.setEnding(endsByRequest)
			j.requestEnd(j.grace())
			return api.Result{}, approvals.timeoutErr(open)
		case <-p.changed:
			waits = true
		case <-changed:
			waits = true
		case <-j.s.ctx.Done():
			err := api.Errorf(api.CodeUnavailable, "the daemon is being replaced").WithHint("ask again for job %s", j.id)
			err.Retry = c.Job != "" || leaves == endsByItself // else the same request would be another job
			return api.Result{}, err
		case <-ctx.Done():
			j.onCallerLeft(ctx, c, leaves)
		}
	}
	if j.current() != stateDone {
		return j.answer(context.WithoutCancel(ctx), 0), nil
	}
	return j.finalResult()
}

// finalResult returns the recorded result, and the error of a job whose end was not seen.
func (j *Job) finalResult() (api.Result, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &j.outcome
	switch {
	case o.result.State == "refused" && errors.Is(o.err, session.ErrEnded):
		return *o.result, errNotStarted
	case o.err == nil, errors.Is(o.err, context.Canceled), errors.Is(o.err, session.ErrEnded) && o.started.Number > 0:
		return *o.result, nil // "exit 3", for example, ends its shell too
	}
	return *o.result, o.err
}

// requestEnd makes runTimeouts end the job by the kill ladder.
func (j *Job) requestEnd(grace time.Duration) {
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
	for {
		p := j.watch()
		if p.state >= stateDone {
			return false
		}
		select {
		case j.skips <- struct{}{}:
			return true
		case <-p.changed:
		case <-ctx.Done():
			return false
		case <-t.C:
			return false
		}
	}
}

// watchInput closes waiting when the running job waits for input.
func (j *Job) watchInput(ctx context.Context, waiting chan<- struct{}) {
	if !j.await(ctx, stateRunning) {
		return
	}
	var seen session.InputNeed
	for {
		w, err := j.e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondInput}}})
		need, pause := j.e.Session.Status().Needs, promptSettleTime
		switch {
		case err != nil || len(w.Fired) == 0:
			return
		case need != seen && j.hasRules(ctx):
			seen, pause = need, ruleReplyTime
		case !j.isUnintegrated() || j.hasQuestion(ctx): // else it is at its own prompt: the line has ended
			close(waiting)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// ruleReplyTime is how long a rule may take to answer a prompt before the prompt counts as one that no rule answers.
const ruleReplyTime = 500 * time.Millisecond

// hasRules reports whether rules answer prompts in the job's session.
func (j *Job) hasRules(ctx context.Context) bool {
	rules, err := j.e.Session.Rules(ctx)
	return err == nil && len(rules) > 0
}
