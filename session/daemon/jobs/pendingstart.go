//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// pendingStart is a command that a user has to allow before it is started: a job's record without a session. The next
// daemon continues it. Its environment is not written to a disk: where the system allows it, it is kept in memory that
// outlives the daemon.
type pendingStart struct {
	s        *Set
	x        api.Run
	timeouts timeouts
	request  authorize.Request
	began    time.Time
	pending  *authorize.Pending
	waiting  context.Context // ends when the daemon ends or withdraw is called
	cancel   context.CancelFunc
	callers  callers
	machine  // its mu guards the fields below

	// job and err are final once isOver.
	job *Job
	err error
}

// addPendingStart records a command that a user has to allow, and waits for the answer in the background.
func (s *Set) addPendingStart(ctx context.Context, x api.Run, asking authorize.Request, p *authorize.Pending) (*pendingStart, error) {
	k, err := s.timeoutsOf(asking.Actor, &x.Call, true)
	if err != nil {
		return nil, err
	}
	rec := runRecord{Run: x, Actor: asking.Actor, RequestDigest: runDigest(&x)}
	rec.Env = nil
	req, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	w := s.newPendingStart(x, k, asking, p, time.Now())
	s.mu.Lock()
	if err = s.checkRoom(s.pendingStarts[x.Job] != nil); err == nil {
		s.pendingStarts[x.Job] = w
	}
	s.mu.Unlock()
	if err != nil {
		w.cancel()
		return nil, err
	}
	if err := s.saveEnv(x.Job, x.Env); err != nil {
		s.log.Warn("the environment of a command that waits is not kept", "job", x.Job, "err", err)
	}
	if err := w.record(ctx, req); err != nil {
		s.removePendingStart(w)
		_ = w.apply(triggerNotRecorded, func() { w.err = firstCallerError(x.Job) }, nil)
		return nil, err
	}
	s.runAsync(func() { w.run(s.ctx) })
	return w, nil
}

// record inserts the job's record.
func (w *pendingStart) record(ctx context.Context, request []byte) error {
	err := w.apply(triggerRecorded, nil, func() error {
		return w.s.store.AddJob(ctx, store.Job{
			ID: w.x.Job, Kind: store.JobCommand, Line: textOf(&w.x), State: statePreparing.recordState(), Request: request, Created: w.began,
		})
	})
	if err == nil {
		err = w.apply(triggerApprovalRequested, nil, nil)
	}
	return err
}

func (s *Set) newPendingStart(x api.Run, k timeouts, asking authorize.Request, p *authorize.Pending, began time.Time) *pendingStart {
	w := &pendingStart{s: s, x: x, timeouts: k, request: asking, pending: p, began: began}
	w.waiting, w.cancel = context.WithCancel(s.ctx)
	return w
}

// isPendingStart reports whether a record of the previous daemon is a pending start.
func (s *Set) isPendingStart(r *store.Job) bool {
	_, err := os.Lstat(s.envMark(r.ID))
	return err == nil && r.Kind == store.JobCommand
}

// resumePendingStart continues a pending start of the previous daemon.
func (s *Set) resumePendingStart(r *store.Job) error {
	var rec runRecord
	if err := json.Unmarshal(r.Request, &rec); err != nil {
		return err
	}
	x := rec.Run
	x.Job = r.ID
	env, err := s.loadEnv(x.Job)
	if err != nil {
		s.gate.Withdraw(x.Job)
		s.removeEnv(x.Job)
		return fmt.Errorf("it was not started: its environment went with the daemon or the machine before (%w); give it again", err)
	}
	x.Env = env
	k, err := s.timeoutsOf(rec.Actor, &x.Call, true)
	if err != nil {
		return err
	}
	asking := runRequest(rec.Actor, &x)
	answer, p, err := s.gate.Begin(s.ctx, asking)
	if err != nil {
		s.removeEnv(x.Job)
		return err
	}
	w := s.newPendingStart(x, k, asking, p, r.Created)
	s.mu.Lock()
	s.pendingStarts[x.Job] = w
	s.mu.Unlock()
	_ = w.apply(triggerAdopted, nil, nil)
	if p != nil {
		_ = w.apply(triggerApprovalRequested, nil, nil)
	}
	s.runAsync(func() {
		if p != nil {
			w.run(s.ctx)
		} else {
			w.begin(s.ctx, answer)
		}
	})
	return nil
}

// run waits for the answer and starts the command.
func (w *pendingStart) run(ctx context.Context) {
	answer, err := w.pending.Wait(w.waiting)
	switch {
	case ctx.Err() != nil:
		return // the daemon's successor waits on
	case err != nil:
		w.end(nil, err)
	default:
		w.begin(ctx, answer)
	}
}

// begin starts the command after it was allowed.
func (w *pendingStart) begin(ctx context.Context, answer authorize.Answer) {
	x := w.x
	j, err := w.s.startRun(identity.WithActor(ctx, w.request.Actor), x, w.timeouts, runRecord{RequestDigest: runDigest(&x)}, true, func(j *Job) { j.noteAnswer(w.request, answer) })
	if err != nil && w.s.IsStopping() {
		return
	}
	w.end(j, err)
}

