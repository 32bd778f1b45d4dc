//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/foreground"
	"github.com/longterm-dev/longterm/cmd/internal/observe"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/client"
)

// runFlags are what `run` is told.
type runFlags struct {
	request.StartFlags
	request.CallFlags
	notifyFlags
	request.AskFlags
	request.RespondFlags
	line      string
	each      bool
	stop      bool
	raw, keep bool
	warm      bool
	encoding  string
	observe   string
	replace   bool
}

func runVerb(a *app, c *cobra.Command) {
	var r runFlags
	c.Long = `Run a command in a session of its own, print its output as it comes, and exit with its status.
On a terminal the command gets the terminal: keys go to it, colours come through. Otherwise its output is
printed as plain text (--raw: unchanged) and standard input is not read. A session whose command failed, ran
for 10s or printed 16 KiB is kept for a day, and its job's id, from "longterm jobs", names it in other verbs, as in
"longterm output JOB"; "longterm ls --label longterm.kept" lists these sessions. Others are removed at the end unless
--keep is given. In the background (--background, or after a timeout) the session stays until
` + "`longterm jobs rm`" + `.

With --pipe, with run.mode = "pipe" in the configuration, or when the system has no free terminal, the
command runs on pipes: it reads our standard input (unless that is a terminal), and stdout and stderr stay
separate. Pipes and files get its bytes unchanged; a terminal gets text, and the number of bytes that were
not text.`
	c.RunE = func(cmd *cobra.Command, args []string) error { return exit.Own(a.runVerb(cmd, &r, args)) }
	r.StartFlags.Register(c)
	r.CallFlags.Register(c, "kill")
	r.notifyFlags.register(c)
	r.AskFlags.Register(c, &a.agent)
	r.AskFlags.RegisterTimeout(c)
	r.RespondFlags.Register(c)
	f := c.Flags()
	f.StringVarP(&r.line, "command", "c", "", "command line for the shell")
	f.StringVar(&r.observe, "observe", "", "run it in no sandbox, and write what it needed into sandbox.toml, as profile NAME")
	f.BoolVar(&r.replace, "replace", false, "with --observe: also in the place of a profile that was not learned")
	f.BoolVar(&r.raw, "raw", false, "print output bytes unchanged")
	f.StringVar(&r.encoding, "encoding", "", "with --pipe: how the command writes text, as in latin1, shift_jis, utf-16le (default UTF-8)")
	f.BoolVar(&r.each, "each", false, "every argument is a line: run them one after the other in a new shell")
	f.BoolVar(&r.stop, "stop-on-error", false, "with --each, stop after a line that fails")
	f.BoolVar(&r.keep, "keep", false, "keep the session")
	f.BoolVar(&r.warm, "warm", false, "with -c, run LINE in a shell that was started in advance, for this directory and environment")
}

