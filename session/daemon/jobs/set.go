//go:build unix

// Package jobs runs lines and commands for those who ask, each as a job: recorded before anything is
// typed or started, under clocks, ended by the kill ladder, answered with one result.
//
//	Exec, Run → job: record → gateway → start → runClocks beside follow… → finish: result, record, event
//
// A line that a person has to allow is a job that waits, with its clocks stopped (approval.go); a command
// that has to be allowed has no session yet, and is wanted until then (wanted.go).
//
// A job has two goroutines: one owns its clocks, the other sees its end. Callers come and go, and a
// daemon that comes after this one goes on with all jobs and runs none twice (jobresume.go). The pool
// has warm shells for lines that need no session of their own. It knows sessions by their handles,
// and no request.
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
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/daemon/settings"
	"github.com/longterm-dev/longterm/session/internal/unwritten"
	"github.com/longterm-dev/longterm/store"
)

// maxJobs bounds the jobs that have not ended. A thousand may wait for a person (gateway.maxPending) while others run.
const maxJobs = 1536

// Audit is told of the ends of jobs; it does not wait.
type Audit interface{ Record(audit.Record) }

// Set is the set of jobs that have not ended. Records are written before anything is
// typed or started, so that a daemon that comes after this one goes on with all of them
// and runs none twice.
type Set struct {
	Audit Audit // nil: nobody is told

	reg   *registry.Registry
	store *store.Store
	conf  *settings.Settings
	log   *slog.Logger
	pool  *pool
	gate  *gateway.Gateway

	ctx  context.Context // ends when the daemon leaves
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	closed bool // the daemon leaves
	live   map[string]*Job
	wanted map[string]*wanted // commands that a person has to allow before they are started
	found  []store.Job        // of the daemon before, until resume

	unwritten unwritten.Set[string, store.Job]
}

// New is a set without jobs; Load reads those that the daemon before left.
func New(h *registry.Registry, st *store.Store, conf *settings.Settings, log *slog.Logger, gate *gateway.Gateway) *Set {
	ctx, stop := context.WithCancel(context.Background())
	s := &Set{reg: h, store: st, conf: conf, log: log, gate: gate, ctx: ctx, stop: stop, live: map[string]*Job{}, wanted: map[string]*wanted{}}
	s.pool = &pool{jobs: s}
	h.JobSession = s.sessionOfJob
	s.unwritten.Max = maxUnwritten
	return s
}

// Close ends the clocks and what the pool makes; what runs goes on.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.unwritten.Leave()
	s.work.Wait()
	s.tryKept() // a last time
	s.pool.close()
}

// Done is a context that ends when the daemon leaves.
func (s *Set) Done() context.Context { return s.ctx }

// Leaving says that the daemon ends: what it holds is its successor's.
func (s *Set) Leaving() bool { return s.ctx.Err() != nil }

// newJob makes a job of a request that has been checked.
func (s *Set) newJob(e *registry.Handle, c api.Call, k clocks, line string, req any) (*Job, error) {
	b, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	if c.Job == "" {
		c.Job = uuid.NewString()
	}
	return &Job{
		s: s, e: e, id: c.Job, line: line, req: b, call: c, clocks: k, began: time.Now(), here: time.Now(), away: inBackground(&c),
		begun: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{}),
		settled: make(chan struct{}),
		stops:   make(chan time.Duration, 1), skips: make(chan struct{}), released: make(chan struct{}), admitted: make(chan struct{}),
	}, nil
}

// record makes a job known, in memory and on disk: store.ErrJobExists when its id is taken.
func (s *Set) record(ctx context.Context, j *Job) error {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return registry.Replaced()
	case s.live[j.id] != nil:
		s.mu.Unlock()
		return store.ErrJobExists
	case len(s.live)+len(s.wanted) >= maxJobs:
		s.mu.Unlock()
		return api.Errorf(api.CodeLimit, "%d jobs have not ended, which is the limit", maxJobs).WithHint("`longterm jobs --running` lists them; stop some")
	}
	s.live[j.id] = j
	s.mu.Unlock()
	var err error
	if j.known { // it was wanted before
		err = s.store.UpdateJob(ctx, j.row())
	} else {
		err = s.store.AddJob(ctx, j.row())
	}
	if err != nil && !errors.Is(err, store.ErrJobExists) && ctx.Err() == nil {
		s.log.Error("record a job", "job", j.id, "err", err) // the disk is full, say: it runs all the same
		s.keep(j.row())
		err = nil
	}
	if err != nil {
		s.forget(j)
	}
	return err
}

func (s *Set) forget(j *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, j.id)
}

// start has a recorded job under its clocks and followed; when the daemon leaves, its successor
// does.
func (s *Set) start(j *Job, follow func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closeOnce(j.settled)
	if !s.closed {
		s.work.Go(func() { j.runClocks(s.ctx) })
		s.work.Go(func() { follow(s.ctx) })
		if j.call.Digest && !j.e.Record().Pipe {
			s.work.Go(func() { j.readAlong(s.ctx) })
		}
	}
}

// await returns the job with an id once its first caller has started it; nil:
// there is none, or it could not be started.
func (s *Set) await(ctx context.Context, id string) *Job {
	s.mu.Lock()
	j := s.live[id]
	s.mu.Unlock()
	if j == nil {
		return nil
	}
	select {
	case <-j.settled:
	case <-ctx.Done():
	}
	return s.byID(id)
}

