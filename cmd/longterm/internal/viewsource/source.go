//go:build unix

package viewsource

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// retryTime is how often a viewer asks for a daemon that is away.
const retryTime = 50 * time.Millisecond

// viewSource is where the viewer's sessions come from: the daemon.
type source struct {
	c       *client.Client
	dirs    paths.Dirs
	version func() string
	options *Options
	sizes   *sizeOption
	orders  chan model.Order // it has one reader
	mark    string           // label of the sessions in which this viewer's prompt runs commands
}

// markLabel has the mark of the viewer whose prompt a session belongs to.
const markLabel = "longterm.viewer"

// Sessions follows the daemon's events.
func (v source) Sessions(ctx context.Context) <-chan model.Update {
	out := make(chan model.Update, 1)
	f := &feed{v: v, out: out, self: os.Getenv("LONGTERM_SESSION"), bells: map[string]int{}, exits: map[string]*int{}}
	go func() {
		defer close(out)
		for ctx.Err() == nil {
			if err := v.c.Events(ctx, func(e api.Event) error { return f.event(ctx, e) }); err != nil {
				f.send(model.Update{Away: err.Error()})
			}
			pause(ctx, retryTime)
		}
	}()
	return out
}

// viewFeed turns events into lists of sessions. Its goroutine is the only one that sends.
type feed struct {
	v     source
	out   chan model.Update
	self  string // the session the viewer runs in: to show it would be a hall of mirrors
	all   []api.Session
	bells map[string]int
	exits map[string]*int // status of the last command that took its time
	asked approvals
}

// send replaces what the viewer has not fetched yet: the newest counts.
func (f *feed) send(u model.Update) {
	select {
	case <-f.out:
	default:
	}
	f.out <- u
}

func (f *feed) event(ctx context.Context, e api.Event) error {
	switch {
	case e.Kind == "config":
		f.v.options.reload()
		return nil
	case e.Arrange != nil:
		f.v.order(e.Arrange)
		return nil
	case e.Approval != nil:
		f.asked.take(e.Approval)
		if e.Session != nil {
			f.take(ctx, e)
		}
	case e.Kind == "listening" || e.Kind == "lost" || e.Session == nil:
		all, err := f.v.c.List(ctx)
		if err != nil {
			return err
		}
		waiting, err := f.v.pendingApprovals(ctx)
		if err != nil {
			return err
		}
		f.all = all
		f.asked.load(waiting)
		f.lookUpExits(ctx)
	default:
		f.take(ctx, e)
	}
	var list []model.Session
	for i := range f.all {
		s := &f.all[i]
		waits := f.asked.waitsIn(s.ID)
		own := s.Labels[markLabel] == f.v.mark && (s.State != "running" || s.Needs == nil && !waits)
		if s.ID == f.self || own { // what a prompt runs is shown there, until it needs an answer
			continue
		}
		vs := viewSession(s)
		vs.Bells, vs.LastExit = f.bells[s.ID], f.exits[s.ID]
		if waits {
			vs.Needs = model.NeedsApproval
		}
		list = append(list, vs)
	}
	f.send(model.Update{Sessions: list, Approvals: f.asked.shown(), Ended: slices.Clone(f.asked.ended)})
	return nil
}

// maxLookedUp bounds the sessions whose last command is looked up when the viewer begins.
const maxLookedUp = 200

// lookUpExits asks how the last commands of shells at their prompt ended, of which no event told.
func (f *feed) lookUpExits(ctx context.Context) {
	left := maxLookedUp
	for i := range f.all {
		s := &f.all[i]
		if s.State != "running" || s.Shell == nil || s.Shell.Phase != "prompt" || f.exits[s.ID] != nil || left == 0 {
			continue
		}
		left--
		if c, err := f.v.c.Session(s.ID).Command(ctx, 0); err == nil { // else it has run none yet
			f.exits[s.ID] = c.ExitCode
		}
	}
}

