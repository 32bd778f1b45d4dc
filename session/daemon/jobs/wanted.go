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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/turns"
	"github.com/longterm-dev/longterm/store"
)

// wanted is a command that a person has to allow before it is started. It is a job's record without a
// session. A daemon that comes after this one goes on with it; its environment, which is not to be on a
// disk, is kept in memory that outlives the daemon, where the system has such a place.
type wanted struct {
	s       *Set
	x       api.Run
	clocks  clocks
	asking  gateway.Ask
	began   time.Time
	pending *gateway.Pending
	cancel  context.CancelFunc // takes it back
	taken   bool               // back
	over    chan struct{}      // closed when it was started, or is not to be
	away    chan struct{}      // closed when callers are to come back without its start
	callers callers

	// When it is over:
	job *Job
	err error
}

// want records a command that a person has to allow, and waits beside for the answer.
func (s *Set) want(ctx context.Context, x api.Run, asking gateway.Ask, p *gateway.Pending) (*wanted, error) {
	k, err := s.clocksOf(asking.Actor, &x.Call, true)
	if err != nil {
		return nil, err
	}
	rec := runRecord{Run: x, Actor: asking.Actor, Asked: runDigest(&x)}
	rec.Env = nil
	if err := s.keepEnv(x.Job, x.Env); err != nil {
		s.log.Warn("the environment of a command that waits is not kept", "job", x.Job, "err", err)
	}
	req, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	w := s.newWanted(x, k, asking, p, time.Now())
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, registry.Replaced()
	case s.wanted[x.Job] != nil:
		s.mu.Unlock()
		return nil, store.ErrJobExists
	case len(s.live)+len(s.wanted) >= maxJobs:
		s.mu.Unlock()
		return nil, api.Errorf(api.CodeLimit, "%d jobs have not ended, which is the limit", maxJobs).WithHint("`longterm jobs --running` lists them; stop some")
	}
	s.wanted[x.Job] = w
	s.mu.Unlock()
	if err := s.store.AddJob(ctx, store.Job{ID: x.Job, Kind: store.JobCommand, Line: textOf(&x), State: store.JobWaiting, Request: req, Created: w.began}); err != nil {
		s.unwant(w)
		return nil, err
	}
	s.later(func() { w.run(s.ctx) })
	return w, nil
}

func (s *Set) newWanted(x api.Run, k clocks, asking gateway.Ask, p *gateway.Pending, began time.Time) *wanted {
	return &wanted{
		s: s, x: x, clocks: k, asking: asking, pending: p, began: began,
		over: make(chan struct{}), away: make(chan struct{}), cancel: func() {},
	}
}

// isWanted says that a command of the daemon before was about to be started when somebody had allowed it.
func (s *Set) isWanted(r *store.Job) bool {
	_, err := os.Lstat(s.envMark(r.ID))
	return err == nil && r.Kind == store.JobCommand
}

// wantAgain goes on with a command that the daemon before had not started.
func (s *Set) wantAgain(r *store.Job) error {
	var rec runRecord
	if err := json.Unmarshal(r.Request, &rec); err != nil {
		return err
	}
	x := rec.Run
	x.Job = r.ID
	env, err := s.keptEnv(x.Job)
	if err != nil {
		s.gate.Withdraw(x.Job)
		s.dropEnv(x.Job)
		return fmt.Errorf("it was not started: its environment went with the daemon or the machine before (%w); give it again", err)
	}
	x.Env = env
	k, err := s.clocksOf(rec.Actor, &x.Call, true)
	if err != nil {
		return err
	}
	asking := askRun(rec.Actor, &x)
	answer, p, err := s.gate.Begin(s.ctx, asking)
	w := s.newWanted(x, k, asking, p, r.Created)
	if err != nil {
		s.dropEnv(x.Job)
		return err
	}
	s.mu.Lock()
	s.wanted[x.Job] = w
	s.mu.Unlock()
	s.later(func() {
		if p != nil {
			w.run(s.ctx)
		} else {
			w.begin(s.ctx, answer)
		}
	})
	return nil
}

