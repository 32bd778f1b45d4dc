//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/cirun"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/sandboxlearn"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/waitrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/pipeoutput"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// runFlags holds the flags of `run`.
type runFlags struct {
	request.StartFlags
	request.CallFlags
	notifyFlags
	request.ApprovalFlags
	request.RespondFlags
	line      string
	each      bool
	stop      bool
	raw, keep bool
	warm      bool
	encoding  string
	observe   string
	replace   bool
	ci        cirun.Flags
}

func runVerb(a *app, c *cobra.Command) {
	var r runFlags
	c.Long = `Run a command in a new session, print its output as it arrives, and exit with its exit status.

  longterm run -- make test
  longterm run -c 'make && ./deploy' --timeout 10m

On a terminal the command uses that terminal, with keys and colours. Otherwise its output is printed as plain
text (--raw: unchanged bytes), and standard input is not read.

The session is kept for a day if the command failed, ran for 10s or printed 16 KiB; other sessions are removed
unless --keep is given. ` + "`longterm ls --label longterm.kept`" + ` lists kept sessions. The id of a job (longterm jobs)
names its session in other verbs, as in ` + "`longterm output JOB`" + `. In the background (--background, or after a timeout)
the session is kept until ` + "`longterm jobs rm`" + `.

With --pipe, with run.mode = "pipe" in the configuration, or if the system has no free terminal, the command runs
on pipes: it reads this command's standard input unless that is a terminal, and stdout and stderr are separate.
Pipes and files receive unchanged bytes; a terminal receives text, and the number of bytes that are not text.

With --ci errors in the output become annotations of GitHub Actions, and a summary of the job; GitLab gets a
section and, with --ci-report, a code quality report. See ` + "`longterm help ci`" + `.`
	c.RunE = func(cmd *cobra.Command, args []string) error { return exit.Internal(a.runVerb(cmd, &r, args)) }
	r.StartFlags.Register(c)
	r.CallFlags.Register(c, "kill")
	r.notifyFlags.register(c)
	r.ApprovalFlags.Register(c, &a.agent)
	r.ApprovalFlags.RegisterTimeout(c)
	r.RespondFlags.Register(c)
	f := c.Flags()
	f.StringVarP(&r.line, "command", "c", "", "command `LINE` for the shell")
	f.StringVar(&r.observe, "observe", "", "`NAME` of a sandbox profile to learn: the command runs without sandbox, and its needs are written to sandbox.toml")
	f.BoolVar(&r.replace, "replace", false, "with --observe: replace a profile that was not learned too")
	f.BoolVar(&r.raw, "raw", false, "unchanged bytes of output")
	f.StringVar(&r.encoding, "encoding", "", "with --pipe: `ENCODING` of the command's text, such as latin1, shift_jis, utf-16le; auto detects it (default UTF-8)")
	f.BoolVar(&r.each, "each", false, "one line per argument, run in order in a new shell")
	f.BoolVar(&r.stop, "stop-on-error", false, "with --each: stop after the first line that fails")
	f.BoolVar(&r.keep, "keep", false, "keep the session after the end")
	f.BoolVar(&r.ci.On, "ci", false, "report errors to the CI system of the environment; keep the session, mask secrets")
	f.StringVar(&r.ci.Report, "ci-report", "", "with --ci: `FILE` for errors and warnings as a GitLab code quality report")
	f.StringVar(&r.ci.JUnit, "junit", "", "with --ci: `FILE` for the results of tests as JUnit XML")
	f.BoolVar(&r.warm, "warm", false, "with -c: run LINE in a warm shell, started in advance for this directory and environment")
}

