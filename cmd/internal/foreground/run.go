//go:build unix

// Package foreground runs commands and lines for a caller who waits for their ends: output as it comes (run.go),
// lines of a living shell and batches of them (lines.go), the caller's standard input (stdin.go), and the exit
// status that a result stands for (status.go). Timeouts and records are the daemon's: when the caller is
// interrupted, what was begun is ended there, and what there is of a result is still printed.
package foreground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
)

// Caller runs commands and lines for a caller who waits for their ends.
type Caller struct {
	*output.Printer
	Stdin  *os.File
	Client *client.Client
	Host   string // the other host that Client is of; empty: this one
	Named  string // the session, by who asks; empty: it is new
	// Waiting tells that what runs waits for an approval.
	Waiting func(id string)
}

// Options say how a command that was started is followed.
type Options struct {
	*request.CallFlags
	Raw, Keep      bool
	Line           string // as people read it
	Encoding       capture.Encoding
	Pipe, Terminal bool // pipes were asked for; it is given our terminal
	Notify         notify.Options
	Rules          []api.RespondAttached // that answer the command's questions
}

// Run follows a command that was started to its end, and exits as it does.
func (c *Caller) Run(ctx context.Context, o *Options, res api.Result) error {
	run := &running{caller: c, flags: o, s: c.Client.Session(res.Session), res: res}
	if res.Session == "" && !output.IsOpen(res.State) { // it was never started, and the result says why
		run.gone = true
		return run.finish(ctx, nil)
	}
	if !o.Pipe && !o.Terminal && res.Mode == "pty" && !c.JSON {
		unheard, stop := context.WithCancel(ctx)
		defer stop()
		go c.hintStdin(unheard)
	}
	if res.Hint != "" && !c.JSON && o.Format == "" {
		defer fmt.Fprintf(c.Stderr, "longterm: %s\n", res.Hint)
	}
	if o.Terminal && res.Mode == "pty" {
		var err error
		if run.t, err = termio.Open(c.Stdin, os.Stdout); err != nil {
			return err
		}
		defer run.t.Restore(false)
	}
	if !output.IsOpen(res.State) && o.CallID() != "" && run.removed(ctx) {
		return run.finish(ctx, nil)
	}
	defer func() { run.tellFinished(ctx) }()
	return run.finish(ctx, run.follow(ctx))
}

// removed says that the session of a command that ended before is not there any more: its result is all there is.
func (r *running) removed(ctx context.Context) bool {
	_, err := r.s.Info(ctx)
	var e *api.Error
	if r.gone = errors.As(err, &e) && e.Code == api.CodeNotFound; r.gone && !r.caller.JSON && r.flags.Format == "" {
		fmt.Fprintln(r.caller.Stderr, "longterm: it was run before, and its output went with its session; --keep keeps that")
	}
	return r.gone
}

// running is a command under way.
type running struct {
	caller *Caller
	flags  *Options
	s      *client.Session
	res    api.Result       // how it went, once it is over
	t      *termio.Terminal // nil: no terminal to give to the command
	w      output.Writer
	ended  *api.Session
	gone   bool // with its session, before this

	pipe *output.PipeCollector // for --json on pipes
}

// follow prints output until the command ends, is left in the background, or ctx ends.
func (r *running) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := r.writer()
	r.w = w
	switch {
	case r.t != nil:
		go r.forward(ctx)
	case r.res.Mode == "pipe" && !termio.IsTerminal(r.caller.Stdin):
		go r.caller.feed(ctx, r.s)
	}
	if r.t == nil && !r.caller.JSON && len(r.flags.Rules) == 0 && r.flags.OnInput == "wait" {
		go r.caller.hintInput(ctx, r.s, "")
	}
	awaited := make(chan error, 1)
	go func() {
		j, err := r.caller.Client.AwaitJob(ctx, r.res.Job, client.AwaitHow{
			Stop: true, OnInput: r.flags.OnInput, Yield: r.flags.Yield, OnApproval: r.waiting,
		})
		if err == nil && j.Result != nil {
			r.res = *j.Result
		}
		if err == nil && j.Result != nil && output.IsOpen(j.Result.State) {
			cancel() // its output goes on without us
		}
		awaited <- err
	}()
	err := r.s.Follow(ctx, 0, func(o api.Output) error {
		if o.Gap > 0 {
			fmt.Fprintf(r.caller.Stderr, "longterm: %d bytes of output are lost\n", o.Gap)
		}
		return w.Put(o)
	})
	if waitErr := <-awaited; waitErr == nil && output.IsOpen(r.res.State) {
		err = nil // we broke the reading off
	} else {
		err = errors.Join(err, waitErr)
	}
	return errors.Join(w.Flush(), err)
}

