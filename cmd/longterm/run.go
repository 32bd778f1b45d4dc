//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// Bounds of a command in the foreground (R16).
const (
	minWall, maxWall = time.Second, 300 * time.Second
	defaultIdle      = 5 * time.Minute
)

// runFlags are what `run` is told.
type runFlags struct {
	startFlags
	line          string
	timeout, idle time.Duration
	raw, keep     bool
}

func runCommand(a *app) *cobra.Command {
	var r runFlags
	c := &cobra.Command{
		Use:   "run [flags] (-c LINE | -- CMD…)",
		Short: "Run a command in a session of its own and exit with its status",
		Long: `Run a command in a session of its own, print what it prints as it comes, and exit with its status.
On a terminal the command has it: keys go to it, colours come through. Otherwise its output is
printed as plain text (--raw: as it is) and standard input is not read. The session is removed
at the end unless --keep is given.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runVerb(cmd, &r, args) },
	}
	r.register(c)
	f := c.Flags()
	f.StringVarP(&r.line, "command", "c", "", "command line for the shell")
	f.DurationVar(&r.timeout, "timeout", time.Minute, "end the command after this time, 1s to 300s")
	f.DurationVar(&r.idle, "idle-timeout", defaultIdle, "end the command when it prints nothing for this time; 0: never")
	f.BoolVar(&r.raw, "raw", false, "print bytes as they come")
	f.BoolVar(&r.keep, "keep", false, "keep the session")
	return a.jsonFlag(c)
}

func (r *runFlags) request(cmd *cobra.Command, args []string) (api.NewSession, error) {
	switch {
	case r.line == "" && len(args) == 0:
		return api.NewSession{}, usagef("no command; give -c LINE or -- CMD")
	case r.line != "" && len(args) > 0:
		return api.NewSession{}, usagef("both -c LINE and a command are given; give one of them")
	case r.timeout < minWall || r.timeout > maxWall:
		return api.NewSession{}, usagef("--timeout %s: a command in the foreground gets %s to %s; start longer ones with `longterm new`", r.timeout, minWall, maxWall)
	case r.idle < 0:
		return api.NewSession{}, usagef("--idle-timeout %s is negative", r.idle)
	}
	n, err := r.startFlags.request(cmd, args)
	n.Line, n.Temporary = r.line, !r.keep
	return n, err
}

// runResult is what `run --json` prints (R2).
type runResult struct {
	Output     string    `json:"output"`
	ExitCode   *int      `json:"exit_code"`
	Signal     string    `json:"signal,omitempty"`
	Error      string    `json:"error,omitempty"`
	Aborted    bool      `json:"aborted"`
	TimedOut   string    `json:"timed_out"` // none, wall, idle
	DurationMS int64     `json:"duration_ms"`
	PID        int       `json:"pid"`
	Mode       string    `json:"mode"`
	Session    string    `json:"session"`
	Range      api.Range `json:"output_range"`
	CwdAfter   string    `json:"cwd_after"`
}

func (a *app) runVerb(cmd *cobra.Command, r *runFlags, args []string) error {
	n, err := r.request(cmd, args)
	if err != nil {
		return err
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	tty := term.IsTerminal(int(a.stdin.Fd())) && a.stdout == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) && !a.json && !r.pipe
	if tty && n.Cols == 0 && n.Rows == 0 {
		if cols, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			n.Cols, n.Rows = cols, rows
		}
	}
	info, err := b.client.NewSession(ctx, n)
	if err != nil {
		var e *api.Error
		if errors.As(err, &e) && (e.Code == api.CodeNoProgram || e.Code == api.CodeSpawn || e.Code == api.CodeInvalid) {
			return err
		}
		return &exitError{api.ExitOwnFailure, err}
	}
	run := &running{a: a, flags: r, s: b.client.Session(info.ID), info: info}
	if tty {
		if run.t, err = openTerminal(a.stdin, os.Stdout); err != nil {
			return err
		}
		defer run.t.restore(false)
	}
	return run.finish(ctx, run.follow(ctx))
}

// running is a command under way.
type running struct {
	a     *app
	flags *runFlags
	s     *client.Session
	info  api.Session
	t     *terminal // nil: no terminal to give to the command

	mu       sync.Mutex
	timedOut string
	output   []byte // for --json
}

// follow prints output until the command ends, a clock runs out or ctx ends.
func (r *running) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	expire := func(which string) func() {
		return func() {
			r.mu.Lock()
			r.timedOut = which
			r.mu.Unlock()
			cancel()
		}
	}
	wall := time.AfterFunc(r.flags.timeout, expire("wall"))
	defer wall.Stop()
	idle := time.AfterFunc(maxWall*2, expire("idle"))
	defer idle.Stop()
	rest := func() {
		if r.flags.idle > 0 {
			idle.Reset(r.flags.idle)
		}
	}
	rest()
	w := r.writer()
	if r.t != nil {
		go r.forward(ctx)
	}
	err := r.s.Follow(ctx, 0, func(o api.Output) error {
		rest()
		if o.Gap > 0 {
			fmt.Fprintf(r.a.stderr, "longterm: %d bytes of output are lost\n", o.Gap)
		}
		return w.write(o)
	})
	return errors.Join(w.flush(), err)
}

// writer is where output goes: to the terminal as it is but for queries, else as text.
func (r *running) writer() outputWriter {
	switch {
	case r.a.json:
		return collector{r}
	case r.t != nil:
		return &terminalWriter{t: r.t}
	case r.flags.raw:
		return rawWriter{r.a}
	}
	return newTextWriter(r.a.stdout)
}

type collector struct{ r *running }

func (c collector) write(o api.Output) error { c.r.output = append(c.r.output, o.Data...); return nil }
func (c collector) flush() error             { return nil }

// terminalWriter prints raw output on a person's terminal. Queries are answered by the
// session's emulator already.
type terminalWriter struct {
	t      *terminal
	filter attach.Filter
	buf    []byte
}

func (w *terminalWriter) write(o api.Output) error {
	w.buf = w.filter.Append(w.buf[:0], o.Data)
	return w.t.draw(w.buf)
}
func (w *terminalWriter) flush() error { return nil }

// forward gives the command the terminal's keys and size.
func (r *running) forward(ctx context.Context) {
	keys := make(chan []byte)
	go r.t.keys(keys, ctx.Done())
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
		case <-r.t.resized:
			cols, rows := r.t.size()
			_ = r.s.Resize(ctx, cols, rows) // a resize races with the end
		}
	}
}

// finish ends what is left to end, and exits as the command did.
func (r *running) finish(ctx context.Context, followErr error) error {
	if r.t != nil {
		r.t.restore(false)
	}
	after := context.WithoutCancel(ctx)
	r.mu.Lock()
	timedOut := r.timedOut
	r.mu.Unlock()
	aborted := ctx.Err() != nil
	if timedOut != "" || aborted {
		if _, err := r.s.Kill(after, api.Kill{}); err != nil {
			followErr = errors.Join(followErr, err)
		}
	}
	info, err := r.s.Info(after)
	if err != nil {
		return &exitError{api.ExitOwnFailure, errors.Join(followErr, err)}
	}
	if !r.flags.keep {
		if err := r.s.Remove(after, false); err != nil {
			fmt.Fprintf(r.a.stderr, "longterm: %v\n", err)
		}
	}
	if r.a.json {
		return r.report(&info, timedOut, aborted)
	}
	switch {
	case timedOut == "wall":
		return &exitError{api.ExitTimeout, fmt.Errorf("ended after %s (--timeout); for long commands use `longterm new`", r.flags.timeout)}
	case timedOut == "idle":
		return &exitError{api.ExitTimeout, fmt.Errorf("ended: nothing was printed for %s (--idle-timeout)", r.flags.idle)}
	case aborted:
		return &exitError{128 + int(syscall.SIGINT), nil}
	case followErr != nil:
		return &exitError{api.ExitOwnFailure, followErr}
	}
	return statusOf(&info)
}

// statusOf is the command's own exit status.
func statusOf(s *api.Session) error {
	switch {
	case s.ExitCode != nil && *s.ExitCode == 0:
		return nil
	case s.ExitCode != nil:
		return &exitError{*s.ExitCode, nil}
	case s.Signal != "":
		return &exitError{128 + int(unix.SignalNum(s.Signal)), nil}
	}
	return &exitError{api.ExitOwnFailure, fmt.Errorf("the command's end was not seen (%s)", s.State)}
}

func (r *running) report(s *api.Session, timedOut string, aborted bool) error {
	res := runResult{
		Output: plainText(r.output), ExitCode: s.ExitCode, Signal: s.Signal, Aborted: aborted, TimedOut: "none",
		DurationMS: s.Duration, PID: s.PID, Mode: s.Mode, Session: s.ID, Range: s.Output, CwdAfter: s.Cwd,
	}
	if timedOut != "" {
		res.TimedOut = timedOut
	}
	if err := json.NewEncoder(r.a.stdout).Encode(res); err != nil {
		return err
	}
	switch {
	case timedOut != "":
		return &exitError{api.ExitTimeout, nil}
	case aborted:
		return &exitError{128 + int(syscall.SIGINT), nil}
	}
	return statusOf(s)
}