// byID finds a job that was started and has not ended, by id or unique prefix.
func (s *Set) byID(ref string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.live[ref]; j != nil && isClosed(j.settled) {
		return j
	}
	var found *Job
	for id, j := range s.live {
		if ref != "" && strings.HasPrefix(id, ref) && isClosed(j.settled) {
			if found != nil {
				return nil
			}
			found = j
		}
	}
	return found
}

// Running is how many jobs were started and have not ended.
func (s *Set) Running() int { return len(s.all()) }

// all lists the jobs that were started and have not ended.
func (s *Set) all() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Job, 0, len(s.live))
	for _, j := range s.live {
		if isClosed(j.settled) {
			list = append(list, j)
		}
	}
	return list
}

// Ran tells jobs that were given to a shell by the daemon before of a command.
func (s *Set) Ran(e *registry.Handle, c *session.Command) {
	for _, j := range s.all() {
		if j.e != e || !j.found.Load() || c.Began.Before(j.began.Add(-registry.ClockTick)) {
			continue
		}
		j.mu.Lock()
		n, known := j.started.Number, isClosed(j.begun)
		j.mu.Unlock()
		if known && n == c.Number || !known && c.Text == j.line {
			s.later(func() { j.saw(c) }) // it writes to the disk
			return
		}
	}
}

// later has something done beside, unless the daemon leaves.
func (s *Set) later(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(f)
	}
}

// saw is told of a command that is the job's, in any order and more than once.
func (j *Job) saw(c *session.Command) {
	if !c.Running && !isClosed(j.begun) {
		j.mu.Lock()
		j.started = *c
		j.mu.Unlock()
	}
	j.ranLine(c, nil)
	if c.Running {
		j.save()
	}
}

// row is the job's record, as it stands.
func (j *Job) row() store.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	state := store.JobWaiting
	switch {
	case j.result != nil:
		state = store.JobDone
	case isClosed(j.begun):
		state = store.JobRunning
	}
	r := store.Job{
		ID: j.id, Session: j.e.ID(), Kind: store.JobLine, Line: j.line, State: state, N: int(j.started.Number), Request: j.req, Created: j.began,
	}
	if j.command {
		r.Kind = store.JobCommand
	}
	if j.result != nil {
		kept := *j.result // without what it printed: that is the session's, and goes with it
		kept.Output, kept.Stdout, kept.Stderr, kept.Parsed = "", nil, nil, nil
		r.Result, _ = json.Marshal(kept) // of plain values
		r.Ended = j.done
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

// finish makes the result stand and tells of it, once.
func (j *Job) finish(ctx context.Context) {
	j.mu.Lock()
	stopped := errors.Is(j.err, session.ErrStopped)
	j.mu.Unlock()
	if stopped || ctx.Err() != nil { // the daemon ends; its successor goes on
		return
	}
	j.s.gate.Landed(j.e.ID(), j.id)
	r := j.answer(ctx, 0)
	j.e.RulesOver(ctx, j.given())
	described := j.s.reg.Describe(j.e, j.e.Session.Status()) // before KeepRun changes its labels
	if j.command && j.e.Temporary() && isWorthKeeping(&r) {
		j.s.reg.KeepRun(j.e)
	}
	j.mu.Lock()
	j.result, j.done = &r, time.Now()
	j.mu.Unlock()
	j.save()
	j.tellAudit(&r)
	j.s.forget(j)
	if j.warm != nil {
		j.s.pool.used(j.warm)
	}
	close(j.over)
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

// tellAudit has it recorded how the job ended, and which output is its.
func (j *Job) tellAudit(r *api.Result) {
	if j.s.Audit == nil {
		return
	}
	rec := audit.Record{
		Actor: j.asking.Actor, Approval: r.Approval, Kind: audit.End, Session: r.Session, Name: j.e.Record().Name, Job: j.id, Line: j.line, Exit: r.ExitCode, Signal: r.Signal,
		Output: &audit.Range{From: r.Range.Start, To: r.Range.End}, Note: r.State,
	}
	j.s.Audit.Record(rec)
}

// followLine waits for a line's beginning and end.
func (j *Job) followLine(ctx context.Context) {
	run := j.given()
	select {
	case <-run.Begun:
	case <-ctx.Done():
		return
	}
	if run.Started.Number > 0 {
		j.ranLine(&run.Started, nil)
		j.save()
	}
	select {
	case <-run.Done:
		taken := j.orUnintegrated && errors.Is(run.Err, session.ErrBusy)            // with what had just been typed
		if taken || errors.Is(run.Err, session.ErrNoShell) && len(run.Rules) == 0 { // or another shell took the terminal
			j.goUnintegrated(ctx)
			return
		}
		j.ranLine(&run.Command, run.Err)
	case <-ctx.Done():
	}
}

// followCommand waits for the end of the session's own command.
func (j *Job) followCommand(ctx context.Context) {
	closeOnce(j.begun)
	j.save()
	w, err := j.e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondExit}}})
	switch {
	case ctx.Err() != nil:
	case err == nil && len(w.Fired) > 0:
		close(j.ended)
	default:
		if err == nil {
			err = session.ErrStopped
		}
		j.fail(err)
	}
}