// run waits for the answer and starts the command.
func (w *wanted) run(ctx context.Context) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	w.s.mu.Lock()
	stop := w.cancel
	w.cancel = cancel
	if w.taken { // before this began
		cancel()
	}
	w.s.mu.Unlock()
	stop()
	answer, err := w.pending.Wait(waiting)
	switch {
	case ctx.Err() != nil:
		return // the daemon's successor waits on
	case err != nil:
		w.end(nil, err)
	default:
		w.begin(ctx, answer)
	}
}

// begin starts the command.
func (w *wanted) begin(ctx context.Context, answer gateway.Answer) {
	x := w.x
	j, err := w.s.startRun(actor.With(ctx, w.asking.Actor), x, w.clocks, true, func(j *Job) { j.admittedTo(w.asking, answer) })
	if err != nil && w.s.Leaving() {
		return
	}
	w.end(j, err)
}

// end tells those who wait what became of it: the job that it is now, or why there is none.
func (w *wanted) end(j *Job, err error) {
	if j == nil {
		w.s.refuse(w, err)
	}
	w.s.mu.Lock()
	w.job, w.err = j, err
	released := isClosed(w.away)
	w.s.mu.Unlock()
	if released && j != nil {
		j.release()
	}
	w.s.unwant(w)
	close(w.over)
}

// refuse records that a command was not started.
func (s *Set) refuse(w *wanted, err error) {
	res := w.result()
	res.State, res.NeedsApproval, res.Error = "lost", false, err.Error()
	if errors.Is(err, context.Canceled) {
		res.State, res.Error, res.Message, res.Aborted = "killed", "", "It was taken back before it was allowed", true
	} else if fillAsking(&res, nil, err); res.State == "denied" {
		res.Message = res.Error
	}
	b, _ := json.Marshal(res) // of plain values
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, readErr := s.store.Job(ctx, w.x.Job)
	if readErr == nil {
		r.State, r.Ended, r.Result = store.JobDone, time.Now(), b
		readErr = s.write(ctx, r)
	}
	if readErr != nil {
		s.log.Error("record a command that was not started", "job", w.x.Job, "err", readErr)
	}
	v := s.jobView(&r)
	s.reg.Bus.PublishJob(&v, nil)
}

func (s *Set) unwant(w *wanted) {
	s.mu.Lock()
	if s.wanted[w.x.Job] == w {
		delete(s.wanted, w.x.Job)
	}
	s.mu.Unlock()
	s.dropEnv(w.x.Job)
}

// wantedByID finds a command that waits to be allowed, by its job's id or a unique prefix of it.
func (s *Set) wantedByID(ref string) *wanted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wanted[ref]; w != nil {
		return w
	}
	var found *wanted
	for id, w := range s.wanted {
		if ref != "" && strings.HasPrefix(id, ref) {
			if found != nil {
				return nil
			}
			found = w
		}
	}
	return found
}

// result is what can be told of it now.
func (w *wanted) result() api.Result {
	r := api.Result{Job: w.x.Job, Mode: "pty", TimedOut: "none", DurationMS: sinceMS(w.began), InBackground: inBackground(&w.x.Call), CwdBefore: w.x.Cwd}
	if w.x.Pipe {
		r.Mode = "pipe"
	}
	if w.pending != nil {
		v := w.pending.Approval()
		fillAsking(&r, &v, nil)
		r.Approval = v.ID
		if r.NeedsApproval {
			r.Message = "Waits for approval " + v.ID
		}
	}
	if r.State == "" { // it is allowed, and about to begin
		r.State, r.Message = "waiting", ""
	}
	return r
}

// view is it as a job that clients see.
func (w *wanted) view() api.Job {
	r := w.result()
	return api.Job{
		ID: w.x.Job, Line: textOf(&w.x), State: r.State, Approval: r.Approval, Background: inBackground(&w.x.Call) || isClosed(w.away),
		Started: w.began, DurationMS: r.DurationMS, Result: &r,
	}
}