func (r *runFlags) request(a *app, cmd *cobra.Command, args []string) (api.Run, error) {
	switch {
	case r.line == "" && len(args) == 0:
		return api.Run{}, exit.Usagef("command missing; use -c LINE or -- CMD")
	case r.line != "" && len(args) > 0:
		return api.Run{}, exit.Usagef("-c LINE and -- CMD exclude each other")
	case r.ci.On && (a.JSON || r.Background || r.warm || r.Format != ""):
		return api.Run{}, exit.Usagef("--ci prints output as it arrives: it excludes --json, --format, --background and --warm")
	case r.Background && len(r.ways) > 0:
		return api.Run{}, exit.Usagef("--notify excludes --background; use `longterm jobs wait`, or notify.command of the configuration")
	case r.encoding != "" && !r.Pipe:
		return api.Run{}, exit.Usagef("--encoding requires --pipe")
	}
	if err := r.ci.Check(); err != nil {
		return api.Run{}, err
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.JSON)
	if err != nil {
		return api.Run{}, err
	}
	n, err := r.StartFlags.Request(cmd, args)
	n.Line, n.ApprovalOptions = r.line, r.Options()
	return api.Run{Call: call, NewSession: n, Keep: r.keep || r.ci.On, Start: !r.Background && !r.warm, Warm: r.warm}, err
}

// misplacedFlagHint returns a hint for a flag of run that was given after the command without "--": it is passed to the
// command, which may be meant. Without such a flag it returns "".
func misplacedFlagHint(cmd *cobra.Command, args []string) string {
	if cmd.Flags().ArgsLenAtDash() >= 0 {
		return ""
	}
	for _, word := range args[min(1, len(args)):] {
		name, ok := strings.CutPrefix(word, "--")
		if word == "--" {
			return ""
		}
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "help" && cmd.Flags().Lookup(name) != nil {
			return fmt.Sprintf("--%s is passed to %s; a flag of run goes before the command; `longterm run -- %s` omits this hint", name, shellquote.Line(args[:1]), shellquote.Line(args))
		}
	}
	return ""
}

func (a *app) runVerb(cmd *cobra.Command, r *runFlags, args []string) error {
	if r.each {
		return a.runEach(cmd, r, args)
	}
	if hint := misplacedFlagHint(cmd, args); hint != "" && !a.JSON && termio.IsTerminal(a.Stderr) { // programs read standard error
		fmt.Fprintf(a.Stderr, "longterm: %s\n", hint)
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
		return exit.Usagef("--respond requires a terminal of the command: it excludes --warm and --pipe")
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	targets, err := a.notifyTargets(ctx, &r.notifyFlags)
	if err != nil {
		return err
	}
	if r.observe != "" && (r.Background || r.warm) {
		return exit.Usagef("--observe waits for the command's end: it excludes --background and --warm")
	}
	differs := n.OnDifference
	if r.observe != "" { // it applies to the learned profile
		n.OnDifference = ""
	}
	if err := sandboxlearn.Begin(r.observe, r.replace, &n.NewSession); err != nil {
		return err
	}
	tty := term.IsTerminal(int(a.stdin.Fd())) && a.Stdout == os.Stdout && term.IsTerminal(int(os.Stdout.Fd())) && !a.JSON && !r.Pipe && !r.Background && !r.warm && r.Format == "" && !r.ci.On
	if tty && n.Cols == 0 && n.Rows == 0 {
		if cols, rows, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			n.Cols, n.Rows = cols, rows
		}
	}
	if r.warm && n.MaxOutput == 0 && !a.JSON {
		n.MaxOutput = maxWarm
	}
	if n.MaxOutput == 0 && !a.JSON { // the output is printed from the history
		n.MaxOutput = waitrun.ShortAnswer
	}
	if a.agent != "" && encoding.NeedsDecoding() && r.Budget.Bytes == 0 {
		r.Budget.Bytes = int(a.settings().Exec.MaxOutput)
	}
	res, err := b.client.Run(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	added, err := addRules(ctx, b.client.Session(res.Session), rules)
	if err != nil {
		_, stopErr := b.client.StopJob(context.WithoutCancel(ctx), res.Job, api.JobStop{})
		return exit.Internal(errors.Join(err, stopErr))
	}
	if r.warm && !r.Background {
		return a.printWarm(r, &res)
	}
	if r.Background {
		return a.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Job) })
	}
	line := r.line
	if line == "" {
		line = shellquote.Line(args)
	}
	o := &waitrun.Options{CallFlags: &r.CallFlags, Raw: r.raw, Keep: n.Keep, Line: line, Encoding: encoding, Pipe: n.Pipe, Terminal: tty, Notify: targets, Rules: added}
	return errors.Join(a.followRun(ctx, b, &r.ci, o, res), sandboxlearn.Learn(a.Stderr, r.observe, differs, &n.NewSession))
}

