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
	"github.com/longterm-dev/longterm/cmd/internal/foreground"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/watchrun"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/notify"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// watchFlags are what `watch` is told.
type watchFlags struct {
	request.StartFlags
	notifyFlags
	line             string
	onChange, ignore []string
	debounce         time.Duration
	clear, wait      bool
	runs             int
}

// notifyFlags say who is told when a command finished.
type notifyFlags struct {
	ways  []string
	after time.Duration
}

func (n *notifyFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&n.ways, "notify", nil, "how to notify when the command finishes: bell, desktop, command=LINE or webhook=URL; failed: only when it fails; repeatable")
	c.Flags().DurationVar(&n.after, "notify-after", 0, "notify only if it ran at least this long")
}

// told is who is told how. A command is run by this process, outside of every session: nothing would judge an agent's.
func (a *app) told(ctx context.Context, n *notifyFlags) (notify.Options, error) {
	told, err := notify.Parse(n.ways, n.after)
	switch {
	case err != nil:
		return told, exit.Usagef("--notify: %w", err)
	case len(told.Command) == 0:
		return told, nil
	case a.agent != "":
		err = api.Errorf(api.CodeDenied, "--notify command= is for a person, not for an agent (%s)", output.Printable(a.agent))
	default:
		err = a.personOnly(ctx, "--notify command=")
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return told, e.WithHint("have it run by the command itself, where it is judged: `longterm run -c 'CMD; LINE'`")
	}
	return told, err
}

func watchVerb(a *app, c *cobra.Command) {
	var f watchFlags
	c.Long = `Run a command in a session, and again whenever a file in the working directory changes.
While it runs, progress, time left and errors are shown; afterwards what changed since the run
before: new and fixed errors, tests that started or stopped failing, exit status and time.

A change ends the current run and starts another one (--wait: lets it finish first). Files that git
ignores, and files that the command itself writes, do not count. On a terminal Enter runs the command
now, e opens an editor at the first error, n and p at the next one and the one before, and q or
Ctrl-C ends the watch. Elsewhere output is printed as plain text; --json prints
one object for each run instead.`
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.watchVerb(cmd, &f, args) }
	f.StartFlags.Register(c)
	f.notifyFlags.register(c)
	fl := c.Flags()
	fl.StringVarP(&f.line, "command", "c", "", "command line for the shell")
	fl.StringArrayVar(&f.onChange, "on-change", nil, "only files that match this pattern, as in '*.go' or 'src/**/*.c', repeatable (default: all)")
	fl.StringArrayVar(&f.ignore, "ignore", nil, "ignore files that match this pattern, repeatable")
	fl.DurationVar(&f.debounce, "debounce", 200*time.Millisecond, "how long files must stay unchanged before a change counts")
	fl.BoolVar(&f.clear, "clear", false, "clear the terminal before each run")
	fl.BoolVar(&f.wait, "wait", false, "let a run finish before the next one starts")
	fl.IntVar(&f.runs, "runs", 0, "stop after this many runs, with the last one's status; 0: never")
}

func (f *watchFlags) request(cmd *cobra.Command, args []string) (api.NewSession, error) {
	switch {
	case f.line == "" && len(args) == 0:
		return api.NewSession{}, exit.Usagef("no command; give -c LINE or -- CMD")
	case f.line != "" && len(args) > 0:
		return api.NewSession{}, exit.Usagef("both -c LINE and a command are given; give one of them")
	case f.debounce < 0:
		return api.NewSession{}, exit.Usagef("--debounce %s is negative", f.debounce)
	case f.runs < 0:
		return api.NewSession{}, exit.Usagef("--runs %d is negative", f.runs)
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
	told, err := a.told(cmd.Context(), &f.notifyFlags)
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
	o := watchrun.Options{Request: n, Client: b.client, Files: files, Notify: told, Command: f.line, Clear: f.clear, Wait: f.wait, Runs: f.runs, Host: a.host,
		Editor: places.Editor{Template: a.settings().Editor.Command, Stdin: a.stdin}}
	if o.Command == "" {
		o.Command = shellquote.Line(args)
	}
	if !a.JSON && a.Stdout == os.Stdout && a.onTerminal() {
		o.Terminal = a.stdin
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGHUP) // with its terminal the command ends
	defer stop()
	last, err := watchrun.Run(ctx, &a.Printer, o)
	if err != nil || f.runs == 0 || last == nil {
		return err
	}
	return statusOf(last)
}

// ownOutput are the files that this process writes to.
func ownOutput() []os.FileInfo {
	var list []os.FileInfo
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			list = append(list, info)
		}
	}
	return list
}

// statusOf is a command's own exit status.
func statusOf(s *api.Session) error {
	if s.ExitCode == nil && s.Signal == "" {
		return exit.With(api.ExitOwnFailure, api.Errorf(api.CodeEnded, "%s", watchrun.Lost).
			WithHint("its command may be run again; the keeper's log says more (`longterm doctor`)"))
	}
	return foreground.EndStatus(&api.Result{ExitCode: s.ExitCode, Signal: s.Signal})
}
