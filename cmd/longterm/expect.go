//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/values"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/expect/remote"
	"github.com/longterm-dev/longterm/session/respond/secret"
)

// expectFlags are what `expect` is told.
type expectFlags struct {
	vars                []string
	session, name       string
	junit, record       string
	check, schema, keep bool
	path                string // of the script
	given               map[string]string
}

func expectCommand(a *app) *cobra.Command {
	var x expectFlags
	c := &cobra.Command{
		Use:   "expect (SCRIPT [flags] | --record OUT -- CMD…)",
		Short: "Run a dialogue with a program from a script, or record one",
		Long: `Run a script (YAML, docs/expect.md) that starts programs, waits for what they ask, answers, and checks.
Each step is shown as it is done. The program runs in a session of its own, which can be watched
meanwhile (longterm attach) and is removed at the end unless --keep is given; or the script talks to a
session that lives (--session).

With --record, work in the program as usual: what you do becomes a script. What is typed while the
terminal does not echo is not recorded; the script refers to a variable of the environment instead.

Exit status: 0 the script ran to its end, 1 it failed, 2 it has errors or the command line has,
3 no such session, 5 the daemon cannot be reached, 130 interrupted.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.expect(cmd, &x, args) },
	}
	f := c.Flags()
	f.StringArrayVar(&x.vars, "var", nil, "NAME=VALUE of a variable, repeatable")
	f.StringVarP(&x.session, "session", "s", "", "talk to this session instead of a new one")
	f.StringVarP(&x.name, "name", "n", "", "name of the new session")
	f.StringVar(&x.junit, "junit", "", "write a report as JUnit XML to this file")
	f.StringVar(&x.record, "record", "", "record a script to this file")
	f.BoolVar(&x.check, "check", false, "only say what is wrong with the script")
	f.BoolVar(&x.schema, "schema", false, "print the JSON Schema of scripts, for editors")
	f.BoolVar(&x.keep, "keep", false, "keep the session")
	c.MarkFlagsMutuallyExclusive("check", "schema", "record")
	c.MarkFlagsMutuallyExclusive("session", "record")
	return a.JSONFlag(c)
}

func (a *app) expect(cmd *cobra.Command, x *expectFlags, args []string) error {
	switch {
	case x.schema:
		_, err := a.Stdout.Write(expect.Schema())
		return err
	case x.record != "":
		if len(args) == 0 {
			return exit.Usagef("no command to record; give it after --, as in `longterm expect --record out.yaml -- ssh host`")
		}
		return a.record(cmd.Context(), x, args)
	case len(args) != 1:
		return exit.Usagef("one script is needed; usage: %s", cmd.UseLine())
	}
	x.path = args[0]
	var err error
	if x.given, err = values.Pairs(x.vars, "--var"); err != nil {
		return err
	}
	s, err := a.loadScript(x)
	if err != nil || x.check {
		return err
	}
	return a.runScript(cmd.Context(), x, s)
}

// loadScript reads a script and says what is wrong with it.
func (a *app) loadScript(x *expectFlags) (*expect.Script, error) {
	src, err := a.input().Read([]string{x.path})
	if err != nil {
		return nil, exit.Usage(err)
	}
	dir := filepath.Dir(x.path)
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s, problems := expect.Load(src, expect.LoadOptions{Vars: x.given, Dir: here, Include: func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return os.ReadFile(path)
	}})
	w := a.Stderr
	if x.check {
		w = a.Stdout
	}
	if a.JSON && x.check {
		if problems == nil {
			problems = []expect.Problem{}
		}
		err = a.Print(problems, nil)
	} else {
		for _, p := range problems {
			prefix := x.path + ":"
			if p.File != "" {
				prefix = ""
			}
			fmt.Fprintf(w, "%s%v\n", prefix, p)
		}
	}
	if s == nil {
		return nil, exit.With(api.ExitUsage, errors.Join(err, fmt.Errorf("%s has errors; nothing was run", x.path)))
	}
	return s, err
}

// expectReport is what `expect --json` prints.
type expectReport struct {
	expect.Report
	Session string `json:"session,omitempty"` // id
}

func (a *app) runScript(ctx context.Context, x *expectFlags, s *expect.Script) error {
	d, err := a.scriptDriver(ctx, x)
	if err != nil {
		return err
	}
	if s.Name == "" {
		s.Name = filepath.Base(x.path)
	}
	o := expect.Options{Vars: x.given, LookupEnv: os.LookupEnv}
	if !a.JSON {
		show := &stepPrinter{w: a.Stdout}
		o.OnBegin, o.OnStep = show.begin, show.end
	}
	r := expect.Run(ctx, s, d, o)
	d.Close()
	err = errors.Join(a.report(x, d, &r), a.forget(context.WithoutCancel(ctx), x, d))
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case !r.OK:
		return exit.Silent(api.ExitFailure)
	}
	return nil
}

func (a *app) scriptDriver(ctx context.Context, x *expectFlags) (*remote.Driver, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	cwd, err := filepath.Abs("")
	if err != nil {
		return nil, err
	}
	var secrets secret.Resolver
	d := remote.NewDriver(b.client, remote.Options{
		New:    api.NewSession{Name: x.name, Cwd: cwd, Env: os.Environ(), Temporary: !x.keep},
		Secret: secrets.Resolve,
	})
	if x.session != "" {
		return d, d.Join(ctx, b.client.Session(x.session))
	}
	return d, nil
}

// report says how it went.
func (a *app) report(x *expectFlags, d *remote.Driver, r *expect.Report) error {
	if x.junit != "" {
		f, err := os.Create(x.junit)
		if err != nil {
			return err
		}
		if err := errors.Join(expect.WriteJUnit(f, *r), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", x.junit, err)
		}
	}
	out := expectReport{Report: *r, Session: x.session}
	if begun := d.Begun(); len(begun) > 0 {
		out.Session = begun[len(begun)-1]
	}
	return a.Print(out, func(w io.Writer) { printReport(w, r) })
}

// forget removes the sessions that the script started.
func (a *app) forget(ctx context.Context, x *expectFlags, d *remote.Driver) error {
	if x.keep {
		return nil
	}
	var errs []error
	for _, id := range d.Begun() {
		err := a.backend.client.Session(id).Remove(ctx, true)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeNotFound { // gone already is as wanted
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
