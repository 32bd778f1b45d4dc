//go:build unix

package registry

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store"
)

// Newest stands for the number of a session's newest command.
const Newest = -1

// task is something that runs in a session: a command of its shell, or its program (n 0).
type task struct {
	n            int
	command, cwd string
	argv         []string // of a program
	from         uint64   // offset of its output
	began        time.Time
}

// outcome is how a task ended.
type outcome struct {
	to     uint64 // offset after its output
	at     time.Time
	exit   *int
	signal string
}

// activity is the newest task of a session and what is known of it.
type activity struct {
	mu      sync.Mutex
	n       int
	state   progress.State
	at      time.Time // when state was
	known   bool
	running bool
	over    int            // number of the newest command that ended
	ends    chan<- outcome // to the watcher of the task that runs
}

// view is what clients see of the n-th command, or of the newest; nil: nothing is known.
func (w *activity) view(n int) *api.Activity {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known || n != Newest && n != w.n {
		return nil
	}
	s := w.state
	if w.running {
		since := time.Since(w.at)
		s.Elapsed += since
		s.ETA = max(s.ETA-since, 0)
	}
	return activityView(w.n, &s, w.running)
}

func activityView(n int, s *progress.State, running bool) *api.Activity {
	a := &api.Activity{N: n, Running: running, Errors: s.Errors, Warnings: s.Warnings, ElapsedMS: s.Elapsed.Milliseconds(), Partial: s.Partial}
	if p := s.Progress; p.Kind != progress.None {
		a.Progress = &api.Progress{State: string(p.Kind), Percent: int(p.Fraction * 100), Current: p.Current, Total: p.Total, Label: p.Label, Reported: p.Reported}
	}
	if f := s.First; f != nil {
		a.FirstError = &api.Problem{File: f.File, Line: f.Line, Column: f.Column, Message: f.Message, Offset: f.Offset}
	}
	if s.HasETA && running {
		ms, due := s.ETA.Milliseconds(), time.Now().Add(s.ETA)
		a.ETAMS, a.Due = &ms, &due
	}
	return a
}

// set notes how a task stands, unless a newer one runs.
func (w *activity) set(n int, s progress.State, at time.Time, running bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n >= w.n {
		w.n, w.state, w.at, w.known, w.running = n, s, at, true, running
	}
}

// begins makes a task the newest; nil: it is over already.
func (w *activity) begins(n int) <-chan outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 && n <= w.over {
		return nil
	}
	ends := make(chan outcome, 1)
	if w.ends != nil {
		close(w.ends) // its end was not seen
	}
	w.n, w.ends, w.known = n, ends, false
	return ends
}

// ended tells the task's watcher.
func (w *activity) ended(n int, how outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = max(w.over, n)
	if w.ends != nil && n == w.n {
		w.ends <- how
		w.ends = nil
	}
}

// followCommand begins or ends to follow a command of a session's shell.
func (h *Registry) followCommand(e *Handle, c *session.Command) {
	n := int(c.Number)
	if c.Running {
		if e.device != nil {
			h.follow(e, task{n: n, command: c.Text, cwd: c.CwdBefore, from: c.Start, began: c.Began})
		}
		return
	}
	e.activity.ended(n, outcome{to: c.End, at: c.Command.Ended, exit: c.Exit})
}

// followProgram follows what a session was started with, if it is no shell for a person.
func (h *Registry) followProgram(e *Handle, l *shell.Launch) {
	r := e.Record()
	if l != nil || len(r.Argv) == 0 || spawn.IsShell(r.Argv) {
		return
	}
	h.follow(e, task{command: spawn.Quote(r.Argv), cwd: r.Cwd, argv: r.Argv, began: r.Started})
}

// programEnded is told of the end of a session.
func (h *Registry) programEnded(e *Handle, st session.Status) {
	how := outcome{to: st.Offset, at: st.Ended}
	if x := st.Exit; x != nil {
		if how.signal = x.Signal; x.Signal == "" {
			how.exit = &x.Code
		}
	}
	e.activity.ended(0, how)
}

// followAgain goes on with the command that ran when the daemon before this one ended.
func (h *Registry) followAgain(ctx context.Context, e *Handle) {
	list, err := h.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID, Running: true, Newest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return
	}
	c := list[0]
	h.follow(e, task{n: c.N, command: c.Text, cwd: c.Cwd, from: c.From, began: c.Started})
}

// follow reads what a task prints, in the background.
func (h *Registry) follow(e *Handle, j task) {
	ends := e.activity.begins(j.n)
	if ends == nil {
		return
	}
	f := &watcher{reg: h, e: e, task: j, ends: ends}
	h.watchers.run(func(ctx context.Context) {
		_ = h.contain("follow a command's output", e.rec.ID, func() error { f.run(ctx); return nil }) // it is logged
	})
}

// watchers are the goroutines that read what commands print.
type watchers struct {
	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

func newWatchers() *watchers {
	ctx, cancel := context.WithCancel(context.Background())
	return &watchers{ctx: ctx, cancel: cancel}
}

func (f *watchers) run(follow func(context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.group.Go(func() { follow(f.ctx) })
	}
}

// stop ends them and waits.
func (f *watchers) stop() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.cancel()
	f.group.Wait()
}
