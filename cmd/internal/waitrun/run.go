//go:build unix

// Package waitrun runs commands and lines for a caller that waits for their end.
//
// run.go follows a command's output as it arrives; lines.go runs lines in an existing shell, and batches of them;
// stdin.go passes the caller's standard input on; status.go returns the exit status for a result. The daemon has the
// timeouts and the records. After an interruption of the caller, the daemon ends the command, and the partial result is
// still printed.
package waitrun

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
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/pipeoutput"
)

// Caller runs commands and lines for a caller that waits for their end.
type Caller struct {
	*output.Printer
	Stdin      *os.File
	Client     *client.Client
	Host       string // the remote host of Client; empty: this one
	SessionRef string // session as the caller named it; empty means a new session
	// OnApproval is called when the command waits for an approval.
	OnApproval func(id string)
}

// Options describe how to follow a started command.
type Options struct {
	*request.CallFlags
	Raw, Keep      bool
	Line           string // readable form of the command
	Encoding       pipeoutput.Encoding
	Pipe, Terminal bool // pipes were requested; the command uses our terminal
	Notify         notify.Options
	Rules          []api.RespondAttached // response rules attached to the command
	Reader         *client.Client        // client that reads the output; nil: Client
}

// Run follows a started command to its end, and returns its exit status as the error.
func (c *Caller) Run(ctx context.Context, o *Options, res api.Result) error {
	run := &running{caller: c, flags: o, s: c.Client.Session(res.Session), res: res, refused: refusals{w: c.Stderr}}
	if res.Session == "" && !output.IsUnfinished(res.State) { // never started; the result has the reason
		run.sessionRemoved = true
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
	if !output.IsUnfinished(res.State) && o.CallID() != "" && run.checkRemoved(ctx) {
		return run.finish(ctx, nil)
	}
	defer func() { run.notifyFinished(ctx) }()
	return run.finish(ctx, run.follow(ctx))
}

// checkRemoved reports whether the session of a command that had ended before no longer exists. Its result is all that
// remains.
func (r *running) checkRemoved(ctx context.Context) bool {
	_, err := r.s.Info(ctx)
	var e *api.Error
	if r.sessionRemoved = errors.As(err, &e) && e.Code == api.CodeNotFound; r.sessionRemoved && !r.caller.JSON && r.flags.Format == "" {
		fmt.Fprintln(r.caller.Stderr, "longterm: already run before; output removed with its session (--keep keeps it)")
	}
	return r.sessionRemoved
}

// running is a command in progress.
type running struct {
	caller         *Caller
	flags          *Options
	s              *client.Session
	res            api.Result       // the result, once the command has ended
	t              *termio.Terminal // nil: the command has no terminal
	w              output.Writer
	ended          *api.Session
	sessionRemoved bool // the session no longer exists
	refused        refusals

	pipe *output.PipeCollector // for --json on pipes
}

// follow prints output until the command ends, moves to the background, or ctx ends.
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
	if r.t == nil && !r.caller.JSON && len(r.flags.Rules) > 0 {
		defer r.caller.followRunRefusals(ctx, r.s, &r.refused)()
	}
	awaited := make(chan error, 1)
	go func() {
		j, err := r.caller.Client.AwaitJob(ctx, r.res.Job, client.AwaitOptions{
			StopOnLeave: true, OnInput: r.flags.OnInput, YieldAfter: r.flags.Yield, OnApproval: r.waiting,
		})
		if err == nil && j.Result != nil {
			r.res = *j.Result
		}
		if err == nil && j.Result != nil && output.IsUnfinished(j.Result.State) {
			cancel() // its output continues without us
		}
		awaited <- err
	}()
	reader := r.s
	if r.flags.Reader != nil {
		reader = r.flags.Reader.Session(r.res.Session)
	}
	err := reader.Follow(ctx, 0, func(o api.Output) error {
		if o.Gap > 0 {
			fmt.Fprintf(r.caller.Stderr, "longterm: gap of %d bytes (lost output)\n", o.Gap)
		}
		return w.Put(o)
	})
	if waitErr := <-awaited; waitErr == nil && output.IsUnfinished(r.res.State) {
		err = nil // we broke the reading off
	} else {
		err = errors.Join(err, waitErr)
	}
	return errors.Join(w.Flush(), err)
}

// Waits returns the notice for a pending approval, with the command that allows it, on a remote host if one is given.
func Waits(host, id string) string {
	verb := "longterm"
	if host != "" {
		verb += " -H " + host
	}
	return fmt.Sprintf("longterm: waiting for approval %s: %s approvals answer %[1]s once", id, verb)
}

// waiting reports that the command waits for an approval. On the command's own terminal it uses that terminal's line
// ends.
func (r *running) waiting(id string) {
	if r.t != nil {
		_ = r.t.Draw([]byte("\r\n" + Waits(r.caller.Host, id) + "\r\n"))
		return
	}
	r.caller.OnApproval(id)
}

// writer returns the destination of output: the terminal, without queries, or text.
func (r *running) writer() output.Writer {
	switch {
	case r.caller.JSON && r.flags.Encoding.NeedsDecoding():
		r.pipe = output.NewPipeCollector(r.flags.Encoding, r.flags.Budget)
		return r.pipe
	case r.caller.JSON, r.flags.Format != "":
		return discardWriter{} // the result contains it
	case r.res.Mode == "pipe" && r.flags.Budget.IsSet():
		return r.caller.BudgetPipeWriter(r.flags.Encoding, r.flags.Raw, r.flags.Budget, r.res.Session)
	case r.res.Mode == "pipe":
		return r.caller.PipeWriter(r.flags.Encoding, r.flags.Raw)
	case r.t != nil:
		return &terminalWriter{t: r.t}
	case r.flags.Budget.IsSet():
		return r.flags.Budget.Writer(r.caller.Stdout, r.flags.Raw, r.res.Session, "")
	case r.flags.Raw:
		return output.NewRawWriter(r.caller.Stdout)
	}
	return r.caller.TextWriter()
}

