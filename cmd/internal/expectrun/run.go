//go:build unix

// Package expectrun implements the verb expect: it runs scripts of dialogues (session/expect), prints their steps,
// writes reports, and records a user's dialogue as a script. Package session/expect interprets scripts. Sessions that a
// script started are removed at the end unless --keep is given.
package expectrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/expect/remote"
	"github.com/longterm-dev/longterm/session/respond/secret"
)

// Runner runs scripts and records them. Fields that a flag does not set may be empty.
type Runner struct {
	*output.Printer
	Stdin         *os.File
	Client        *client.Client // client of the daemon; not needed to load a script
	Path          string         // path of the script
	Vars          map[string]string
	Session, Name string // an existing session to use; the name of a new one
	JUnit         string // file for the JUnit report; "": none
	Recording     string // file to record to
	DetachKey     string // key that ends a recording
	Check, Keep   bool
}

// Load reads a script and prints its errors.
func (x *Runner) Load() (*expect.Script, error) {
	src, err := (request.Input{Stdin: x.Stdin, Stderr: x.Stderr}).Read([]string{x.Path})
	if err != nil {
		return nil, exit.Usage(err)
	}
	dir := filepath.Dir(x.Path)
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	s, problems := expect.Load(src, expect.LoadOptions{Vars: x.Vars, Dir: here, Include: func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return os.ReadFile(path)
	}})
	w := x.Stderr
	if x.Check {
		w = x.Stdout
	}
	if x.JSON && x.Check {
		if problems == nil {
			problems = []expect.Problem{}
		}
		err = x.Print(problems, nil)
	} else {
		for _, p := range problems {
			prefix := x.Path + ":"
			if p.File != "" {
				prefix = ""
			}
			fmt.Fprintf(w, "%s%v\n", prefix, p)
		}
	}
	if s == nil {
		return nil, exit.With(api.ExitUsage, errors.Join(err, fmt.Errorf("%s has errors; nothing was run", x.Path)))
	}
	return s, err
}

// expectReport is what `expect --json` prints.
type expectReport struct {
	expect.Report
	Session string `json:"session,omitempty"` // id
}

// Run runs a loaded script.
func (x *Runner) Run(ctx context.Context, s *expect.Script) error {
	d, err := x.driver(ctx)
	if err != nil {
		return err
	}
	if s.Name == "" {
		s.Name = filepath.Base(x.Path)
	}
	o := expect.Options{Vars: x.Vars, LookupEnv: os.LookupEnv}
	if !x.JSON {
		show := &stepPrinter{w: x.Stdout}
		o.OnStepStart, o.OnStepEnd = show.addStep, show.end
	}
	r := expect.Run(ctx, s, d, o)
	d.Close()
	err = errors.Join(x.report(d, &r), x.removeSessions(context.WithoutCancel(ctx), d))
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

func (x *Runner) driver(ctx context.Context) (*remote.Driver, error) {
	cwd, err := filepath.Abs("")
	if err != nil {
		return nil, err
	}
	var secrets secret.Resolver
	d := remote.NewDriver(x.Client, remote.Options{
		New:    api.NewSession{Name: x.Name, Cwd: cwd, Env: os.Environ(), Temporary: !x.Keep},
		Secret: secrets.Resolve,
	})
	if x.Session != "" {
		return d, d.Join(ctx, x.Client.Session(x.Session))
	}
	return d, nil
}

// report prints the result.
func (x *Runner) report(d *remote.Driver, r *expect.Report) error {
	if x.JUnit != "" {
		f, err := os.Create(x.JUnit)
		if err != nil {
			return err
		}
		if err := errors.Join(expect.WriteJUnit(f, *r), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", x.JUnit, err)
		}
	}
	out := expectReport{Report: *r, Session: x.Session}
	if begun := d.Started(); len(begun) > 0 {
		out.Session = begun[len(begun)-1]
	}
	return x.Print(out, func(w io.Writer) { printReport(w, r) })
}

// removeSessions removes the sessions that the script started.
func (x *Runner) removeSessions(ctx context.Context, d *remote.Driver) error {
	if x.Keep {
		return nil
	}
	var errs []error
	for _, id := range d.Started() {
		err := x.Client.Session(id).Remove(ctx, true)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeNotFound { // gone already is as wanted
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