// Waits says what allows what waits for an approval, on another host if one is named.
func Waits(host, id string) string {
	verb := "longterm"
	if host != "" {
		verb += " -H " + host
	}
	return fmt.Sprintf("longterm: waiting for approval %s: %s approvals answer %[1]s once", id, verb)
}

// waiting tells that the command waits for an approval. On a terminal that is the command's, lines end as it has them.
func (r *running) waiting(id string) {
	if r.t != nil {
		_ = r.t.Draw([]byte("\r\n" + Waits(r.caller.Host, id) + "\r\n"))
		return
	}
	r.caller.Waiting(id)
}

// writer is where output goes: to the terminal as it is but for queries, else as text.
func (r *running) writer() output.Writer {
	switch {
	case r.caller.JSON && r.flags.Encoding.Other():
		r.pipe = output.NewPipeCollector(r.flags.Encoding, r.flags.Budget)
		return r.pipe
	case r.caller.JSON, r.flags.Format != "":
		return unread{} // the result contains it
	case r.res.Mode == "pipe" && r.flags.Budget.Given():
		return r.caller.BudgetPipeWriter(r.flags.Encoding, r.flags.Raw, r.flags.Budget, r.res.Session)
	case r.res.Mode == "pipe":
		return r.caller.PipeWriter(r.flags.Encoding, r.flags.Raw)
	case r.t != nil:
		return &terminalWriter{t: r.t}
	case r.flags.Budget.Given():
		return r.flags.Budget.Writer(r.caller.Stdout, r.flags.Raw, r.res.Session, "")
	case r.flags.Raw:
		return output.NewRawWriter(r.caller.Stdout)
	}
	return r.caller.TextWriter()
}

// unread prints nothing.
type unread struct{}

func (unread) Put(api.Output) error { return nil }
func (unread) Flush() error         { return nil }

// cut says that the rest of the output is to be had from the session.
func (r *running) cut() bool {
	if r.caller.JSON || r.flags.Format != "" {
		return r.res.Truncated
	}
	w, ok := r.w.(interface{ Cut() bool })
	return ok && w.Cut()
}

// terminalWriter prints raw output on a person's terminal. Queries are answered by the
// session's emulator already.
type terminalWriter struct {
	t      *termio.Terminal
	filter attach.Filter
	buf    []byte
}

func (w *terminalWriter) Put(o api.Output) error {
	w.buf = w.filter.Append(w.buf[:0], o.Data)
	return w.t.Draw(w.buf)
}
func (w *terminalWriter) Flush() error { return nil }

// forward gives the command the terminal's keys and size.
func (r *running) forward(ctx context.Context) {
	keys := make(chan []byte)
	go r.t.Keys(keys, ctx.Done())
	for {
		select {
		case <-ctx.Done():
			return
		case in, ok := <-keys:
			if !ok {
				return
			}
			if _, err := r.s.Type(ctx, api.Input{Data: in}); err != nil {
				return // the command ended, or nothing can be typed any more
			}
		case <-r.t.Resized:
			cols, rows := r.t.Size()
			_ = r.s.Resize(ctx, cols, rows) // a resize races with the end
		}
	}
}

