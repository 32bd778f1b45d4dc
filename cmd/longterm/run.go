//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/watchrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/notify"
)

// runFlags are what `run` is told.
type runFlags struct {
	request.StartFlags
	request.CallFlags
	notifyFlags
	line      string
	each      bool
	stop      bool
	raw, keep bool
	warm      bool
	encoding  string
}

func runCommand(a *app) *cobra.Command {
	var r runFlags
	c := &cobra.Command{
		Use:   "run [flags] (-c LINE | -- CMD…)",
		Short: "Run a command in a session of its own and exit with its status",
		Long: `Run a command in a session of its own, print what it prints as it comes, and exit with its status.
On a terminal the command has it: keys go to it, colours come through. Otherwise its output is
printed as plain text (--raw: as it is) and standard input is not read. The session is removed
at the end unless --keep is given. With --background, or when it is left there, the session stays until
` + "`longterm jobs rm`" + `.

With --pipe, with run.mode = "pipe" in the configuration, or when the system has no terminal left, the command runs on pipes: it reads our
standard input (unless that is a terminal), and stdout and stderr stay apart. Pipes and files get
its bytes as they are; a terminal gets text, and how much there was of what is no text.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runVerb(cmd, &r, args) },
	}
	r.StartFlags.Register(c)
	r.CallFlags.Register(c, "kill")
	r.notifyFlags.register(c)
	f := c.Flags()
	f.StringVarP(&r.line, "command", "c", "", "command line for the shell")
	f.BoolVar(&r.raw, "raw", false, "print bytes as they come")
	f.StringVar(&r.encoding, "encoding", "", "with --pipe: how the command writes text, as in latin1, shift_jis, utf-16le (default UTF-8)")
	f.BoolVar(&r.each, "each", false, "every argument is a line: run them one after the other in a shell of their own")
	f.BoolVar(&r.stop, "stop-on-error", false, "with --each, leave the rest out after a line that failed")
	f.BoolVar(&r.keep, "keep", false, "keep the session")
	f.BoolVar(&r.warm, "warm", false, "with -c, run LINE in a shell that was started before, for this directory and environment")
	return a.JSONFlag(c)
}

func (r *runFlags) request(a *app, cmd *cobra.Command, args []string) (api.Run, error) {
	switch {
	case r.line == "" && len(args) == 0:
		return api.Run{}, exit.Usagef("no command; give -c LINE or -- CMD")
	case r.line != "" && len(args) > 0:
		return api.Run{}, exit.Usagef("both -c LINE and a command are given; give one of them")
	case r.Background && len(r.ways) > 0:
		return api.Run{}, exit.Usagef("--notify is for who waits for the end, --background does not; `longterm jobs wait` does, and notify.command of the configuration")
	case r.encoding != "" && !r.Pipe:
		return api.Run{}, exit.Usagef("--encoding is for a command on pipes; give --pipe as well")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.forPerson(), a.JSON)
	if err != nil {
		return api.Run{}, err
	}
	n, err := r.StartFlags.Request(cmd, args)
	n.Line = r.line
	return api.Run{Call: call, NewSession: n, Keep: r.keep, Start: !r.Background && !r.warm, Warm: r.warm}, err
}

func (a *app) runVerb(cmd *cobra.Command, r *runFlags, args []string) error {
	if r.each {
		return a.runEach(cmd, r, args)
	}
	if !r.warm && !cmd.Flags().Changed("pipe") {
		r.Pipe = a.settings().Run.Mode == "pipe"
	}
	n, err := r.request(a, cmd, args)
	if err != nil {
		return err
	}
	encoding, err := pipeRequest(a, r, &n.NewSession)
	if err != nil {
		return err
	}
	n.Stdin = n.Stdin && !r.Background && !r.warm
	b, err := a.connect()
	if err != nil {
		return err
	}
	told, err := notify.Parse(r.ways, r.after)
	if err != nil {
		return exit.Usagef("--notify: %w", err)
	}
	ctx := cmd.Context()
	tty := term.IsTerminal(int(a.stdin.Fd())) && a.Stdout == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) && !a.JSON && !r.Pipe && !r.Background && !r.warm && r.Format == ""
	if tty && n.Cols == 0 && n.Rows == 0 {
		if cols, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			n.Cols, n.Rows = cols, rows
		}
	}
	if r.warm && n.MaxOutput == 0 && !a.JSON {
		n.MaxOutput = maxWarm
	}
	res, err := b.client.Run(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	if r.warm && !r.Background {
		return a.printWarm(r, &res)
	}
	if r.Background {
		return a.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Job) })
	}
	run := &running{a: a, flags: r, c: b.client, s: b.client.Session(res.Session), res: res, encoding: encoding, line: r.line}
	if run.line == "" {
		run.line = strings.Join(args, " ")
	}
	if !n.Pipe && !tty && res.Mode == "pty" && !a.JSON {
		unheard, stop := context.WithCancel(ctx)
		defer stop()
		go hintStdin(unheard, a)
	}
	if res.Hint != "" && !a.JSON && r.Format == "" {
		defer fmt.Fprintf(a.Stderr, "longterm: %s\n", res.Hint)
	}
	if tty && res.Mode == "pty" {
		if run.t, err = termio.Open(a.stdin, os.Stdout); err != nil {
			return err
		}
		defer run.t.Restore(false)
	}
	defer func() { a.tellFinished(ctx, &told, run) }()
	return run.finish(ctx, run.follow(ctx))
}

// maxWarm bounds the output of a line in a warm shell, whose output is its answer's.
const maxWarm = 16 << 20

// printWarm prints how a line in a warm shell went.
func (a *app) printWarm(r *runFlags, res *api.Result) error {
	if a.JSON {
		return errors.Join(a.PrintLine(res), resultStatus(res, r.Timeout, r.Idle))
	}
	text := res.Output
	if r.Format != "" {
		text = output.Labelled(r.line, res)
	}
	_, err := io.WriteString(a.Stdout, text)
	return errors.Join(err, resultStatus(res, r.Timeout, r.Idle))
}

// running is a command under way.
type running struct {
	a     *app
	flags *runFlags
	c     *client.Client
	s     *client.Session
	res   api.Result       // how it went, once it is over
	t     *termio.Terminal // nil: no terminal to give to the command
	w     output.Writer
	line  string // as people read it
	ended *api.Session

	encoding capture.Encoding
	pipe     *output.PipeCollector // for --json on pipes
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
	case r.res.Mode == "pipe" && !termio.IsTerminal(r.a.stdin):
		go feed(ctx, r.a, r.s)
	}
	awaited := make(chan error, 1)
	go func() {
		j, err := r.c.AwaitJob(ctx, r.res.Job, client.AwaitHow{Stop: true, OnInput: r.flags.OnInput, Yield: r.flags.Yield})
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
			fmt.Fprintf(r.a.Stderr, "longterm: %d bytes of output are lost\n", o.Gap)
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

// writer is where output goes: to the terminal as it is but for queries, else as text.
func (r *running) writer() output.Writer {
	switch {
	case r.a.JSON && r.encoding.Other():
		r.pipe = output.NewPipeCollector(r.encoding, r.flags.Budget)
		return r.pipe
	case r.a.JSON, r.flags.Format != "":
		return unread{} // the result has it
	case r.res.Mode == "pipe" && r.flags.Budget.Given():
		return r.a.BudgetPipeWriter(r.encoding, r.flags.raw, r.flags.Budget, r.res.Session)
	case r.res.Mode == "pipe":
		return r.a.PipeWriter(r.encoding, r.flags.raw)
	case r.t != nil:
		return &terminalWriter{t: r.t}
	case r.flags.Budget.Given():
		return r.flags.Budget.Writer(r.a.Stdout, r.flags.raw, r.res.Session, "")
	case r.flags.raw:
		return output.NewRawWriter(r.a.Stdout)
	}
	return r.a.TextWriter()
}

// unread prints nothing.
type unread struct{}

func (unread) Put(api.Output) error { return nil }
func (unread) Flush() error         { return nil }

// cut says that the rest of the output is to be had from the session.
func (r *running) cut() bool {
	if r.a.JSON || r.flags.Format != "" {
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
	after := context.WithoutCancel(ctx)
	aborted := ctx.Err() != nil
	if followErr != nil && output.IsOpen(r.res.State) {
		if err := r.stop(after); err != nil {
			return exit.With(api.ExitOwnFailure, errors.Join(followErr, err))
		}
	}
	if info, err := r.s.Info(after); err == nil && !output.IsOpen(r.res.State) {
		r.ended = &info
	}
	left := r.ended != nil && len(r.ended.Left) > 0
	if left && r.t != nil { // a person's terminal
		fmt.Fprintf(r.a.Stderr, "longterm: %d processes run on; `longterm kill %s` ends them\n", len(r.ended.Left), r.ended.Name)
	}
	if !r.flags.keep && !output.IsOpen(r.res.State) && !left && !r.cut() { // else the daemon removes it after a while
		if err := r.s.Remove(after, false); err != nil {
			fmt.Fprintf(r.a.Stderr, "longterm: %v\n", err)
		}
	}
	if r.flags.Format != "" {
		if _, err := io.WriteString(r.a.Stdout, output.Labelled(r.line, &r.res)); err != nil {
			return err
		}
	}
	if r.a.JSON {
		r.res.Aborted = aborted
		if r.pipe != nil {
			r.pipe.Report(&r.res)
		}
		if err := r.a.PrintLine(&r.res); err != nil {
			return err
		}
	}
	return r.status(aborted, followErr)
}

// stop ends the command and learns how it went.
func (r *running) stop(ctx context.Context) error {
	j, err := r.c.StopJob(ctx, r.res.Job, api.JobStop{})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded { // meanwhile, or the daemon saw us leave
		j, err = r.c.Job(ctx, r.res.Job, 0)
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
		err = exit.With(api.ExitTimeout, fmt.Errorf("ended after %s (--timeout); for long commands use --background or `longterm new`", r.flags.Timeout))
	case r.res.TimedOut == "idle" && !output.IsOpen(r.res.State):
		err = exit.With(api.ExitTimeout, fmt.Errorf("ended: nothing was printed for %s (--idle-timeout)", r.flags.Idle))
	case followErr != nil:
		return exit.With(api.ExitOwnFailure, followErr)
	default:
		err = resultStatus(&r.res, r.flags.Timeout, r.flags.Idle)
	}
	var exit *exit.Error
	if r.a.JSON && errors.As(err, &exit) {
		exit.Err = nil
	}
	return err
}

// tellFinished notifies people of the end of `run`'s command.
func (a *app) tellFinished(ctx context.Context, n *notify.Options, r *running) {
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
	watchrun.Notify(context.WithoutCancel(ctx), &a.Printer, n, &done, terminal)
}
