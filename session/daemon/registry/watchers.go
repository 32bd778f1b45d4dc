//go:build unix

package registry

import (
	"context"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/store"
)

// watchers are who reads what commands print, each on a goroutine of its own while there is something to read.
type watchers struct {
	reg   *Registry
	since time.Time
	// catching is whose turn it is to read what was printed under daemons before, see catchUp.
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

// stop ends them and waits.
func (w *watchers) stop() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.group.Wait()
}

// command begins or ends to follow a command of a session's shell.
func (w *watchers) command(e *Handle, c *session.Command) {
	n := int(c.Number)
	if c.Running {
		if e.device != nil {
			w.follow(e, task{n: n, command: c.Text, cwd: c.CwdBefore, from: c.Start, began: c.Began})
		}
		return
	}
	e.activity.ended(n, outcome{to: c.End, at: c.Command.Ended, exit: c.Exit})
}

// program awaits the end of what a session was started with, if it is no shell for a person; follow reads what it prints,
// once the session is there, which may be told of the end at once.
func (w *watchers) program(e *Handle, l *shell.Launch) (follow func()) {
	r := e.Record()
	if l != nil || len(r.Argv) == 0 || spawn.IsShell(r.Argv) {
		return func() {}
	}
	return w.begin(e, task{command: shellquote.Line(r.Argv), cwd: r.Cwd, argv: r.Argv, began: r.Started})
}

// programEnded is told of the end of a session.
func (e *Handle) programEnded(st session.Status) {
	how := outcome{to: st.Offset, at: st.Ended}
	if x := st.Exit; x != nil {
		if how.signal = x.Signal; x.Signal == "" {
			how.exit = &x.Code
		}
	}
	e.activity.ended(0, how)
}

// again awaits the end of the command that ran when the daemon before this one ended; follow reads what it prints,
// which has the session begin.
func (w *watchers) again(ctx context.Context, e *Handle) (follow func()) {
	list, err := w.reg.store.Commands(ctx, store.CommandQuery{Session: e.rec.ID, Running: true, Newest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return func() {}
	}
	c := list[0]
	return w.begin(e, task{n: c.N, command: c.Text, cwd: c.Cwd, from: c.From, began: c.Started})
}

// follow reads what a task prints, in the background.
func (w *watchers) follow(e *Handle, j task) { w.begin(e, j)() }

// begin awaits a task's end.
func (w *watchers) begin(e *Handle, j task) (follow func()) {
	ends := e.activity.begins(j.n)
	if ends == nil {
		return func() {}
	}
	f := &watcher{reg: w.reg, of: w, e: e, task: j, ends: ends, asks: e.activity.looks()}
	return func() {
		f.start(func(ctx context.Context) {
			f.ctx, f.cancel = context.WithCancel(ctx)
			w.seek(f, time.Now(), seekAfter)
			w.turn(f)
		})
	}
}

// start runs follow on a goroutine of the watcher. After stop the watcher leaves at once, so that upTo does not
// wait for it.
func (f *watcher) start(follow func(context.Context)) {
	if !f.of.run(follow) {
		f.e.activity.leaves(f.asks)
	}
}

// turn has a watcher do what there is to do, until its task is over or silent.
func (w *watchers) turn(f *watcher) {
	silent := false
	_ = contain(w.reg.log, "follow a command's output", f.e.rec.ID, func() error { silent = f.run(f.ctx); return nil }) // it is logged
	if !silent {
		f.cancel()
		f.e.activity.leaves(f.asks)
		return
	}
	f.sleep(func() { f.start(func(context.Context) { w.turn(f) }) })
}

// A program that prints nothing can run for days, and there may be thousands of them. After a while its watcher has no
// goroutine and no machine any more, if that read nothing: output, the end of the task or of the session's owner has
// it go on.

// silence is how long nothing is printed by then.
const silence = 5 * time.Second

// sleep has wake called once there is something to do. The watcher is whoever's is woken as soon as it begins: its caller
// touches it no more.
func (f *watcher) sleep(wake func()) {
	if f.pos == f.task.from {
		f.m, f.feed = nil, nil // nothing was read
	}
	f.asleep.Store(true)
	once := func() {
		if f.asleep.CompareAndSwap(true, false) {
			f.e.activity.awake(f.ends)
			wake()
		}
	}
	if !f.asked {
		time.AfterFunc(f.pastIn(), once)
	}
	s, read := f.e.Session, f.pos
	over := !f.e.activity.atEnd(f.ends, read, once)
	s.NextOutput(once)
	if _, end := s.OutputRange(); over || end != read { // meanwhile
		once()
	}
}