// end wakes the callers: they continue with the job, or get err if the command was not started.
func (w *pendingStart) end(j *Job, err error) {
	if j == nil {
		w.refuse(err)
		return
	}
	w.mu.Lock()
	w.job = j
	released := w.released
	w.mu.Unlock()
	if released {
		j.detach()
	}
	w.s.removePendingStart(w)
	_ = w.apply(triggerHandedOff, nil, nil) // the record is the job's
}

// refuse records and publishes that the command was not started.
func (w *pendingStart) refuse(err error) {
	_ = w.apply(triggerFailed, func() { w.err = err }, nil)
	var r store.Job
	_ = w.apply(triggerFinished, nil, func() error {
		r = w.s.recordRefused(w, err)
		w.s.removePendingStart(w)
		return nil
	})
	v := w.s.jobView(&r)
	w.s.reg.Bus.PublishJob(&v, nil)
}

// recordRefused writes the result of a command that was not started, and returns its record.
func (s *Set) recordRefused(w *pendingStart, err error) store.Job {
	res := w.result()
	res.State, res.NeedsApproval, res.Error = "lost", false, err.Error()
	if errors.Is(err, context.Canceled) {
		res.State, res.Error, res.Message, res.Aborted = "killed", "", "It was taken back before it was allowed", true
	} else if fillApproval(&res, nil, err); res.State == "denied" {
		res.Message = res.Error
	}
	b, _ := json.Marshal(res) // of plain values
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, readErr := s.store.Job(ctx, w.x.Job)
	if readErr != nil { // for the event; its request is not known
		r = store.Job{ID: w.x.Job, Kind: store.JobCommand, Line: textOf(&w.x), Created: w.began}
	}
	r.State, r.Ended, r.Result = store.JobDone, time.Now(), b
	if readErr == nil {
		readErr = s.write(ctx, r)
	}
	if readErr != nil {
		s.log.Error("record a command that was not started", "job", w.x.Job, "err", readErr)
	}
	return r
}

func (s *Set) removePendingStart(w *pendingStart) {
	w.cancel()
	s.mu.Lock()
	if s.pendingStarts[w.x.Job] == w {
		delete(s.pendingStarts, w.x.Job)
	}
	s.mu.Unlock()
	s.removeEnv(w.x.Job)
}

// pendingStartByID finds a command that waits to be allowed, by its job's id or a unique prefix of it.
func (s *Set) pendingStartByID(ref string) *pendingStart {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.pendingStarts[ref]; w != nil {
		return w
	}
	var found *pendingStart
	for id, w := range s.pendingStarts {
		if ref != "" && strings.HasPrefix(id, ref) {
			if found != nil {
				return nil
			}
			found = w
		}
	}
	return found
}

// result returns the result of a command that is not started.
func (w *pendingStart) result() api.Result {
	r := api.Result{Job: w.x.Job, Mode: "pty", TimedOut: "none", DurationMS: sinceMS(w.began), InBackground: inBackground(&w.x.Call), CwdBefore: w.x.Cwd}
	if w.x.Pipe {
		r.Mode = "pipe"
	}
	if w.pending != nil {
		v := w.pending.Approval()
		fillApproval(&r, &v, nil)
		r.Approval = v.ID
		if r.NeedsApproval {
			r.Message = "Waits for approval " + v.ID
		}
	}
	if r.State == "" { // it is allowed, and starts soon
		r.State, r.Message = "waiting", ""
	}
	return r
}

// view returns the pending command as a job for clients.
func (w *pendingStart) view() api.Job {
	r := w.result()
	return api.Job{
		ID: w.x.Job, Line: textOf(&w.x), State: r.State, Approval: r.Approval, Background: inBackground(&w.x.Call) || w.watch().released,
		Started: w.began, DurationMS: r.DurationMS, Result: &r,
	}
}

// awaitResult waits until the command was started and then for its job's result, or until the caller has to return
// without it.
func (w *pendingStart) awaitResult(ctx context.Context, c *api.Call, start bool, how *api.ApprovalOptions) (api.Result, error) {
	if r := w.result(); c.Background || how.OnApproval == "return" && r.NeedsApproval && r.Approval != how.KnownApproval {
		return r, nil
	}
	return w.awaitStart(ctx, c, start, how, true)
}

