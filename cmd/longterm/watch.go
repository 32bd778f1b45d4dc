//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/filewatch"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/cmd/internal/waitrun"
	"github.com/longterm-dev/longterm/cmd/internal/watchrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// watchFlags holds the flags of `watch`.
type watchFlags struct {
	request.StartFlags
	notifyFlags
	line             string
	onChange, ignore []string
	debounce         time.Duration
	clear, wait      bool
	runs             int
}

// notifyFlags holds the flags that choose a notification of a command's end.
type notifyFlags struct {
	ways  []string
	after time.Duration
}

func (n *notifyFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&n.ways, "notify", nil, "notification `WAY` at the command's end: bell, desktop, command=LINE or webhook=URL; failed: only after a failure; repeatable")
	c.Flags().DurationVar(&n.after, "notify-after", 0, "minimum run time for a notification")
}

// notifyTargets returns the targets of --notify. command=LINE runs in this process, outside of every session and
// policy, so agents may not use it.
func (a *app) notifyTargets(ctx context.Context, n *notifyFlags) (notify.Options, error) {
	targets, err := notify.Parse(n.ways, n.after)
	switch {
	case err != nil:
		return targets, exit.Usagef("--notify: %w", err)
	case len(targets.Command) == 0:
		return targets, nil
	case a.agent != "":
		err = api.Errorf(api.CodeDenied, "--notify command= requires a user, not an agent (%s)", output.Printable(a.agent))
	default:
		err = a.requireUser(ctx, "--notify command=")
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return targets, e.WithHint("make it part of the command, where the policy checks it: `longterm run -c 'CMD; LINE'`")
	}
	return targets, err
}

func watchVerb(a *app, c *cobra.Command) {
	var f watchFlags
	c.Long = `Run a command in a session, and again each time a file in the working directory changes. During a run, progress,
time left and errors are shown; after it, the differences from the previous run: new and fixed errors, tests that
started or stopped failing, exit status and time.

  longterm watch --on-change '*.go' -- go test ./...

A change ends the current run and starts the next one (--wait: after the current one has finished). Files that git
ignores, and files that the command writes, do not count.

Keys on a terminal: Enter runs the command now, e opens an editor at the first error, n and p at the next and the
previous one, q or Ctrl-C quits. A run's session is removed at its end, so why, errors and jobs do not know it: run the
command with ` + "`longterm run`" + ` for those. Without a terminal the output is plain text; --json prints one object per run.`
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.watchVerb(cmd, &f, args) }
	f.StartFlags.Register(c)
	f.notifyFlags.register(c)
	fl := c.Flags()
	fl.StringVarP(&f.line, "command", "c", "", "command `LINE` for the shell")
	fl.StringArrayVar(&f.onChange, "on-change", nil, "`PATTERN` of watched files, such as '*.go' or 'src/**/*.c', repeatable (default: all)")
	fl.StringArrayVar(&f.ignore, "ignore", nil, "`PATTERN` of ignored files, repeatable")
	fl.DurationVar(&f.debounce, "debounce", 200*time.Millisecond, "time without further changes before a run starts")
	fl.BoolVar(&f.clear, "clear", false, "clear the terminal before each run")
	fl.BoolVar(&f.wait, "wait", false, "finish a run before the next one starts")
	fl.IntVar(&f.runs, "runs", 0, "maximum `NUMBER` of runs, then exit with the last one's status; 0: no limit")
}

func (f *watchFlags) request(cmd *cobra.Command, args []string) (api.NewSession, error) {
	switch {
	case f.line == "" && len(args) == 0:
		return api.NewSession{}, exit.Usagef("command missing; use -c LINE or -- CMD")
	case f.line != "" && len(args) > 0:
		return api.NewSession{}, exit.Usagef("-c LINE and -- CMD exclude each other")
	case f.debounce < 0:
		return api.NewSession{}, exit.Usagef("--debounce %s: must not be negative", f.debounce)
	case f.runs < 0:
		return api.NewSession{}, exit.Usagef("--runs %d: must not be negative", f.runs)
	}
	n, err := f.StartFlags.Request(cmd, args)
	n.Line, n.Temporary = f.line, true
	return n, err
}

func (a *app) watchVerb(cmd *cobra.Command, f *watchFlags, args []string) error {
	n, err := f.request(cmd, args)
	if err != nil {
		return err
	}
	targets, err := a.notifyTargets(cmd.Context(), &f.notifyFlags)
	if err != nil {
		return err
	}
	filter, err := filewatch.NewFilter(f.onChange, append(filewatch.GitIgnore(n.Cwd), f.ignore...))
	if err != nil {
		return exit.Usagef("%w", err)
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	files, err := filewatch.Open(filewatch.Options{Root: n.Cwd, Filter: filter, Debounce: f.debounce, Except: ownOutput()})
	if err != nil {
		return err
	}
	defer files.Close()
	o := watchrun.Options{Request: n, Client: b.client, Files: files, Notify: targets, Command: f.line, Clear: f.clear, Wait: f.wait, Runs: f.runs, Host: a.host,
		Editor: sourcepos.Editor{Template: a.settings().Editor.Command, Stdin: a.stdin}}
	if o.Command == "" {
		o.Command = shellquote.Line(args)
	}
	if !a.JSON && a.Stdout == os.Stdout && a.onTerminal() {
		o.Terminal = a.stdin
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP) // the command ends with its terminal
	defer stop()
	last, err := watchrun.Run(ctx, &a.Printer, o)
	if err != nil || f.runs == 0 || last == nil {
		return err
	}
	return statusOf(last)
}

// ownOutput returns the regular files to which this process writes.
func ownOutput() []os.FileInfo {
	var list []os.FileInfo
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			list = append(list, info)
		}
	}
	return list
}

// statusOf returns the exit status of the watched command.
func statusOf(s *api.Session) error {
	if s.ExitCode == nil && s.Signal == "" {
		return exit.With(api.ExitOwnFailure, api.Errorf(api.CodeEnded, "%s", watchrun.Lost).
			WithHint("run the command again; see the keeper's log (`longterm doctor`)"))
	}
	return waitrun.EndStatus(&api.Result{ExitCode: s.ExitCode, Signal: s.Signal})
}