func (r *runFlags) request(a *app, cmd *cobra.Command, args []string) (api.Run, error) {
	switch {
	case r.line == "" && len(args) == 0:
		return api.Run{}, exit.Usagef("no command; give -c LINE or -- CMD")
	case r.line != "" && len(args) > 0:
		return api.Run{}, exit.Usagef("both -c LINE and a command are given; give one of them")
	case r.Background && len(r.ways) > 0:
		return api.Run{}, exit.Usagef("--notify needs a caller who waits for the end, and --background does not wait; use `longterm jobs wait`, or notify.command of the configuration")
	case r.encoding != "" && !r.Pipe:
		return api.Run{}, exit.Usagef("--encoding is for a command on pipes; give --pipe as well")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.JSON)
	if err != nil {
		return api.Run{}, err
	}
	n, err := r.StartFlags.Request(cmd, args)
	n.Line, n.Asking = r.line, r.Asking()
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
	rules, err := r.RespondFlags.Request(a.input())
	if err != nil {
		return err
	}
	if rules != nil && (r.warm || n.Pipe) {
		return exit.Usagef("--respond answers on a terminal of the command's own; leave --warm and --pipe out")
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	told, err := a.told(ctx, &r.notifyFlags)
	if err != nil {
		return err
	}
	if r.observe != "" && (r.Background || r.warm) {
		return exit.Usagef("--observe waits for the end of a command of its own; leave --background and --warm out")
	}
	differs := n.OnDifference
	if r.observe != "" { // of the profile that is made
		n.OnDifference = ""
	}
	if err := observe.Begin(r.observe, r.replace, &n.NewSession); err != nil {
		return err
	}
	tty := term.IsTerminal(int(a.stdin.Fd())) && a.Stdout == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) && !a.JSON && !r.Pipe && !r.Background && !r.warm && r.Format == ""
	if tty && n.Cols == 0 && n.Rows == 0 {
		if cols, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			n.Cols, n.Rows = cols, rows
		}
	}
	if r.warm && n.MaxOutput == 0 && !a.JSON {
		n.MaxOutput = maxWarm
	}
	if n.MaxOutput == 0 && !a.JSON { // the output is printed from the history
		n.MaxOutput = foreground.ShortAnswer
	}
	if a.agent != "" && encoding.Other() && r.Budget.Bytes == 0 {
		r.Budget.Bytes = int(a.settings().Exec.MaxOutput)
	}
	res, err := b.client.Run(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	added, err := addRules(ctx, b.client.Session(res.Session), rules)
	if err != nil {
		_, stopErr := b.client.StopJob(context.WithoutCancel(ctx), res.Job, api.JobStop{})
		return exit.Own(errors.Join(err, stopErr))
	}
	if r.warm && !r.Background {
		return a.printWarm(r, &res)
	}
	if r.Background {
		return a.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Job) })
	}
	line := r.line
	if line == "" {
		line = strings.Join(args, " ")
	}
	c := a.caller(b)
	err = c.Run(ctx, &foreground.Options{CallFlags: &r.CallFlags, Raw: r.raw, Keep: r.keep, Line: line, Encoding: encoding, Pipe: n.Pipe, Terminal: tty, Notify: told, Rules: added}, res)
	return errors.Join(err, observe.Learn(a.Stderr, r.observe, differs, &n.NewSession))
}

// addRules attaches rules to a command that was started. They also answer a question that it asked before.
func addRules(ctx context.Context, s *client.Session, rules *api.RespondRules) ([]api.RespondAttached, error) {
	if rules == nil {
		return nil, nil
	}
	added, err := s.AddRules(ctx, *rules)
	if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodeEnded { // it asked nothing
		return nil, nil
	}
	return added, err
}

// maxWarm bounds the output of a line in a warm shell, whose output is its answer's.
const maxWarm = 16 << 20

// printWarm prints how a line in a warm shell went.
func (a *app) printWarm(r *runFlags, res *api.Result) error {
	if a.JSON {
		return errors.Join(a.PrintLine(res), foreground.Status(res, "", r.Timeout, r.Idle))
	}
	text := res.Output
	if r.Format != "" {
		text = output.Labelled(r.line, res)
	}
	_, err := io.WriteString(a.Stdout, output.ForAgent(text))
	return errors.Join(err, foreground.Status(res, "", r.Timeout, r.Idle))
}

// runEach runs lines one after the other in a shell of their own, which is removed then.
func (a *app) runEach(cmd *cobra.Command, r *runFlags, args []string) error {
	switch {
	case len(args) == 0 || r.line != "":
		return exit.Usagef("--each is given lines: run --each LINE…")
	case r.RespondFlags.HasRules():
		return exit.Usagef("rules are given with one command; --each has several")
	case r.Pipe || r.warm || r.Background:
		return exit.Usagef("--each runs lines in a shell on a terminal, and waits for them; remove --pipe, --warm and --background")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.JSON)
	if err != nil {
		return err
	}
	n, err := r.StartFlags.Request(cmd, nil)
	if err != nil {
		return err
	}
	n.Temporary, n.Asking = !r.keep, r.Asking()
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	info, err := b.client.NewSession(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	s := b.client.Session(info.ID)
	if !r.keep {
		defer func() {
			if err := s.Remove(context.WithoutCancel(ctx), true); err != nil && !isGone(err) {
				fmt.Fprintf(a.Stderr, "longterm: %v\n", err)
			}
		}()
	}
	return a.caller(b).Batch(ctx, s, &r.CallFlags, api.Batch{Call: call, Asking: n.Asking, Lines: args, Wait: true, StopOnError: r.stop})
}

func isGone(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNotFound
}

// pipeRequest completes a request with what `run` wants of pipes.
func pipeRequest(a *app, r *runFlags, n *api.NewSession) (capture.Encoding, error) {
	e, err := capture.ParseEncoding(r.encoding)
	if err != nil {
		return e, exit.Usagef("%w", err)
	}
	n.PipeFallback = true
	n.Stdin = !termio.IsTerminal(a.stdin)
	return e, nil
}
