//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/projectrun"
	"github.com/longterm-dev/longterm/cmd/internal/remote"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/project"
	"github.com/longterm-dev/longterm/session/shellquote"
)

func upVerb(a *app, c *cobra.Command) {
	var file string
	var trust, replace, show bool
	var asking request.ApprovalFlags
	c.Long = `Start the sessions of this directory's project, as defined in .longterm.toml: the named ones with those they depend
on, or all. The file is the one here or in the nearest directory above.

  longterm up
  longterm up web --view

Running sessions are left alone, so up can be repeated at any time; ended ones start again below their history.
up waits until each session is ready, as the file defines (` + "`longterm help projects`" + `).

The file may run any command, so it is shown and confirmed first, and again after each change; --trust confirms
it. The policy checks its commands like any other.

--replace restarts sessions whose definition has changed; the old ones remain under another name. --view opens the
viewer with the file's tabs, or with the named sessions; later ` + "`longterm view --layout PROJECT`" + ` opens the tabs. A layout
that the user saved under the project's name is kept, and opened instead.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := a.project(cmd.Context(), file, func(c *rulebook.Candidate) error { return a.trustProject(cmd.Context(), c, trust) })
		if err != nil {
			return err
		}
		r.Approval, r.Replace, r.Only = asking.Options(), replace, args
		if !a.JSON {
			r.Report = func(s projectrun.State) { fmt.Fprintf(a.Stderr, "%s: %s\n", s.Name, upText(&s)) }
		}
		states, err := r.Up(cmd.Context())
		if states == nil {
			return exit.FromPolicy(err)
		}
		rest := a.findUnlisted(cmd.Context(), r)
		if l := r.Layout(states); l != nil && len(args) == 0 { // the project's layout has all
			kept, lerr := viewsource.SaveProjectLayout(cmd.Context(), a.backend.dirs, r.File.Name, r.File.Root, l)
			if lerr != nil {
				return errors.Join(err, fmt.Errorf("save the layout: %w", lerr))
			}
			if !kept && !a.JSON {
				fmt.Fprintf(a.Stderr, "layout %s: not changed (saved by the user); for the file's tabs run `longterm layout rm %[1]s`, then `longterm up`\n", r.File.Name)
			}
		}
		if err == nil && show {
			h, err := a.viewHosts(cmd.Context(), nil, false)
			if err != nil {
				return err
			}
			defer h.close()
			if len(args) > 0 {
				return a.view(cmd.Context(), h, sessionsOf(states), viewsource.Flags{})
			}
			return a.view(cmd.Context(), h, nil, viewsource.Flags{Layout: r.File.Name})
		}
		if perr := a.Print(append(states, rest...), nil); perr != nil {
			return perr
		}
		return err
	}
	f := c.Flags()
	projectFlag(c, &file)
	f.BoolVar(&trust, "trust", false, "trust in the file without confirmation")
	f.BoolVar(&replace, "replace", false, "restart of sessions whose definition has changed")
	f.BoolVar(&show, "view", false, "open the viewer when all sessions are ready")
	asking.Register(c, &a.agent)
}

func projectFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "file", "f", "", "project `FILE` or its directory (default: .longterm.toml here or in the nearest directory above)")
}

// findUnlisted returns running sessions of the project that its file no longer lists, and reports them unless the output is
// JSON.
func (a *app) findUnlisted(ctx context.Context, r *projectrun.Runner) []projectrun.State {
	if len(r.Only) > 0 || ctx.Err() != nil {
		return nil
	}
	rest, err := r.FindUnlisted(ctx)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.Stderr, "longterm: check for running sessions outside the file failed: %v\n", err)
	}
	for i := 0; i < len(rest) && !a.JSON; i++ {
		fmt.Fprintf(a.Stderr, "%s: running, %s\n", output.Printable(rest[i].Name), notInFile(&rest[i]))
	}
	return rest
}

// notInFile returns the note for a running session that the file no longer lists.
func notInFile(s *projectrun.State) string {
	return fmt.Sprintf("not in the file; end it with `longterm down %s`", output.Printable(s.Name))
}

// sessionsOf returns the ids of the existing sessions.
func sessionsOf(states []projectrun.State) (ids []string) {
	for i := range states {
		if id := states[i].Session; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// upText describes what up did with a session.
func upText(s *projectrun.State) string {
	switch {
	case s.Problem != "":
		return output.Printable(s.Problem)
	case s.Ready && s.Changed && s.Action == projectrun.Runs:
		return "running, but the file has changed; restart it with `longterm up --replace`"
	case s.Ready && s.Action == projectrun.Done:
		return "already done"
	case s.Ready:
		return s.Action + ", ready"
	case len(s.WaitsFor) > 0:
		return s.Action + ", waiting for " + output.Printable(strings.Join(s.WaitsFor, " or "))
	}
	return s.Action
}

// findProject returns the path of the project file: the given one, or the nearest one above. A project belongs to the
// host of its directory, so --host is an error.
func (a *app) findProject(given string) (string, error) {
	if a.host != "" {
		return "", exit.Usagef("a project runs on the host of its files; use `longterm -H %s run --cwd DIRECTORY -- longterm %s`", a.host,
			shellquote.Line(remote.WithoutHost(a.args)))
	}
	if given != "" {
		if st, err := os.Stat(given); err == nil && st.IsDir() {
			given = filepath.Join(given, project.Name)
		}
		return filepath.Abs(given)
	}
	dir, err := filepath.Abs("")
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		file := filepath.Join(at, project.Name)
		if _, err := os.Lstat(file); err == nil {
			return file, nil
		}
		if at == filepath.Dir(at) {
			return "", api.Errorf(api.CodeNotFound, "%s not found in %s or above", project.Name, dir).
				WithHint("create one (`longterm help projects`), or use --file")
		}
	}
}

// project reads the project file and returns its runner. allow checks the file before it is used; nil allows any.
func (a *app) project(ctx context.Context, given string, allow func(*rulebook.Candidate) error) (*projectrun.Runner, error) {
	path, err := a.findProject(given)
	if err != nil {
		return nil, err
	}
	c, err := rulebook.ReadOther(path, "a project's file")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Errorf(api.CodeNotFound, "%s: file not found", path).WithHint("create it (`longterm help projects`), or use another with --file")
	}
	if err != nil {
		return nil, err
	}
	probe := func(s string) error {
		_, err := request.Condition(s)
		return err
	}
	f, err := project.Decode(filepath.Dir(c.Path), []byte(c.Text), project.Options{Path: c.Path, Probe: probe})
	if err != nil {
		return nil, exit.Usage(err)
	}
	if allow != nil {
		if err := allow(c); err != nil {
			return nil, err
		}
	}
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	return &projectrun.Runner{Client: b.client, File: f}, ctx.Err()
}

// trustProject accepts a file that the user trusts, and asks about any other.
func (a *app) trustProject(ctx context.Context, c *rulebook.Candidate, yes bool) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	dir := b.dirs.PolicyTrust()
	if rulebook.IsTrusted(dir, c) {
		return nil
	}
	if err := a.requireUser(ctx, "trusting a project's file"); err != nil {
		return err
	}
	if err := a.askTrust(c, "Trust this file until it changes? Its commands will run.", "--trust", yes); err != nil {
		return err
	}
	return rulebook.Trust(dir, c, fmt.Sprintf("uid %d", os.Getuid()), time.Now())
}

// writeStates prints a project's sessions as a table.
func writeStates(w io.Writer, states []projectrun.State, look listing.TableFormat) {
	columns := []listing.Column{
		{Head: "NAME", ShrinkTo: 8, Style: listing.AsBold}, {Head: "SESSION", ShrinkTo: 8}, {Head: "STATE", Style: listing.StateStyle}, {Head: "READY"}, {Head: "TIME"}, {Head: "NOTE", ShrinkTo: 10},
	}
	rows := make([][]string, 0, len(states))
	for _, s := range states {
		state, ready, took, note := s.State, "no", "", ""
		switch {
		case s.Ready:
			ready = "yes"
		case s.Unlisted:
			ready = "-"
		}
		if s.Session != "" {
			took = output.Elapsed(s.Duration)
		}
		switch {
		case s.ExitCode != nil:
			state = fmt.Sprintf("%s %d", state, *s.ExitCode)
		case s.Signal != "":
			state += " " + s.Signal
		}
		switch {
		case s.Unlisted:
			note = notInFile(&s)
		case s.RestartPending:
			note = "restarts after a pause"
		case s.Stopped:
			note = "ended by request"
		case s.Changed:
			note = "file changed since the start"
		}
		rows = append(rows, []string{output.Printable(s.Name), s.SessionName, state, ready, took, note})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}