func (f *feed) take(ctx context.Context, e api.Event) {
	id := e.Session.ID
	at := slices.IndexFunc(f.all, func(s api.Session) bool { return s.ID == id })
	switch {
	case e.Kind == "removed":
		if at >= 0 {
			f.all = slices.Delete(f.all, at, at+1)
		}
		return
	case at < 0:
		f.all = append(f.all, *e.Session)
	default:
		f.all[at] = *e.Session
	}
	switch sh := e.Session.Shell; {
	case e.Kind == "bell":
		f.bells[id]++
	case sh == nil || e.Kind != "shell" && e.Kind != "command":
	case sh.Phase == "running":
		delete(f.exits, id)
	case f.exits[id] == nil: // what ran has ended; how, its record says
		if c, err := f.v.c.Session(id).Command(ctx, 0); err == nil {
			f.exits[id] = c.ExitCode
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// viewSession is a session as the viewer knows it.
func viewSession(s *api.Session) model.Session {
	vs := model.Session{
		ID: s.ID, Name: s.Name, State: s.State, Command: s.Command, Cwd: s.Cwd, Size: s.Size,
		ExitCode: s.ExitCode, Signal: s.Signal, FullScreen: s.Alt,
		Started: s.Started,
	}
	if vs.Started.IsZero() { // an older daemon's
		vs.Started = s.Created
	}
	if s.Ended != nil {
		vs.Ended = *s.Ended
	}
	if s.Needs != nil {
		vs.Needs = s.Needs.Kind
	}
	if a := s.AgentIs; a != nil && a.State != "unknown" { // it knows better than the kernel
		vs.Agent = output.AgentText(a)
		vs.Needs = map[string]string{"needs_input": "an answer", "needs_approval": "permission"}[a.State]
	}
	if s.Progress != nil {
		vs.Progress = &model.Progress{State: s.Progress.State, Percent: s.Progress.Percent}
	}
	if a := s.Activity; a != nil {
		vs.Errors, vs.Warnings = a.Errors, a.Warnings
		if a.Due != nil && a.Running {
			vs.Due = *a.Due
		}
		if a.FirstError != nil {
			vs.FirstError = output.ProblemText(a.FirstError)
		}
	}
	if sh := s.Shell; sh != nil {
		vs.Phase = map[string]model.Phase{"prompt": model.PhasePrompt, "running": model.PhaseRunning}[sh.Phase]
		vs.Doing, vs.Since = sh.Command, sh.Since
	}
	return vs
}

func (v source) New(ctx context.Context, beside string) (string, error) {
	n, err := ShellHere()
	if err != nil {
		return "", err
	}
	if beside != "" {
		if s, err := v.c.Session(beside).Info(ctx); err == nil && isDirectory(s.Cwd) {
			n.Cwd = s.Cwd
		}
	}
	s, err := v.c.NewSession(ctx, n)
	return s.ID, err
}

func isDirectory(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func (v source) Kill(ctx context.Context, id string) error {
	_, err := v.c.Session(id).Kill(ctx, api.Kill{})
	return err
}

// Watch opens a stream that finds its session again after a restart of the daemon.
func (v source) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	ctx, cancel := context.WithCancel(ctx)
	w := &watched{
		s: v.c.Session(id), sizeBy: v.sizes.first(id), mute: v.sizes.none(), cancel: cancel, frames: make(chan panes.Frame), wake: make(chan struct{}, 1),
		size: attach.Act{Cols: cols, Rows: rows},
	}
	go w.run(ctx)
	return w
}

// maxActs bounds what is typed into a session whose daemon is away.
const maxActs = 10_000

// watched is a session the viewer shows. What is done while the daemon is away waits
// for it, in order.
type watched struct {
	s      *client.Session
	cancel context.CancelFunc
	sizeBy string // whose size the session shall take; empty: as it is
	mute   bool   // the viewer has no say in sizes
	frames chan panes.Frame
	wake   chan struct{}

	mu   sync.Mutex // guards the fields below
	acts []attach.Act
	size attach.Act // the newest
}

func (w *watched) Frames() <-chan panes.Frame { return w.frames }

func (w *watched) Close() { w.cancel() }

func (w *watched) Resize(cols, rows int) {
	size := attach.Act{Cols: cols, Rows: rows}
	w.mu.Lock()
	w.size = size
	w.mu.Unlock()
	w.act(size) // one of 0×0 does nothing but wake up
}

func (w *watched) Act(in panes.Input) {
	w.act(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus})
}

// act queues; the viewer must not wait for a daemon.
func (w *watched) act(a attach.Act) {
	w.mu.Lock()
	if len(w.acts) < maxActs {
		w.acts = append(w.acts, a)
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next is the oldest act that was not sent; sent drops it.
func (w *watched) next() (attach.Act, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.acts) == 0 {
		return attach.Act{}, false
	}
	return w.acts[0], true
}

func (w *watched) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acts = w.acts[1:]
}

func (w *watched) run(ctx context.Context) {
	defer close(w.frames)
	for ctx.Err() == nil {
		w.mu.Lock()
		size := w.size
		w.mu.Unlock()
		o := client.StreamOptions{Cols: size.Cols, Rows: size.Rows, Size: w.sizeBy}
		if w.mute {
			o.Size = "none"
		}
		st, err := w.s.Watch(ctx, o)
		if err == nil {
			w.sizeBy = ""
			w.converse(ctx, st, size.Cols > 0)
			_ = st.Close()
		}
		if !w.changedSay(size.Cols > 0) {
			pause(ctx, retryTime)
		}
	}
}

// changedSay reports that the viewer wants a say in the session's size and has none, or
// the reverse: that takes another stream.
func (w *watched) changedSay(had bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return had != (w.size.Cols > 0)
}

func (w *watched) converse(ctx context.Context, st *client.Stream, say bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		defer cancel()
		w.show(ctx, st)
	}()
	defer func() { // the stream's frames end before the next one's begin
		cancel()
		_ = st.Close()
		<-shown
	}()
	for {
		for a, ok := w.next(); ok; a, ok = w.next() {
			if w.changedSay(say) {
				return
			}
			if st.Act(a) != nil {
				return
			}
			w.sent()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

func (w *watched) show(ctx context.Context, st *client.Stream) {
	for {
		f, err := st.NextFrame()
		if err != nil {
			return
		}
		select {
		case w.frames <- panes.Frame{Screen: &f.Screen, Modes: f.Modes}:
		case <-ctx.Done():
			return
		}
	}
}
