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
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// List lists jobs, oldest first, without what they printed.
func (s *Set) List(ctx context.Context, q store.JobQuery) ([]api.Job, error) {
	recs, err := s.rows(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Job, 0, len(recs))
	for i := range recs {
		v := s.jobView(&recs[i])
		v.Result = withoutOutput(v.Result)
		list = append(list, v)
	}
	slices.Reverse(list)
	return list, nil
}

// jobBudget is how much output the record of a job has.
const jobBudget = 4 << 10

// ReadOptions holds how long a caller that reads a job waits, and what ends its wait early.
type ReadOptions struct {
	Await   time.Duration // how long to wait for the job's end; 0: do not wait
	Stop    bool          // the job ends if the caller leaves
	OnInput string        // "return": return when the job waits for input
	// OnApproval "return" makes the call return when the job has an open approval, unless KnownApproval is that approval's ID.
	OnApproval, KnownApproval string
	MaxOutput                 int // bytes; 0: the limit of the job's call
}

// Get describes a job, or waits for its end.
func (s *Set) Get(ctx context.Context, ref string, in ReadOptions) (api.Job, error) {
	r, err := s.jobRecord(ctx, ref)
	if err != nil {
		return api.Job{}, err
	}
	v, err := s.describeOrAwait(ctx, r, in)
	v.Agent = actorIn(r.Request).Agent
	return v, err
}

// actorIn returns the actor of a recorded request. It is a user if the request cannot be read.
func actorIn(request []byte) identity.Actor {
	var rec struct {
		Actor identity.Actor `json:"actor"`
	}
	_ = json.Unmarshal(request, &rec)
	return rec.Actor
}

// describeOrAwait describes the job of a record, or waits for its end.
func (s *Set) describeOrAwait(ctx context.Context, r store.Job, in ReadOptions) (_ api.Job, err error) {
	how := &api.ApprovalOptions{OnApproval: in.OnApproval, KnownApproval: in.KnownApproval}
	limit := in.MaxOutput
	if limit == 0 && in.Await == 0 { // a record that is looked at
		limit = jobBudget
	}
	if w := s.pendingStartByID(r.ID); w != nil {
		if v := w.view(); in.Await == 0 || in.OnApproval == "return" && v.Result.NeedsApproval && v.Approval != in.KnownApproval {
			return v, nil
		}
		c := api.Call{Job: r.ID, YieldMS: in.Await.Milliseconds(), OnTimeout: w.x.OnTimeout}
		if !in.Stop {
			c.OnTimeout = "background" // a caller that only looks ends nothing
		}
		if _, err := w.awaitStart(ctx, &c, true, how, false); ctx.Err() != nil || !w.isOver() && err != nil {
			return api.Job{}, err
		}
		if !w.isOver() {
			return w.view(), nil
		}
	}
	j := s.await(ctx, r.ID)
	if j == nil {
		if r, err = s.row(ctx, r.ID); err != nil { // it may have ended since the record was read
			return api.Job{}, noJob(r.ID, err)
		}
		v := s.jobView(&r)
		if res, err := s.storedResult(ctx, &r, limit); err == nil {
			v.Result = &res
		}
		return v, nil
	}
	if in.Await > 0 {
		leaves := endsByItself
		if in.Stop {
			leaves = endsByCaller
		}
		res, err := j.awaitResult(ctx, &api.Call{Job: r.ID, YieldMS: in.Await.Milliseconds(), OnTimeout: j.call.OnTimeout, OnInput: in.OnInput}, how, leaves)
		if err != nil && !j.hasReached(stateDone) {
			return api.Job{}, err
		}
		if in.Stop && res.State == "needs_input" && in.OnInput == "return" { // a caller that only looks leaves the others waiting
			j.detach()
		}
	}
	v := j.view()
	if v.Result == nil {
		res := j.answer(ctx, limit)
		v.Result = &res
	}
	return v, nil
}

func (s *Set) liveJob(ctx context.Context, ref string) (*Job, error) {
	r, err := s.jobRecord(ctx, ref)
	if err != nil {
		return nil, err
	}
	if j := s.byID(r.ID); j != nil {
		return j, nil
	}
	return nil, api.Errorf(api.CodeEnded, "job %s has ended", api.ShortID(r.ID)).WithHint("`longterm jobs show %s` shows how", api.ShortID(r.ID))
}

// Stop ends a job by the kill ladder.
func (s *Set) Stop(ctx context.Context, ref string, grace time.Duration, next bool) (api.Job, error) {
	if w := s.pendingStartByID(ref); w != nil {
		w.withdraw()
		if err := s.awaitState(ctx, &w.machine, stateHandedOff); err != nil {
			return api.Job{}, err
		}
		if w.job == nil {
			return s.Get(ctx, w.x.Job, ReadOptions{})
		}
	}
	s.await(ctx, ref) // a caller that was interrupted at once stops a job that is still being prepared
	j, err := s.liveJob(ctx, ref)
	if err != nil {
		return api.Job{}, err
	}
	j.setEnding(endsByRequest)
	if !next || !j.skipStep(ctx) {
		j.requestEnd(grace)
	}
	if err := s.awaitState(ctx, &j.machine, stateDone); err != nil {
		return api.Job{}, err
	}
	return j.view(), nil
}

// awaitState waits until m has reached a state, or one after it. It returns session.ErrStopped if the daemon stops
// first.
func (s *Set) awaitState(ctx context.Context, m *machine, at state) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(session.ErrStopped) })()
	if !m.await(ctx, at) {
		return context.Cause(ctx)
	}
	return nil
}

