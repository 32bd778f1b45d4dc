//go:build unix

package jobs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/effects"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// The rules' verdict draft: a command of an agent runs at once in a draft, as a job in its own session. If it has changed files, the
// job waits for a user between the end of its program and its own (statePendingCommit): the gateway asks about the changes. The answer
// is stored before the commit, so the next daemon completes the commit. A job that ends otherwise discards its draft.

// drafted is a job's run in a draft. The machine's mu guards it.
type drafted struct {
	request *authorize.Request // of the line or command; nil: the rules wanted no draft
	review  *api.DraftReview   // nil: not ended, or without changes
	keep    bool               // the session stays after the job
	allowed bool               // the changes are committed, as far as nothing prevents that
	err     error              // why they were not
}

// draftRoot returns the gateway's MakeDraft for a command.
func (s *Set) draftRoot(x *api.Run) func() (effects.Draft, error) {
	return func() (effects.Draft, error) {
		switch {
		case len(x.Draft) > 0:
			return effects.Draft{}, errors.New("it is a run with a draft already, which stays open")
		case x.Sandbox != "":
			return effects.Draft{}, errors.New("it has a sandbox: " + x.Sandbox)
		case x.Observe != "":
			return effects.Draft{}, errors.New("it is observed")
		}
		return s.reg.PlanDraft(x.NewSession)
	}
}

// lineDraft returns the gateway's MakeDraft for a line of a session's shell, and the variables that the shell exports.
func (s *Set) lineDraft(ctx context.Context, e *registry.Handle, x *api.Exec, readers []string) (func() (effects.Draft, error), map[string]string) {
	env, err := e.Session.Environ(ctx)
	return func() (effects.Draft, error) {
		st := e.Session.Status()
		switch {
		case x.Foreign || x.Respond != nil || len(readers) > 0:
			return effects.Draft{}, errors.New("it may be for a program in the session, and not for its shell")
		case s.reg.Sandbox(e) != nil:
			return effects.Draft{}, errors.New("its session has a sandbox")
		case err != nil || env == nil || len(e.Record().Argv) == 0 || authorize.ShellName(e.Record().Argv[0]) == "":
			return effects.Draft{}, errors.New("the environment of its session's shell is not known")
		case st.Shell.Phase != shell.PhasePrompt:
			return effects.Draft{}, errors.New("its session's shell is busy")
		}
		return s.reg.PlanDraft(s.lineRun(e, x, env).NewSession)
	}, env
}

// lineRun returns the command that runs a line of a session's shell in another process.
func (s *Set) lineRun(e *registry.Handle, x *api.Exec, env shell.Env) api.Run {
	r := e.Record()
	run := api.Run{Call: x.Call, NewSession: api.NewSession{
		Argv: []string{r.Argv[0], "-c", x.Line}, Cwd: e.CurrentDir(e.Session.Status()), Cols: r.Cols, Rows: r.Rows, ApprovalOptions: x.ApprovalOptions,
	}}
	for name, value := range env {
		run.Env = append(run.Env, name+"="+value)
	}
	slices.Sort(run.Env)
	return run
}

// startInDraft starts a command in a draft. taken reports that its job exists. It returns an error if the command was not started; it
// never runs outside of a draft.
func (s *Set) startInDraft(ctx context.Context, x api.Run, k timeouts, asked string, a authorize.Request) (j *Job, taken bool, err error) {
	a.MakeDraft = nil
	x.Draft, x.Sandbox = []string{api.DraftProject}, spawn.ReviewProfile
	kept := a
	j, err = s.startRun(ctx, x, k, runRecord{RequestDigest: asked, InDraft: &kept}, false, func(j *Job) {
		j.drafted.request, j.drafted.keep = &kept, x.Keep || inBackground(&x.Call)
		in := a
		in.InDraft = true
		j.noteAnswer(in, authorize.Answer{Verdict: policy.Allow})
	})
	if j != nil {
		j.e.Keep(s.reg) // until the answer, which may take long
	}
	return j, errors.Is(err, store.ErrJobExists), err
}

