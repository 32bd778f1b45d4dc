//go:build unix

package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/liveconfig"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/store"
)

// maxJobs bounds the jobs that have not ended. A thousand may wait for a user (maxPending of package authorize) while others
// run.
const maxJobs = 1536

// Audit records the ends of jobs. It does not block.
type Audit interface{ Record(audit.Record) }

// Set is the set of jobs that have not ended. Records are written before anything is typed or started, so that the next
// daemon continues all jobs and runs none twice.
type Set struct {
	Audit Audit // nil records nothing

	reg   *registry.Registry
	store *store.Store
	conf  *liveconfig.Settings
	log   *slog.Logger
	pool  *pool
	gate  *authorize.Gateway

	ctx  context.Context // ends when the daemon leaves
	stop context.CancelFunc
	work sync.WaitGroup

	mu            sync.Mutex
	closed        bool // the daemon leaves
	live          map[string]*Job
	pendingStarts map[string]*pendingStart // commands that a user has to allow before they are started
	toResume      []store.Job              // records of the previous daemon, until Resume

	retryQueue retryqueue.Set[string, store.Job] // records whose write failed, by job ID
}

// New returns a set without jobs. Load reads those of the previous daemon.
func New(h *registry.Registry, st *store.Store, conf *liveconfig.Settings, log *slog.Logger, gate *authorize.Gateway) *Set {
	ctx, stop := context.WithCancel(context.Background())
	s := &Set{reg: h, store: st, conf: conf, log: log, gate: gate, ctx: ctx, stop: stop, live: map[string]*Job{}, pendingStarts: map[string]*pendingStart{}}
	s.pool = &pool{jobs: s}
	h.JobSession, h.JobOf = s.sessionOfJob, s.jobOf
	s.retryQueue.Max = maxRetryQueue
	return s
}

// Close stops the timeouts and the pool. Running commands continue.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.retryQueue.Stop()
	s.work.Wait()
	s.retryWrites() // a last time
	s.pool.close()
}

// Context returns a context that is canceled when the daemon ends.
func (s *Set) Context() context.Context { return s.ctx }

// IsStopping reports whether the daemon ends: the next one continues the jobs.
func (s *Set) IsStopping() bool { return s.ctx.Err() != nil }

// newJob makes a job of a request that has been checked.
func (s *Set) newJob(e *registry.Handle, c api.Call, k timeouts, line string, req any) (*Job, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	if c.Job == "" {
		c.Job = uuid.NewString()
	}
	return &Job{
		s: s, e: e, id: c.Job, line: line, request: b, call: c, timeouts: k, created: time.Now(), timing: timing{adoptedAt: time.Now()},
		background: inBackground(&c), stops: make(chan time.Duration, 1), skips: make(chan struct{}),
	}, nil
}

// record makes a job known, in memory and on disk: store.ErrJobExists when its id is taken.
func (s *Set) record(ctx context.Context, j *Job, t trigger) error {
	s.mu.Lock()
	err := s.checkRoom(s.live[j.id] != nil)
	if err == nil {
		s.live[j.id] = j
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	edge := &transitions[t]
	err = j.apply(t, nil, func() error { return s.insert(ctx, j.rowAt(edge.to), edge.first) })
	if err != nil {
		s.forget(j)
		j.move(triggerNotRecorded, nil)
	}
	return err
}

// checkRoom returns why no job can be added: the daemon ends, its id is taken, or too many jobs have not ended. The caller
// holds mu.
func (s *Set) checkRoom(taken bool) error {
	switch {
	case s.closed:
		return registry.ErrReplaced()
	case taken:
		return store.ErrJobExists
	case len(s.live)+len(s.pendingStarts) >= maxJobs:
		return api.Errorf(api.CodeLimit, "%d jobs have not ended, which is the limit", maxJobs).WithHint("`longterm jobs --running` lists them; stop some")
	}
	return nil
}

// insert writes the first record of a job. Its command runs although the disk is full: the record is retried then.
func (s *Set) insert(ctx context.Context, r store.Job, how write) error {
	write := s.store.AddJob
	if how == updateRecord {
		write = s.store.UpdateJob
	}
	err := write(ctx, r)
	if err == nil || errors.Is(err, store.ErrJobExists) || ctx.Err() != nil {
		return err
	}
	s.log.Error("record a job", "job", r.ID, "err", err)
	s.retryLater(r)
	return nil
}

// forget removes a job from memory.
func (s *Set) forget(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, j.id)
}