// discardWriter is a writer that discards output.
type discardWriter struct{}

func (discardWriter) Put(api.Output) error { return nil }
func (discardWriter) Flush() error         { return nil }

// isTruncated reports whether output was truncated, so that the rest must be read from the session.
func (r *running) isTruncated() bool {
	if r.caller.JSON || r.flags.Format != "" {
		return r.res.Truncated
	}
	w, ok := r.w.(interface{ IsTruncated() bool })
	return ok && w.IsTruncated()
}

// terminalWriter prints raw output on the user's terminal, without queries: the session's emulator answers those.
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

// forward passes the terminal's keys and size on to the command.
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
				return // the command ended, or accepts no more input
			}
		case <-r.t.Resized:
			cols, rows := r.t.Size()
			_ = r.s.Resize(ctx, cols, rows) // a resize races with the end
		}
	}
}

// finish kills the command if it still runs, and returns its exit status.
func (r *running) finish(ctx context.Context, followErr error) error {
	if r.t != nil {
		r.t.Restore(false)
	}
	after, aborted := context.WithoutCancel(ctx), ctx.Err() != nil
	if aborted && r.caller.Client.IsUnreachable() {
		var cancel context.CancelFunc
		after, cancel = r.caller.cleanupContext(ctx)
		defer cancel()
	}
	if followErr != nil && output.IsUnfinished(r.res.State) {
		if err := r.stop(after, aborted); err != nil {
			return exit.With(api.ExitOwnFailure, errors.Join(followErr, err))
		}
	}
	if info, err := r.s.Info(after); err == nil && !output.IsUnfinished(r.res.State) {
		r.ended = &info
	}
	left := r.ended != nil && len(r.ended.LeftoverPIDs) > 0
	if left && r.t != nil { // a user's terminal
		fmt.Fprintf(r.caller.Stderr, "longterm: %d leftover processes still running; end them with `longterm kill %s`\n", len(r.ended.LeftoverPIDs), r.ended.Name)
	}
	temporary := r.ended != nil && r.ended.Temporary                 // else the daemon keeps it for a day
	if !r.sessionRemoved && temporary && !left && !r.isTruncated() { // else the daemon removes it after a while
		if err := r.s.Remove(after, false); err != nil {
			fmt.Fprintf(r.caller.Stderr, "longterm: %v\n", err)
		}
	}
	r.fillRules(after)
	if !r.caller.JSON {
		r.refused.printAll(r.res.Answers)
	}
	if !r.caller.JSON && r.flags.Format == "" {
		r.caller.PrintNotes(&r.res)
		r.caller.PrintRefused(&r.res)
		if r.res.ExitCode != nil && *r.res.ExitCode != 0 {
			r.caller.PrintHint(&r.res)
		}
	}
	if d := r.res.Draft; d != nil && d.State != "open" && !r.caller.JSON { // an open draft still changes: report it only when the session has ended
		fmt.Fprintf(r.caller.Stderr, "longterm: draft: %s\n", output.DraftText(d, api.ShortID(d.Session)))
	}
	if w, ok := r.w.(*output.BudgetWriter); ok {
		w.PrintRest(r.caller.Stderr)
	}
	if r.flags.Format != "" {
		if _, err := io.WriteString(r.caller.Stdout, output.ForAgent(output.LabelledText(r.flags.Line, &r.res))); err != nil {
			return err
		}
	}
	if r.caller.JSON {
		r.res.Aborted = aborted
		if r.pipe != nil {
			r.pipe.FillResult(&r.res)
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
	did, err := r.s.RuleMatches(ctx)
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

// stop kills the command and reads its result.
func (r *running) stop(ctx context.Context, interrupted bool) (err error) {
	var j api.Job
	if interrupted {
		j, err = r.caller.stopJob(ctx, r.res.Job)
	} else {
		j, err = r.caller.Client.StopJob(ctx, r.res.Job, api.JobStop{})
	}
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded { // ended in the meantime, or because the daemon noticed our exit
		j, err = r.caller.Client.Job(ctx, r.res.Job, 0)
	}
	if err == nil && j.Result != nil {
		r.res = *j.Result
	}
	return err
}

// status returns the program's exit status. With --json the result has the details.
func (r *running) status(aborted bool, followErr error) error {
	var err error
	switch {
	case aborted:
		return exit.Silent(api.ExitInterrupted)
	case r.res.TimedOut == "wall" && !output.IsUnfinished(r.res.State):
		err = exit.With(api.ExitTimeout, fmt.Errorf("timeout after %s (--timeout)%s: ended; for long commands use --background or `longterm new`", r.flags.Timeout, describeUnused(&r.res)))
	case r.res.TimedOut == "idle" && !output.IsUnfinished(r.res.State):
		err = exit.With(api.ExitTimeout, fmt.Errorf("timeout: no output for %s (--idle-timeout)%s: ended", r.flags.Idle, describeUnused(&r.res)))
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

// notifyFinished notifies the user that the command of `run` has ended.
func (r *running) notifyFinished(ctx context.Context) {
	if r.ended == nil {
		return
	}
	s := r.ended
	done := notify.FinishedEvent{
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