// finish ends what is left to end, and exits as the command did.
func (r *running) finish(ctx context.Context, followErr error) error {
	if r.t != nil {
		r.t.Restore(false)
	}
	after, aborted := context.WithoutCancel(ctx), ctx.Err() != nil
	if aborted && r.caller.Client.IsAway() {
		var cancel context.CancelFunc
		after, cancel = r.caller.parting(ctx)
		defer cancel()
	}
	if followErr != nil && output.IsOpen(r.res.State) {
		if err := r.stop(after, aborted); err != nil {
			return exit.With(api.ExitOwnFailure, errors.Join(followErr, err))
		}
	}
	if info, err := r.s.Info(after); err == nil && !output.IsOpen(r.res.State) {
		r.ended = &info
	}
	left := r.ended != nil && len(r.ended.Left) > 0
	if left && r.t != nil { // a person's terminal
		fmt.Fprintf(r.caller.Stderr, "longterm: %d processes run on; `longterm kill %s` ends them\n", len(r.ended.Left), r.ended.Name)
	}
	temporary := r.ended != nil && r.ended.Temporary // else the daemon keeps it for a day
	if !r.gone && temporary && !left && !r.cut() {   // else the daemon removes it after a while
		if err := r.s.Remove(after, false); err != nil {
			fmt.Fprintf(r.caller.Stderr, "longterm: %v\n", err)
		}
	}
	r.fillRules(after)
	if !r.caller.JSON && r.flags.Format == "" {
		r.caller.TellRefused(&r.res)
	}
	if w, ok := r.w.(*output.BudgetWriter); ok {
		w.TellRest(r.caller.Stderr)
	}
	if r.flags.Format != "" {
		if _, err := io.WriteString(r.caller.Stdout, output.ForAgent(output.Labelled(r.flags.Line, &r.res))); err != nil {
			return err
		}
	}
	if r.caller.JSON {
		r.res.Aborted = aborted
		if r.pipe != nil {
			r.pipe.Report(&r.res)
		}
		if err := r.caller.PrintLine(&r.res); err != nil {
			return err
		}
	}
	return r.status(aborted, followErr)
}

// fillRules puts the actions of the rules given with the command into its result, unless its session was removed.
func (r *running) fillRules(ctx context.Context) {
	if len(r.flags.Rules) == 0 {
		return
	}
	did, err := r.s.Firings(ctx)
	if err != nil {
		return
	}
	r.res.Answers = did
	for i := range r.flags.Rules {
		rule := &r.flags.Rules[i]
		used := slices.ContainsFunc(did, func(f api.RespondFiring) bool { return f.Rule == rule.ID })
		if !used && r.res.TimedOut != "none" {
			r.res.Unused = append(r.res.Unused, cmp.Or(rule.Text, rule.Regexp))
		}
	}
}

// stop ends the command and learns how it went.
func (r *running) stop(ctx context.Context, interrupted bool) (err error) {
	var j api.Job
	if interrupted {
		j, err = r.caller.stopJob(ctx, r.res.Job)
	} else {
		j, err = r.caller.Client.StopJob(ctx, r.res.Job, api.JobStop{})
	}
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded { // meanwhile, or the daemon saw us leave
		j, err = r.caller.Client.Job(ctx, r.res.Job, 0)
	}
	if err == nil && j.Result != nil {
		r.res = *j.Result
	}
	return err
}

// status is the program's exit status. With --json the result has said the rest.
func (r *running) status(aborted bool, followErr error) error {
	var err error
	switch {
	case aborted:
		return exit.Silent(api.ExitInterrupted)
	case r.res.TimedOut == "wall" && !output.IsOpen(r.res.State):
		err = exit.With(api.ExitTimeout, fmt.Errorf("ended after %s (--timeout)%s; for long commands use --background or `longterm new`", r.flags.Timeout, describeUnused(&r.res)))
	case r.res.TimedOut == "idle" && !output.IsOpen(r.res.State):
		err = exit.With(api.ExitTimeout, fmt.Errorf("ended: nothing was printed for %s (--idle-timeout)%s", r.flags.Idle, describeUnused(&r.res)))
	case followErr != nil:
		return exit.With(api.ExitOwnFailure, followErr)
	default:
		err = Status(&r.res, "", r.flags.Timeout, r.flags.Idle)
	}
	var exit *exit.Error
	if r.caller.JSON && errors.As(err, &exit) {
		exit.Err = nil
	}
	return err
}

// tellFinished notifies people of the end of `run`'s command.
func (r *running) tellFinished(ctx context.Context) {
	if r.ended == nil {
		return
	}
	s := r.ended
	done := notify.Finished{
		Session: s.ID, Name: s.Name, Command: s.Command, Cwd: s.Cwd, ExitCode: s.ExitCode, Signal: s.Signal,
		Ended: time.Now(), DurationMS: s.Duration, Attended: true,
	}
	if c := s.Activity; c != nil {
		done.Errors, done.Warnings = c.Errors, c.Warnings
	}
	var terminal func([]byte) int
	if r.t != nil {
		terminal = func(b []byte) int { _ = r.t.Draw(b); return 1 }
	}
	r.caller.Notify(context.WithoutCancel(ctx), &r.flags.Notify, &done, terminal)
}
