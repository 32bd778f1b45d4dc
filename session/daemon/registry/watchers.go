//go:build unix

package registry

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// watchers reads the output of commands, each on a goroutine that exists while output arrives.
type watchers struct {
	reg   *Registry
	since time.Time
	// held by the watcher that reads output from before this daemon (catchUp)
	catching chan struct{}

	mu     sync.Mutex
	closed bool
	group  sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

func newWatchers(reg *Registry) *watchers {
	ctx, cancel := context.WithCancel(context.Background())
	return &watchers{reg: reg, since: time.Now(), catching: make(chan struct{}, 1), ctx: ctx, cancel: cancel}
}

// run starts follow on a goroutine and reports whether it did: it starts none after stop.
func (w *watchers) run(follow func(context.Context)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.group.Go(func() { follow(w.ctx) })
	}
	return !w.closed
}

// stop ends all watchers and waits.
func (w *watchers) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.group.Wait()
}

// command starts or stops following a command of a session's shell.
func (w *watchers) command(e *Handle, c *session.Command) {
	n := int(c.Number)
	if c.Running {
		if e.device != nil {
			w.follow(e, task{n: n, command: c.Text, cwd: c.CwdBefore, from: c.Start, began: c.Began})
		}
		return
	}
	e.activity.end(n, outcome{to: c.End, at: c.Command.Ended, exit: c.Exit})
	e.Anomalies.End(n, c.End)
}

// program awaits the end of a session's program, unless it is an interactive shell. Call follow once the session
// exists; the end may already have been reported.
func (w *watchers) program(e *Handle, l *shell.Launch) (follow func()) {
	r := e.Record()
	if l != nil || len(r.Argv) == 0 || spawn.IsShell(r.Argv) {
		return func() {}
	}
	return w.begin(e, task{command: shellquote.Line(r.Argv), cwd: r.Cwd, argv: r.Argv, from: r.ProgramFrom, began: r.Started})
}

// programEnded handles the end of a session.
func (e *Handle) programEnded(st session.Status) {
	how := outcome{to: st.Offset, at: st.Ended}
	if x := st.Exit; x != nil {
		if how.signal = x.Signal; x.Signal == "" {
			how.exit = &x.Code
		}
	}
	e.activity.end(0, how)
	e.Anomalies.End(0, st.Offset)
}

// resume awaits the end of the command that ran when the previous daemon stopped; follow reads its output, which starts
// the session's owner.
func (w *watchers) resume(ctx context.Context, e *Handle) (follow func()) {
	list, err := w.reg.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID, Running: true, Newest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return func() {}
	}
	c := list[0]
	return w.begin(e, task{n: c.N, command: c.Text, cwd: c.Cwd, from: c.From, began: c.Started})
}

// follow reads a task's output in the background.
func (w *watchers) follow(e *Handle, j task) { w.begin(e, j)() }

// begin awaits a task's end.
func (w *watchers) begin(e *Handle, j task) (follow func()) {
	ends := e.activity.start(j.n)
	if ends == nil {
		return func() {}
	}
	compare := e.Anomalies.Start(&comparedTask{w, e, j}, j.n, j.from, j.began)
	f := &watcher{reg: w.reg, set: w, e: e, task: j, ends: ends, readRequests: e.activity.requests()}
	return func() {
		compare()
		f.start(func(ctx context.Context) {
			f.ctx, f.cancel = context.WithCancel(ctx)
			w.seek(f, time.Now(), agentCheckTimes)
			w.runOnce(f)
		})
	}
}

// comparedTask is a task that is compared with its earlier runs (anomaly.Host).
type comparedTask struct {
	set  *watchers
	e    *Handle
	task task
}

// Session implements anomaly.Host.
func (c *comparedTask) Session() *session.Session { return c.e.Session }

// FindFailures implements anomaly.Host. One task searches at a time: hundreds at once would leave no processor to others.
func (c *comparedTask) FindFailures(ctx context.Context) (has func(line []byte) bool, err error) {
	r := c.set.reg
	if r.FindFailures == nil {
		return nil, nil
	}
	select {
	case r.comparing <- struct{}{}:
		defer func() { <-r.comparing }()
	case <-ctx.Done():
		return nil, nil
	}
	r.Flush(ctx)
	known, err := r.FindFailures(ctx, c.e, &store.Command{
		Session: c.e.ID(), N: c.task.n, Text: c.task.command, Cwd: c.task.cwd, State: store.CommandRunning, Started: c.task.began, From: c.task.from,
	})
	if err != nil || known == nil {
		return nil, err
	}
	return known.Has, nil
}

// ShouldPublish implements anomaly.Host.
func (c *comparedTask) ShouldPublish() bool {
	which := c.set.reg.conf.Get().Alerts.Anomaly
	return which == "all" || which == "users" && c.e.Record().Agent == ""
}

// Publish implements anomaly.Host.
func (c *comparedTask) Publish(line string, at uint64) {
	r, a := c.set.reg, api.Anomaly{Command: c.task.n, Text: c.task.command, Line: line, Offset: at}
	if r.JobOf != nil {
		a.Job = r.JobOf(c.e, c.task.n, c.task.command)
	}
	c.e.publishing.Lock() // keeps states in order
	defer c.e.publishing.Unlock()
	view := r.Describe(c.e, c.e.Session.Status())
	r.Bus.Send(api.Event{Kind: "anomaly", Session: &view, Anomaly: &a})
}

// Go implements anomaly.Host.
func (c *comparedTask) Go(f func(context.Context) error, done func()) bool {
	return c.set.run(func(ctx context.Context) {
		defer done()
		log := c.set.reg.log
		if err := recoverPanics(log, "compare a command's output", c.e.ID(), func() error { return f(ctx) }); err != nil && ctx.Err() == nil {
			log.Warn("compare a command with its earlier runs", "session", c.e.ID(), "err", err)
		}
	})
}

// start runs follow on a goroutine of the watcher. After stop the watcher ends at once, so that awaitRead does not wait for
// it.
func (f *watcher) start(follow func(context.Context)) {
	if !f.set.run(follow) {
		f.e.activity.watcherStopped(f.readRequests)
	}
}

// runOnce runs a watcher until its task has ended or is silent.
func (w *watchers) runOnce(f *watcher) {
	silent := false
	_ = recoverPanics(w.reg.log, "follow a command's output", f.e.rec.ID, func() error { silent = f.run(f.ctx); return nil }) // it is logged
	if !silent {
		f.cancel()
		f.e.activity.watcherStopped(f.readRequests)
		return
	}
	f.sleep(func() { f.start(func(context.Context) { w.runOnce(f) }) })
}

// A silent program can run for days, and there may be thousands. Its watcher ends its goroutine and drops its detector;
// output, the end of the task or the end of the owner resumes it.

// watcherIdleTime is the time without output after which a watcher parks.
const watcherIdleTime = 5 * time.Second

// sleep calls wake at the next event. The watcher may run again as soon as sleep starts, so the caller must not touch
// it afterwards.
func (f *watcher) sleep(wake func()) {
	if f.pos == f.task.from {
		f.m, f.feed = nil, nil // nothing was read
	}
	f.asleep.Store(true)
	once := func() {
		if f.asleep.CompareAndSwap(true, false) {
			f.e.activity.watcherRuns(f.ends)
			wake()
		}
	}
	if !f.pastKnown {
		time.AfterFunc(f.pastIn(), once)
	}
	s, read := f.e.Session, f.pos
	over := !f.e.activity.sleep(f.ends, read, once)
	s.NextOutput(once)
	if _, end := s.OutputRange(); over || end != read { // changed in between
		once()
	}
}