// awaitStart waits until the command was started. Callers that only look do not return before the start: returns is
// false for them.
func (w *pendingStart) awaitStart(ctx context.Context, c *api.Call, start bool, how *api.ApprovalOptions, returns bool) (api.Result, error) {
	var yield <-chan time.Time
	if c.YieldMS > 0 {
		t := time.NewTimer(fairsched.TimeRemaining(ctx, time.Duration(c.YieldMS)*time.Millisecond))
		defer t.Stop()
		yield = t.C
	}
	if c.OnTimeout != "background" {
		w.callers.waiting.Add(1)
		defer w.callers.waiting.Add(-1)
	}
	approvals := approvalTimer{how: how}
	defer approvals.stop()
	var open *api.Approval
	if r := w.result(); r.NeedsApproval {
		open = &api.Approval{ID: r.Approval}
	}
	for waits := true; waits; {
		p := w.watch()
		if p.state >= stateHandedOff {
			break
		}
		if p.released && returns {
			return w.result(), nil
		}
		waits = false
		select {
		case <-p.changed:
			waits = true
		case <-approvals.wait(open):
			if w.timeouts.kill {
				w.withdraw()
				return api.Result{}, approvals.timeoutErr(open)
			}
			w.detach()
			return w.result(), nil
		case <-yield:
			return w.result(), nil
		case <-w.s.ctx.Done():
			return api.Result{}, registry.ErrReplaced()
		case <-ctx.Done():
			if w.s.ctx.Err() == nil && c.OnTimeout != "background" {
				w.onCallerLeft(ctx)
			}
			return api.Result{}, ctx.Err()
		}
	}
	switch {
	case errors.Is(w.err, context.Canceled):
		return api.Result{}, api.Errorf(api.CodeCanceled, "it was taken back before it was allowed")
	case w.err != nil:
		return api.Result{}, w.err
	}
	x := w.x
	x.Call, x.Start, x.OnApproval, x.KnownApproval = *c, start, how.OnApproval, how.KnownApproval
	return w.job.firstAnswer(ctx, &x)
}

// onCallerLeft withdraws the command if its caller has left. Over other hosts the connection may have been lost
// (Job.onCallerLeft): the approval then stays open for reconnectTime, so that the caller can reconnect.
func (w *pendingStart) onCallerLeft(ctx context.Context) {
	if identity.Of(ctx).Host == "" {
		w.withdraw()
		return
	}
	w.withdrawUnlessReconnected()
}

// withdrawUnlessReconnected withdraws the command, or ends it if it was started, unless a caller requests it
// within reconnectTime.
func (w *pendingStart) withdrawUnlessReconnected() {
	w.s.runAsync(func() {
		if w.callers.awaitReconnect(w.s.ctx, &w.machine) {
			w.withdraw()
			return
		}
		// it was started before this
		if w.isOver() && w.job != nil && !w.watch().released && w.callers.waiting.Load() == 0 {
			w.job.endUnlessReconnected()
		}
	})
}

// isOver reports whether the command was started, or will not be: job and err are final then.
func (w *pendingStart) isOver() bool { return w.hasReached(stateHandedOff) }

// withdraw cancels the command and its approval.
func (w *pendingStart) withdraw() { w.cancel() }

// detach makes the command's callers return.
func (w *pendingStart) detach() {
	w.releaseCallers()
	w.mu.Lock()
	j := w.job
	w.mu.Unlock()
	if j != nil { // it was started before this
		j.detach()
	}
}

// envMark returns the file that marks a pending start and names the place of its environment.
func (s *Set) envMark(job string) string { return filepath.Join(s.reg.PendingStartDir(), job) }

// saveEnv keeps an environment in memory that outlives this daemon, where there is such a place.
func (s *Set) saveEnv(job string, env []string) error {
	mark := s.envMark(job)
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return err
	}
	// The mark is written first: every starting daemon removes directories in memory without a mark.
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return err
	}
	dir, err := shell.MemoryDir(mark)
	if err != nil || dir == "" {
		return errors.Join(err, os.Remove(mark))
	}
	b, err := json.Marshal(env)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "env"), b, 0o600)
	}
	if err == nil {
		err = os.WriteFile(mark, []byte(dir), 0o600)
	}
	return err
}

// loadEnv returns the environment that the previous daemon saved.
func (s *Set) loadEnv(job string) (env []string, err error) {
	dir, err := os.ReadFile(s.envMark(job))
	if err == nil && len(dir) == 0 { // it was killed between the mark and what it marks
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(string(dir), "env"))
	if err == nil {
		err = json.Unmarshal(b, &env)
	}
	return env, err
}

func (s *Set) removeEnv(job string) {
	mark := s.envMark(job)
	dir, err := os.ReadFile(mark)
	if err != nil {
		return // it had none
	}
	if err := errors.Join(shell.RemoveMemoryDir(string(dir)), os.Remove(mark)); err != nil {
		s.log.Warn("remove the environment of a command that waited", "job", job, "err", err)
	}
}

// requestOfRecord returns the authorization request for a command that the previous daemon started.
func (j *Job) requestOfRecord(r *store.Job, who identity.Actor) authorize.Request {
	var rec runRecord
	_ = json.Unmarshal(r.Request, &rec) // without it: as a user's
	if rec.InDraft != nil {
		j.drafted.request, j.drafted.keep = rec.InDraft, rec.Keep || inBackground(&rec.Call)
		a := *rec.InDraft
		a.InDraft = true
		return a
	}
	rec.Job = r.ID
	a := runRequest(who, &rec.Run)
	a.Session = r.Session
	return a
}
