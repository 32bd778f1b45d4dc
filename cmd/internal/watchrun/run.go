//go:build unix

package watchrun

import (
	"bytes"
	"context"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/output/progress"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// watchedRun is one run of a watched command.
type run struct {
	w       *watching
	s       *client.Session
	info    api.Session
	cause   []string
	machine *progress.Machine
	feed    *progress.Feed
	plain   plaintext.Writer
	text    bytes.Buffer // all it printed, up to maxWatched
	chunks  chan api.Output
	ended   chan error
	killed  bool // by a change: another run follows
}

// maxWatched bounds the output that is compared with the run before, in bytes of text.
const maxWatched = 64 << 20

// statusEvery is how often the status line is drawn anew.
const statusEvery = 200 * time.Millisecond

// once runs the command once; the session is nil if it was ended by a change or a person.
func (w *watching) once(ctx context.Context, cause []string) (*api.Session, error) {
	n := w.Request
	if cols, rows, ok := w.view.size(); ok && n.Cols == 0 && n.Rows == 0 {
		n.Cols, n.Rows = cols, rows
	}
	w.Files.Running(true)
	defer w.Files.Running(false)
	w.view.begin(w.n, w.Command, cause)
	info, err := w.start(ctx, n)
	if err != nil {
		return nil, err
	}
	r := &run{
		w: w, s: w.Client.Session(info.ID), info: info, cause: cause, chunks: make(chan api.Output), ended: make(chan error, 1),
		machine: progress.New(progress.Start{Command: w.Command, Time: info.Created, Earlier: w.took}),
	}
	r.feed = progress.NewFeed(r.machine, 0)
	followCtx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { r.ended <- r.follow(followCtx) }()
	return r.attend(ctx)
}

// startGrace bounds what a person who interrupts waits for the answer to a start that is under way.
const startGrace = 10 * time.Second

// start starts the command's session. Its answer is waited for when ctx ends meanwhile, too: the
// session may be there already, and only who knows its id can end it.
func (w *watching) start(ctx context.Context, n api.NewSession) (api.Session, error) {
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

// attend shows the run until it ends, however that comes about.
func (r *run) attend(ctx context.Context) (*api.Session, error) {
	tick := time.NewTicker(statusEvery)
	defer tick.Stop()
	done := ctx.Done()
	for {
		select {
		case o := <-r.chunks:
			r.take(o)
		case err := <-r.ended:
			return r.finish(ctx, err)
		case paths := <-r.w.Files.Changes():
			r.w.asked = append(r.w.asked, paths...)
			r.again(ctx, !r.w.Wait)
		case err := <-r.w.Files.Failed():
			r.end(ctx)
			return nil, err
		case k := <-r.w.view.keys():
			if k == keyAgain {
				r.w.asked = append([]string{}, r.w.asked...)
				r.again(ctx, true)
			} else if k == keyQuit {
				r.w.quit = true
				r.end(ctx)
			} else {
				r.w.view.lend(nil) // it prints meanwhile
			}
		case <-tick.C:
			r.w.view.status(r.machine.State(time.Now()))
		case <-r.w.view.resized():
			if cols, rows, ok := r.w.view.size(); ok {
				_ = r.s.Resize(ctx, cols, rows) // a resize races with the end
			}
		case <-done:
			done = nil
			r.end(ctx)
		}
	}
}

// again has the command run again, now or when it has finished.
func (r *run) again(ctx context.Context, now bool) {
	if r.w.asked == nil {
		r.w.asked = []string{}
	}
	if now && !r.killed && (r.w.Runs == 0 || r.w.n < r.w.Runs) {
		r.killed = true
		r.end(ctx)
	}
}

// end ends the command; what it prints meanwhile is still shown.
func (r *run) end(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.s.Kill(context.WithoutCancel(ctx), api.Kill{}) // it may have ended by itself
	}()
	for {
		select {
		case o := <-r.chunks:
			r.take(o)
		case <-ended:
			return
		}
	}
}

func (r *run) take(o api.Output) {
	now := time.Now()
	r.feed.Write(o.Data, now)
	r.feed.Settle(now)
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

// finish tells how the run went.
func (r *run) finish(ctx context.Context, followErr error) (*api.Session, error) {
	r.w.Files.Running(false)
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
	r.tell(after, &info)
	return &info, nil
}

// tell compares the run with the one before.
func (r *run) tell(ctx context.Context, info *api.Session) {
	w := r.w
	rest, _, _ := r.plain.Rest(nil)
	r.text.Write(rest)
	run := &diagnostics.Run{
		Exit: info.ExitCode, Signal: info.Signal, Duration: time.Duration(info.Duration) * time.Millisecond,
		Result: diagnostics.Parse(w.Command, info.ExitCode, r.text.String()),
	}
	r.feed.End(time.Now())
	rep := report{n: w.n, command: w.Command, cause: r.cause, run: run, state: r.machine.State(info.Created.Add(run.Duration)), started: info.Created}
	if w.before != nil {
		c := diagnostics.Compare(w.before, run)
		rep.changes, rep.before = &c, w.before
	}
	w.before = run
	w.places, w.at = places.Of(&run.Result, w.Request.Cwd, w.Host), -1
	w.brief = rep.brief(len(w.places))
	if !run.Failed() {
		w.took = append([]time.Duration{run.Duration}, w.took[:min(len(w.took), 8)]...)
	}
	w.view.report(&rep)
	w.told(ctx, info, &rep)
}

// told notifies people.
func (w *watching) told(ctx context.Context, info *api.Session, rep *report) {
	done := notify.Finished{
		Session: info.ID, Name: info.Name, Command: w.Command, Cwd: w.Request.Cwd, ExitCode: info.ExitCode, Signal: info.Signal,
		Ended: time.Now(), DurationMS: info.Duration, Errors: rep.state.Errors, Warnings: rep.state.Warnings, Attended: true,
	}
	if f := rep.state.First; f != nil {
		done.FirstError = f.Message
	}
	w.p.Notify(ctx, &w.Notify, &done, w.view.raw)
}