// followRun follows a command to its end, and reports it to the CI system with --ci.
func (a *app) followRun(ctx context.Context, b *backend, f *cirun.Flags, o *waitrun.Options, res api.Result) error {
	if !f.On {
		return a.caller(b).Run(ctx, o, res)
	}
	masked := b.options
	masked.Agent = cmp.Or(masked.Agent, "ci") // secrets are masked for agents
	reader := client.New(masked)
	defer reader.Close()
	o.Reader = reader
	r := cirun.Reporter{Flags: *f, Env: cirun.ReadEnv(os.Getenv), Client: reader, Stderr: a.Stderr, Line: o.Line, Job: res.Job, Host: a.host}
	r.OpenSection(time.Now())
	return r.End(ctx, a.caller(b).Run(ctx, o, res))
}

// addRules attaches rules to a command that was started. They also answer a prompt that it printed before.
func addRules(ctx context.Context, s *client.Session, rules *api.RespondRules) ([]api.RespondAttached, error) {
	if rules == nil {
		return nil, nil
	}
	added, err := s.AddRules(ctx, *rules)
	if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodeEnded { // ended without a prompt
		return nil, nil
	}
	return added, err
}

// maxWarm limits the output of a line in a warm shell, in bytes: the result carries all of it.
const maxWarm = 16 << 20

// printWarm prints the result of a line in a warm shell.
func (a *app) printWarm(r *runFlags, res *api.Result) error {
	if a.JSON {
		return errors.Join(a.PrintLine(res), waitrun.Status(res, "", r.Timeout, r.Idle))
	}
	text := res.Output
	if r.Format != "" {
		text = output.LabelledText(r.line, res)
	}
	_, err := io.WriteString(a.Stdout, output.ForAgent(text))
	return errors.Join(err, waitrun.Status(res, "", r.Timeout, r.Idle))
}

// runEach runs lines in order in a new shell, which is removed afterwards.
func (a *app) runEach(cmd *cobra.Command, r *runFlags, args []string) error {
	switch {
	case r.ci.On:
		return exit.Usagef("--ci excludes --each; use `longterm run --ci -c LINE`")
	case len(args) == 0 || r.line != "":
		return exit.Usagef("--each requires lines: use `longterm run --each LINE…`")
	case r.RespondFlags.HasRules():
		return exit.Usagef("response rules exclude --each")
	case r.Pipe || r.warm || r.Background:
		return exit.Usagef("--each runs lines in a shell on a terminal and waits for them: it excludes --pipe, --warm and --background")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.JSON)
	if err != nil {
		return err
	}
	n, err := r.StartFlags.Request(cmd, nil)
	if err != nil {
		return err
	}
	n.Temporary, n.ApprovalOptions = !r.keep, r.Options()
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
			if err := s.Remove(context.WithoutCancel(ctx), true); err != nil && !isNotFound(err) {
				fmt.Fprintf(a.Stderr, "longterm: %v\n", err)
			}
		}()
	}
	return a.caller(b).Batch(ctx, s, &r.CallFlags, api.Batch{Call: call, ApprovalOptions: n.ApprovalOptions, Lines: args, Wait: true, StopOnError: r.stop})
}

func isNotFound(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNotFound
}

// pipeRequest sets the fields of n that concern pipes.
func pipeRequest(a *app, r *runFlags, n *api.NewSession) (pipeoutput.Encoding, error) {
	e, err := pipeoutput.ParseEncoding(r.encoding, cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG")))
	if err != nil {
		return e, exit.Usagef("%w", err)
	}
	n.PipeFallback = true
	n.Stdin = !termio.IsTerminal(a.stdin)
	return e, nil
}