// await waits until the command was started and then as its job does, or until its caller is to come back
// without it.
func (w *wanted) await(ctx context.Context, c *api.Call, start bool, how *api.Asking) (api.Result, error) {
	if r := w.result(); c.Background || how.OnApproval == "return" && r.NeedsApproval && r.Approval != how.Told {
		return r, nil
	}
	return w.awaitStart(ctx, c, start, how, w.away)
}

// awaitStart does the same for those who look on too: they have no reason to come back but the start (away is nil).
func (w *wanted) awaitStart(ctx context.Context, c *api.Call, start bool, how *api.Asking, away <-chan struct{}) (api.Result, error) {
	var yield <-chan time.Time
	if c.YieldMS > 0 {
		t := time.NewTimer(turns.Left(ctx, time.Duration(c.YieldMS)*time.Millisecond))
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
	select {
	case <-w.over:
	case <-approvals.wait(open):
		if w.clocks.kill {
			w.takeBack()
			return api.Result{}, approvals.timeoutErr(open)
		}
		w.release()
		return w.result(), nil
	case <-away:
		return w.result(), nil
	case <-yield:
		return w.result(), nil
	case <-w.s.ctx.Done():
		return api.Result{}, registry.Replaced()
	case <-ctx.Done():
		if w.s.ctx.Err() == nil && c.OnTimeout != "background" {
			w.abandoned(ctx)
		}
		return api.Result{}, ctx.Err()
	}
	switch {
	case errors.Is(w.err, context.Canceled):
		return api.Result{}, api.Errorf(api.CodeCanceled, "it was taken back before it was allowed")
	case w.err != nil:
		return api.Result{}, w.err
	}
	x := w.x
	x.Call, x.Start, x.OnApproval, x.Told = *c, start, how.OnApproval, how.Told
	return w.job.firstAnswer(ctx, &x)
}

// abandoned gives the command up, as who waited for it has broken off. Over other hosts the way here may have been lost
// (Job.abandoned): its approval is kept for a while, for him to come back.
func (w *wanted) abandoned(ctx context.Context) {
	if actor.Of(ctx).Host == "" {
		w.takeBack()
		return
	}
	w.s.later(func() {
		if w.callers.lost(w.over, w.away, w.s.ctx.Done()) {
			w.takeBack()
			return
		}
		if isClosed(w.over) && w.job != nil && !isClosed(w.away) && w.callers.waiting.Load() == 0 { // it was started meanwhile
			w.job.endUnlessAsked()
		}
	})
}

// takeBack gives the command up: its approval is gone.
func (w *wanted) takeBack() {
	w.s.mu.Lock()
	w.taken = true
	cancel := w.cancel
	w.s.mu.Unlock()
	cancel()
}

// release lets those who wait for it come back.
func (w *wanted) release() {
	w.s.mu.Lock()
	closeOnce(w.away)
	j := w.job
	w.s.mu.Unlock()
	if j != nil { // it was started meanwhile
		j.release()
	}
}

// envMark is the file that says that a command waits, and names its place in memory.
func (s *Set) envMark(job string) string { return filepath.Join(s.reg.WantedDir(), job) }

// keepEnv keeps an environment in memory that outlives this daemon, where there is such a place.
func (s *Set) keepEnv(job string, env []string) error {
	mark := s.envMark(job)
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return err
	}
	// The mark is there before what it marks: directories in memory whose mark is gone are swept by any daemon that starts.
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

// keptEnv is the environment that the daemon before kept.
func (s *Set) keptEnv(job string) (env []string, err error) {
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

func (s *Set) dropEnv(job string) {
	mark := s.envMark(job)
	dir, err := os.ReadFile(mark)
	if err != nil {
		return // it had none
	}
	if err := errors.Join(shell.RemoveMemoryDir(string(dir)), os.Remove(mark)); err != nil {
		s.log.Warn("remove the environment of a command that waited", "job", job, "err", err)
	}
}

// askFound is what the gateway was asked about a command that the daemon before had started.
func askFound(r *store.Job, who actor.Actor) gateway.Ask {
	var rec runRecord
	_ = json.Unmarshal(r.Request, &rec) // without it: as a person's
	rec.Job = r.ID
	a := askRun(who, &rec.Run)
	a.Session = r.Session
	return a
}