// execInDraft runs a line of a session's shell in a draft. If that cannot be started, the line is for the shell, after an approval.
func (s *Set) execInDraft(ctx context.Context, e *registry.Handle, x api.Exec, k timeouts, asked string, a authorize.Request) (api.Result, error) {
	env, err := e.Session.Environ(ctx)
	if err != nil {
		return api.Result{}, err
	}
	x.Job = a.ID
	run := s.lineRun(e, &x, env)
	j, taken, err := s.startInDraft(ctx, run, k, asked, a)
	switch {
	case j != nil:
		return j.firstAnswer(ctx, &run)
	case taken:
		return s.rejoin(ctx, &x.Call, asked, false, &x.ApprovalOptions)
	case s.IsStopping():
		return api.Result{}, registry.ErrReplaced()
	case ctx.Err() != nil:
		return api.Result{}, ctx.Err()
	}
	return s.submitLine(ctx, e, x, asked, nil, err)
}

// requestWithoutDraft repeats a request whose draft could not be started: a user is asked before it runs.
func (s *Set) requestWithoutDraft(ctx context.Context, a authorize.Request, why error) (authorize.Answer, *authorize.Pending, error) {
	if s.IsStopping() {
		return authorize.Answer{}, nil, registry.ErrReplaced()
	}
	if ctx.Err() != nil {
		return authorize.Answer{}, nil, ctx.Err()
	}
	a.MakeDraft = func() (effects.Draft, error) { return effects.Draft{}, why }
	return s.gate.Begin(ctx, a)
}

// ranInDraft reports whether the rules wanted a draft for the job.
func (j *Job) ranInDraft() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.drafted.request != nil
}

// review returns what the job did in its draft, for results.
func (j *Job) review() *api.DraftReview {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.drafted.review == nil {
		return nil
	}
	v := *j.drafted.review
	switch {
	case j.drafted.err != nil:
		v.State, v.Error = "failed", j.drafted.err.Error()
	case j.state < stateEnded:
	case j.drafted.allowed:
		v.State = "committed"
	default:
		v.State = "discarded"
	}
	return &v
}

// reviewDraft asks a user about the changes of a run in a draft that has ended, and carries out the answer.
func (j *Job) reviewDraft(ctx context.Context) {
	if j.endingReason() != endsByItself { // it was ended before it was through
		j.move(triggerExited, nil)
		return
	}
	review, err := j.makeReview(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		j.move(triggerExited, func() { j.drafted.allowed, j.drafted.err = true, err })
		return
	case review == nil:
		j.move(triggerExited, nil)
		return
	}
	a := *j.drafted.request
	a.Drafted = review
	answer, p, err := j.s.gate.Begin(ctx, a)
	if p != nil {
		waiting, cancel := j.untilEnded(ctx)
		defer cancel()
		j.move(triggerDraftEnded, func() { j.approval.pending, j.drafted.review = p, review })
		answer, err = p.Wait(waiting)
	}
	if ctx.Err() != nil || j.hasReached(stateEnded) {
		return
	}
	if err != nil {
		j.failWith(err, func() { j.approval.pending, j.approval.id, j.drafted.review = nil, answer.Approval, review })
		return
	}
	j.mu.Lock()
	j.approval.pending = nil
	j.mu.Unlock()
	err = j.commitDraft(ctx, review, &answer)
	if ctx.Err() != nil {
		return
	}
	j.move(triggerExited, func() {
		j.approval.id = answer.Approval
		j.drafted.review, j.drafted.allowed, j.drafted.err = review, true, err
	})
}

// maxReviewOutput bounds the end of the output in a review.
const maxReviewOutput = 4 << 10

// makeReview returns the changes that a commit would make. It removes a draft without changes, and returns nil.
func (j *Job) makeReview(ctx context.Context) (*api.DraftReview, error) {
	if !j.s.reg.Drafts().Has(j.e.ID()) { // an earlier daemon committed or discarded it
		return nil, nil
	}
	v, err := retryWhileMounted(ctx, func() (*api.DraftReview, error) { return j.s.reg.Drafts().Review(ctx, j.e.ID()) })
	if v == nil || err != nil {
		return nil, err
	}
	r := j.answer(ctx, maxReviewOutput)
	v.ExitCode, v.Signal, v.Output = r.ExitCode, r.Signal, r.Output
	return v, nil
}

// Bounds of waiting for the end of a draft's mount: the last process of a session holds it a little longer than the terminal.
const (
	unmountTime = 15 * time.Second
	unmountPoll = 20 * time.Millisecond
)