// follow starts the goroutines of a job, unless the daemon ends: the next one continues with it then.
func (s *Set) follow(j *Job, follow func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { j.runTimeouts(s.ctx) })
		s.work.Go(func() { follow(s.ctx) })
		if j.call.Digest && !j.e.Record().Pipe {
			s.work.Go(func() { j.digestOutput(s.ctx) })
		}
	}
}

// await returns the job with an id after its first caller has started it. It returns nil if the job does not exist, or
// could not be started.
func (s *Set) await(ctx context.Context, id string) *Job {
	s.mu.Lock()
	j := s.live[id]
	s.mu.Unlock()
	if j == nil {
		return nil
	}
	j.await(ctx, stateAdopting)
	return s.byID(id)
}

// byID finds a job that was started and has not ended, by id or unique prefix.
func (s *Set) byID(ref string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.live[ref]; j != nil && j.hasReached(stateAdopting) {
		return j
	}
	var found *Job
	for id, j := range s.live {
		if ref != "" && strings.HasPrefix(id, ref) && j.hasReached(stateAdopting) {
			if found != nil {
				return nil
			}
			found = j
		}
	}
	return found
}

// Running returns how many jobs were started and have not ended.
func (s *Set) Running() int { return len(s.all()) }

// all lists the jobs that were started and have not ended.
func (s *Set) all() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Job, 0, len(s.live))
	for _, j := range s.live {
		if j.hasReached(stateAdopting) {
			list = append(list, j)
		}
	}
	return list
}

// OnCommand notifies the job whose line the previous daemon submitted that the session ran command c.
func (s *Set) OnCommand(e *registry.Handle, c *session.Command) {
	for _, j := range s.all() {
		if j.e != e || c.Began.Before(j.created.Add(-registry.ClockTick)) {
			continue
		}
		j.mu.Lock()
		n, begun, unseen := j.outcome.started.Number, j.state >= stateRunning, j.previous.recordOnly
		j.mu.Unlock()
		if unseen && (begun && n == c.Number || !begun && c.Text == j.line) {
			s.runAsync(func() { j.onCommand(c, nil) }) // it writes to the disk
			return
		}
	}
}

// runAsync runs f on another goroutine, unless the daemon stops.
func (s *Set) runAsync(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(f)
	}
}

// row returns the job's record in its current state.
func (j *Job) row() store.Job {
	return j.rowAt(j.current())
}

// recordState returns the state that the job's record has in a state of the job. A job that had started under the
// previous daemon is running while this one adopts it. The caller holds mu.
func (j *Job) recordState(at state) string {
	if at == stateAdopting && j.previous.hadStarted {
		return store.JobRunning
	}
	return at.recordState()
}

// rowAt returns the job's record in a state.
func (j *Job) rowAt(at state) store.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &j.outcome
	r := store.Job{
		ID: j.id, Session: j.e.ID(), Kind: store.JobLine, Line: j.line, State: j.recordState(at), N: int(o.started.Number), Request: j.request, Created: j.created,
	}
	if j.command {
		r.Kind = store.JobCommand
	}
	if at == stateDone {
		kept := *o.result // without its output, which the session keeps
		if j.command && isBaseline(&kept) {
			kept.Output = j.s.reg.Secrets().RedactText(kept.Output)
		} else {
			kept.Output = ""
		}
		kept.Stdout, kept.Stderr, kept.Parsed = nil, nil, nil
		r.Result, _ = json.Marshal(kept) // of plain values
		r.Ended = o.at
	}
	return r
}

// save writes the record. Writers come from several goroutines; each writes what is true
// when its turn has come, so that no write undoes a later one.
func (j *Job) save() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := j.write(ctx); err != nil {
		j.s.log.Error("record a job", "job", j.id, "err", err)
	}
}

// maxEventOutput bounds the output in the event of a job's end, in bytes: the bus keeps events in memory.
const maxEventOutput = 64 << 10

