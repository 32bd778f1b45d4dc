//go:build unix

package watchrun

import (
	"bytes"
	"context"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// run is one run of a watched command.
type run struct {
	w       *watchLoop
	s       *client.Session
	info    api.Session
	cause   []string
	machine *progress.Estimator
	feed    *progress.Feed
	plain   plaintext.Writer
	text    bytes.Buffer // text of its output, up to maxWatched
	chunks  chan api.Output
	ended   chan error
	killed  bool // a change killed the run; the next run follows
}

// maxWatched limits the output that is compared with the previous run, in bytes of text.
const maxWatched = 64 << 20

// statusEvery is the redraw interval of the status line.
const statusEvery = 200 * time.Millisecond

// runOnce runs the command once. It returns a nil session if a change or the user killed it.
func (w *watchLoop) runOnce(ctx context.Context, cause []string) (*api.Session, error) {
	n := w.Request
	if cols, rows, ok := w.view.size(); ok && n.Cols == 0 && n.Rows == 0 {
		n.Cols, n.Rows = cols, rows
	}
	w.Files.SetRunning(true)
	defer w.Files.SetRunning(false)
	w.view.begin(w.n, w.Command, cause)
	info, err := w.start(ctx, n)
	if err != nil {
		return nil, err
	}
	r := &run{
		w: w, s: w.Client.Session(info.ID), info: info, cause: cause, chunks: make(chan api.Output), ended: make(chan error, 1),
		machine: progress.New(progress.Start{Command: w.Command, Time: info.Created, Earlier: w.durations}),
	}
	r.feed = progress.NewFeed(r.machine, 0)
	followCtx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { r.ended <- r.follow(followCtx) }()
	return r.attend(ctx)
}

// startGrace bounds the wait for a start request that is in flight when the user interrupts.
const startGrace = 10 * time.Second

// start starts the command's session. It waits for the answer even if ctx ends: the session may already exist, and only
// its id allows the caller to end it.
func (w *watchLoop) start(ctx context.Context, n api.NewSession) (api.Session, error) {
	if err := ctx.Err(); err != nil {
		return api.Session{}, err
	}
	asking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(startGrace, stop) })()
	return w.Client.NewSession(asking, n)
}

func (r *run) follow(ctx context.Context) error {
	return r.s.Follow(ctx, 0, func(o api.Output) error {
		select {
		case r.chunks <- o:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// attend shows the run until it ends or is killed.
func (r *run) attend(ctx context.Context) (*api.Session, error) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	done := ctx.Done()
	for {
		select {
		case o := <-r.chunks:
			r.onOutput(o)
		case err := <-r.ended:
			return r.finish(ctx, err)
		case paths := <-r.w.Files.Changes():
			r.w.pending = append(r.w.pending, paths...)
			r.rerun(ctx, !r.w.Wait)
		case err := <-r.w.Files.Errors():
			r.end(ctx)
			return nil, err
		case k := <-r.w.view.keys():
			if k == keyRerun {
				r.w.pending = append([]string{}, r.w.pending...)
				r.rerun(ctx, true)
			} else if k == keyQuit {
				r.w.quit = true
				r.end(ctx)
			} else {
				r.w.view.lend(nil) // the run keeps printing
			}
		case <-tick.C:
			r.w.view.status(r.machine.State(time.Now()))
		case <-r.w.view.resizeSignals():
			if cols, rows, ok := r.w.view.size(); ok {
				_ = r.s.Resize(ctx, cols, rows) // a resize races with the end
			}
		case <-done:
			done = nil
			r.end(ctx)
		}
	}
}

// rerun requests another run, now or after the current one has finished.
func (r *run) rerun(ctx context.Context, now bool) {
	if r.w.pending == nil {
		r.w.pending = []string{}
	}
	if now && !r.killed && (r.w.Runs == 0 || r.w.n < r.w.Runs) {
		r.killed = true
		r.end(ctx)
	}
}

// end kills the command and shows its remaining output.
func (r *run) end(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.s.Kill(context.WithoutCancel(ctx), api.Kill{}) // it may have ended by itself
	}()
	for {
		select {
		case o := <-r.chunks:
			r.onOutput(o)
		case <-ended:
			return
		}
	}
}

// onOutput handles a piece of output.
func (r *run) onOutput(o api.Output) {
	now := time.Now()
	r.feed.Write(o.Data, now)
	r.feed.ReadUnfinished(now)
	r.w.view.write(o)
	if r.text.Len() < maxWatched {
		r.plain.Each(o.Data, func(l plaintext.Line) {
			r.text.Write(l.Text)
			if !l.More {
				r.text.WriteByte('\n')
			}
		})
	}
}

// finish reports the outcome of the run.
func (r *run) finish(ctx context.Context, followErr error) (*api.Session, error) {
	r.w.Files.SetRunning(false)
	after := context.WithoutCancel(ctx)
	info, err := r.s.Info(after)
	if err == nil {
		err = r.s.Remove(after, true)
	}
	switch {
	case err != nil:
		return nil, err
	case r.killed || ctx.Err() != nil || r.w.quit:
		r.w.view.stopped()
		return nil, nil
	case followErr != nil:
		return nil, followErr
	}
	r.compare(after, &info)
	return &info, nil
}

// compare parses the run's output and compares it with the previous run.
func (r *run) compare(ctx context.Context, info *api.Session) {
	w := r.w
	rest, _, _ := r.plain.AppendUnfinished(nil)
	r.text.Write(rest)
	run := &diagnostics.Run{
		Exit: info.ExitCode, Signal: info.Signal, Duration: time.Duration(info.Duration) * time.Millisecond,
		Result: diagnostics.Parse(w.Command, info.ExitCode, r.text.String()),
	}
	r.feed.Finish(time.Now())
	rep := report{n: w.n, command: w.Command, cause: r.cause, run: run, state: r.machine.State(info.Created.Add(run.Duration)), started: info.Created}
	if w.previousRun != nil {
		c := diagnostics.Compare(w.previousRun, run)
		rep.changes, rep.before = &c, w.previousRun
	}
	w.previousRun = run
	w.errorPositions, w.opened = sourcepos.Of(&run.Result, w.Request.Cwd, w.Host), -1
	w.summary = rep.brief(len(w.errorPositions))
	if !run.HasFailed() {
		w.durations = append([]time.Duration{run.Duration}, w.durations[:min(len(w.durations), 8)]...)
	}
	w.view.report(&rep)
	w.notifyUser(ctx, info, &rep)
}

// notifyUser sends the desktop notifications that the user has configured.
func (w *watchLoop) notifyUser(ctx context.Context, info *api.Session, rep *report) {
	done := notify.FinishedEvent{
		Session: info.ID, Name: info.Name, Command: w.Command, Cwd: w.Request.Cwd, ExitCode: info.ExitCode, Signal: info.Signal,
		Ended: time.Now(), DurationMS: info.Duration, Errors: rep.state.Errors, Warnings: rep.state.Warnings, Attended: true,
	}
	if f := rep.state.First; f != nil {
		done.FirstError = f.Message
	}
	w.p.Notify(ctx, &w.Notify, &done, w.view.raw)
}