// retryWhileMounted calls f again while it fails because the draft is mounted.
func retryWhileMounted[T any](ctx context.Context, f func() (T, error)) (T, error) {
	until := time.Now().Add(unmountTime)
	for {
		v, err := f()
		var mounted *api.Error
		if !errors.Is(err, draft.ErrMounted) && !(errors.As(err, &mounted) && mounted.Code == api.CodeRunning) || time.Now().After(until) {
			return v, err
		}
		select {
		case <-time.After(unmountPoll):
		case <-ctx.Done():
			return v, err
		}
	}
}

// commitDraft commits what a user, or a changed rule, has allowed. An interrupted commit is completed.
func (j *Job) commitDraft(ctx context.Context, v *api.DraftReview, answer *authorize.Answer) error {
	d, err := j.s.reg.Drafts().Open(j.e.ID(), false)
	if err != nil {
		return err
	}
	expect := v.ID
	if d.Info().State == draft.StateCommitting {
		expect = "" // its plan has the changes that were seen
	}
	ctx = context.WithoutCancel(ctx) // a started commit is completed
	r, err := retryWhileMounted(ctx, func() (draft.Result, error) { return d.Commit(ctx, draft.CommitOptions{Expect: expect}) })
	if err == nil || len(r.Paths) > 0 {
		j.recordDraft("draft-committed", &r, err, answer)
	}
	if err != nil {
		return drafts.Error(j.e.ID(), err)
	}
	if _, err := d.Discard(ctx); err != nil { // of its directory, without changes
		j.s.log.Warn("remove a draft without changes", "session", j.e.ID(), "err", err)
	}
	return nil
}

// recordDraft adds a commit or a discard to the audit log and publishes it.
func (j *Job) recordDraft(kind string, r *draft.Result, failed error, answer *authorize.Answer) {
	by := j.drafted.request.Actor
	if answer != nil && answer.By != nil {
		by = *answer.By
	}
	v := drafts.Result(r)
	if j.s.Audit != nil {
		rec := drafts.AuditRecord(by, j.e.ID(), j.e.Record().Name, kind, &v, failed)
		if rec.Job = j.id; answer != nil {
			rec.Approval = answer.Approval
		}
		j.s.Audit.Record(rec)
	}
	j.s.reg.PublishDraft(j.e, kind, &v)
}

// discardUnlessAllowed discards the draft of a run that has ended without a user's permission to commit it.
func (j *Job) discardUnlessAllowed(ctx context.Context) {
	j.mu.Lock()
	discards := j.drafted.request != nil && !j.drafted.allowed
	j.mu.Unlock()
	if !discards || !j.s.reg.Drafts().Has(j.e.ID()) {
		return
	}
	d, err := j.s.reg.Drafts().Open(j.e.ID(), false)
	if err == nil {
		var r draft.Result
		if r, err = retryWhileMounted(ctx, func() (draft.Result, error) { return d.Discard(ctx) }); err == nil {
			j.recordDraft("draft-discarded", &r, nil, nil)
		}
	}
	if err != nil {
		j.s.log.Error("discard the draft of a run", "job", j.id, "session", j.e.ID(), "err", err)
	}
}

// CheckDraft implements authorize.Drafts: it tries the commit without writing.
func (s *Set) CheckDraft(ctx context.Context, v *api.DraftReview) error {
	d, err := s.reg.Drafts().Open(v.Session, false)
	if err != nil {
		return err
	}
	if d.Info().State == draft.StateCommitting {
		return nil // the rest is committed
	}
	_, err = d.Commit(ctx, draft.CommitOptions{Expect: v.ID, DryRun: true})
	if errors.Is(err, draft.ErrChanged) { // what changed is more use than that something did
		if _, conflict := d.Commit(ctx, draft.CommitOptions{DryRun: true}); conflict != nil {
			err = conflict
		}
	}
	return drafts.Error(v.Session, err)
}

// AwaitDraft implements authorize.Drafts.
func (s *Set) AwaitDraft(ctx context.Context, job string) error {
	j := s.byID(job)
	if j == nil {
		return nil
	}
	if err := s.awaitState(ctx, &j.machine, stateDone); err != nil {
		return cmp.Or(context.Cause(ctx), session.ErrStopped)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.drafted.err
}