// Detach makes the callers of a job return. The job continues.
func (s *Set) Detach(ctx context.Context, ref string) (api.Job, error) {
	if w := s.pendingStartByID(ref); w != nil {
		w.detach()
		return w.view(), nil
	}
	j, err := s.liveJob(ctx, ref)
	if err != nil {
		return api.Job{}, err
	}
	j.detach()
	return j.view(), nil
}

// Forget removes an ended job, and its session if that was started for the job alone.
func (s *Set) Forget(ctx context.Context, ref string) error {
	r, err := s.jobRecord(ctx, ref)
	if err != nil {
		return err
	}
	if s.byID(r.ID) != nil || s.pendingStartByID(r.ID) != nil {
		return api.Errorf(api.CodeRunning, "job %s has not ended", api.ShortID(r.ID)).WithHint("end it first: `longterm jobs stop %s`", api.ShortID(r.ID))
	}
	_, kept := s.retryQueue.Get(r.ID)
	if err := s.store.DeleteJob(ctx, r.ID); err != nil && !(kept && errors.Is(err, store.ErrNoJob)) {
		return noJob(ref, err)
	}
	s.retryQueue.Drop(r.ID)
	if e := s.reg.ByID(r.Session); e != nil && r.Kind == store.JobCommand && !keepsSession(&r) && len(s.reg.RecordLeftovers(e)) == 0 {
		return s.reg.Remove(ctx, e, false)
	}
	return nil
}

// withoutOutput returns a result for a list: how the job ended, without its output.
func withoutOutput(r *api.Result) *api.Result {
	if r == nil {
		return nil
	}
	short := *r
	short.Truncated = r.Truncated || r.Output != ""
	short.Output, short.Stdout, short.Stderr, short.Summary = "", nil, nil, ""
	short.Env, short.Guess, short.Parsed, short.Answers = nil, nil, nil, nil
	return &short
}

// jobView returns a job for clients, from memory if it has not ended and from its record otherwise.
func (s *Set) jobView(r *store.Job) api.Job {
	if j := s.byID(r.ID); j != nil {
		return j.view()
	}
	if w := s.pendingStartByID(r.ID); w != nil {
		return w.view()
	}
	v := api.Job{ID: r.ID, Session: r.Session, Line: r.Line, State: r.State, Started: r.Created, Command: r.N, Background: true}
	if e := s.reg.ByID(r.Session); e != nil {
		v.Name = e.Record().Name
	}
	if !r.Ended.IsZero() {
		v.Ended, v.DurationMS = &r.Ended, r.Ended.Sub(r.Created).Milliseconds()
	}
	if res, err := resultOf(r); err == nil {
		v.Result = &res
		if r.State == store.JobDone {
			v.Outcome = res.State
		}
	}
	return v
}

// view returns the job for clients.
func (j *Job) view() api.Job {
	waits, needs := j.waitsFor(), ""
	if j.hasReached(stateRunning) {
		needs = j.inputNeeded()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &j.outcome
	v := api.Job{
		ID: j.id, Session: j.e.ID(), Name: j.e.Record().Name, Line: j.line, State: j.recordState(j.state), Background: j.background,
		Started: j.created, DurationMS: sinceMS(j.created), Command: int(o.started.Number), Result: o.result,
	}
	switch {
	case o.result == nil && waits != nil:
		v.State, v.Approval = "needs_approval", waits.ID
	case o.result != nil:
		done := o.at // an event that is kept is not to keep the job, and its session
		v.State, v.Ended, v.DurationMS = store.JobDone, &done, o.at.Sub(j.created).Milliseconds()
		v.Outcome = o.result.State
	case j.state >= stateRunning && needs != "":
		v.State, v.Needs = "needs_input", needs
	}
	return v
}

// inputNeeded returns the kind of input that the job's program waits for, or "" if it waits for none. It is the only
// source of the state needs_input in lists and results.
func (j *Job) inputNeeded() string { return string(j.e.Session.Status().Needs.Kind) }

func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }

// SessionOf returns the session of a job, by id or unique prefix.
func (s *Set) SessionOf(ctx context.Context, ref string) (string, error) {
	r, err := s.jobRecord(ctx, ref)
	return r.Session, err
}

// sessionOfJob returns the session of a job, by the job's id or unique prefix, and whether the session was started for the job. id
// is empty if the job is unknown, or never had a session.
func (s *Set) sessionOfJob(ref string) (id string, own bool) {
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	r, err := s.jobRecord(ctx, ref)
	if err != nil {
		return "", false
	}
	return r.Session, r.Kind == store.JobCommand
}

// jobOf returns the id of the running job of a session's command, or of its program (n 0); "" if none is.
func (s *Set) jobOf(e *registry.Handle, n int, line string) (id string) {
	for _, j := range s.all() {
		if j.e != e || j.command != (n == 0) {
			continue
		}
		j.mu.Lock()
		hasNumber, mayStart := int(j.outcome.started.Number) == n, j.outcome.started.Number == 0 && j.line == line
		j.mu.Unlock()
		if hasNumber {
			return j.id
		}
		if mayStart { // its start is not handled yet
			id = j.id
		}
	}
	return id
}

// jobRecord finds the record of a job by id or unique prefix.
func (s *Set) jobRecord(ctx context.Context, ref string) (store.Job, error) {
	r, err := s.row(ctx, ref)
	if err == nil {
		return r, nil
	}
	list, listErr := s.rows(ctx, store.JobQuery{Prefix: ref, Limit: 2})
	switch {
	case listErr != nil:
		return r, listErr
	case len(list) == 1 && ref != "":
		return list[0], nil
	case len(list) > 1:
		return r, ambiguous(ref)
	}
	return r, noJob(ref, err)
}