// finish records and publishes the result, once.
func (j *Job) finish(ctx context.Context) {
	if ctx.Err() != nil { // the daemon ends; the next one continues
		return
	}
	j.s.gate.LineFinished(j.e.ID(), j.id)
	r := j.answer(ctx, 0)
	j.summarize(ctx, &r)
	if ctx.Err() != nil {
		return
	}
	j.e.ReleaseLineSecrets(ctx, j.submittedLine())
	described := j.s.reg.Describe(j.e, j.e.Session.Status()) // before KeepRun changes its labels
	if j.command {
		j.discardUnlessAllowed(ctx)
		if ctx.Err() != nil { // perhaps before the draft was discarded
			return
		}
		r.Draft = j.s.reg.EndDraft(ctx, j.e)
	} else {
		r.Draft = j.s.reg.DraftAfterLine(ctx, j.e)
	}
	if j.ranInDraft() && !j.drafted.keep || j.command && j.e.IsTemporary() && (isWorthKeeping(&r) || r.Draft != nil) {
		j.s.reg.KeepRun(j.e)
	}
	_ = j.apply(triggerFinished, func() { j.outcome.result, j.outcome.at = &r, time.Now() }, func() error {
		j.persist(&transitions[triggerFinished])
		j.auditEnd(&r)
		j.s.forget(j)
		if j.warm != nil {
			j.s.pool.replaceUsed(j.warm)
		}
		return nil
	})
	view := j.view()
	if len(r.Output) > maxEventOutput {
		view.Result = withoutOutput(view.Result)
	}
	j.s.reg.Bus.PublishJob(&view, &described)
}

// The session of a command that ran for longTime or printed longOutput bytes is kept although the command succeeded.
const (
	longTime   = 10 * time.Second
	longOutput = 16 << 10
)

// isWorthKeeping reports whether a command's output is likely to be needed later: the command failed, or was long.
func isWorthKeeping(r *api.Result) bool {
	return !r.IsSuccess() || r.DurationMS >= longTime.Milliseconds() || r.Range.End-r.Range.Start >= longOutput
}

// isBaseline reports whether the record of a command keeps its output: the session is removed, and a later failure is compared with
// the output (compareruns). Secrets in it are masked. The record loses it after a day.
func isBaseline(r *api.Result) bool {
	return r.Mode == "pty" && !r.Truncated && !isWorthKeeping(r) && len(r.Output) < longOutput
}

// auditEnd records in the audit log how the job ended, and the range of its output.
func (j *Job) auditEnd(r *api.Result) {
	if j.s.Audit == nil {
		return
	}
	rec := audit.Record{
		Actor: j.approval.request.Actor, Approval: r.Approval, Kind: audit.End, Session: r.Session, Name: j.e.Record().Name, Job: j.id, Line: j.line, Exit: r.ExitCode, Signal: r.Signal,
		Output: &audit.Range{From: r.Range.Start, To: r.Range.End}, Note: r.State,
	}
	j.s.Audit.Record(rec)
}

// followLine waits for a line's beginning and end.
func (j *Job) followLine(ctx context.Context) {
	run := j.submittedLine()
	select {
	case <-run.StartedC:
	case <-ctx.Done():
		return
	}
	if run.StartCommand.Number > 0 {
		j.onCommand(&run.StartCommand, nil)
	}
	select {
	case <-run.DoneC:
		taken := j.program.allowed && errors.Is(run.Err, session.ErrBusy)           // with what had just been typed
		if taken || errors.Is(run.Err, session.ErrNoShell) && len(run.Rules) == 0 { // or another shell took the terminal
			j.submitUnintegrated(ctx)
			return
		}
		j.onCommand(&run.Command, run.Err)
	case <-ctx.Done():
	}
}

// followCommand waits for the end of the session's own command.
func (j *Job) followCommand(ctx context.Context) {
	j.move(triggerStarted, nil)
	w, err := j.e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondExit}}})
	switch {
	case ctx.Err() != nil:
	case err == nil && len(w.Fired) > 0 && j.ranInDraft():
		j.reviewDraft(ctx)
	case err == nil && len(w.Fired) > 0:
		j.move(triggerExited, nil)
	default:
		if err == nil {
			err = session.ErrStopped
		}
		j.fail(err)
	}
}
