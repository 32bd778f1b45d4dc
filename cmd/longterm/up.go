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
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/projectrun"
	"github.com/longterm-dev/longterm/cmd/internal/remote"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/project"
)

func upVerb(a *app, c *cobra.Command) {
	var file string
	var trust, replace, show bool
	var asking request.AskFlags
	c.Long = `Have the sessions of a project's file, .longterm.toml, run: those that are named, with what they come after, or
all. What runs is left alone, so up may be said again at any time; what has ended is started again below its history.
It waits until each is ready, as the file says (docs/projects.md). The file is that of this directory, or of the
nearest one above.

The file may run anything, so it is shown and asked about first, and again whenever it has changed; --trust says yes.
Its commands are judged by the rules like any other.

--replace has sessions started anew whose definition has changed; the old ones stay, under another name.
--view opens the viewer with the file's tabs, or the sessions that are named; later longterm view --layout PROJECT opens
the tabs. Where a person has saved a layout under the project's name, that one stays and is opened.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := a.project(cmd.Context(), file, func(c *rulebook.Candidate) error { return a.trustProject(cmd.Context(), c, trust) })
		if err != nil {
			return err
		}
		r.Asking, r.Replace, r.Only = asking.Asking(), replace, args
		if !a.JSON {
			r.Tell = func(s projectrun.State) { fmt.Fprintf(a.Stderr, "%s: %s\n", s.Name, upText(&s)) }
		}
		states, err := r.Up(cmd.Context())
		if states == nil {
			return exit.Judged(err)
		}
		rest := a.unlisted(cmd.Context(), r)
		if l := r.Layout(states); l != nil && len(args) == 0 { // the project's layout has all
			kept, lerr := viewsource.SaveProjectLayout(cmd.Context(), a.backend.dirs, r.File.Name, r.File.Root, l)
			if lerr != nil {
				return errors.Join(err, fmt.Errorf("keep the layout: %w", lerr))
			}
			if !kept && !a.JSON {
				fmt.Fprintf(a.Stderr, "layout %s: it was saved in a viewer and stays so; `longterm layout rm %[1]s`, then up, has the file's tabs\n", r.File.Name)
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
	f.BoolVar(&trust, "trust", false, "trust the file as it is, without being asked")
	f.BoolVar(&replace, "replace", false, "start sessions anew whose definition has changed")
	f.BoolVar(&show, "view", false, "open the viewer when all are ready")
	asking.Register(c, &a.agent)
}

func projectFlag(c *cobra.Command, file *string) {
	c.Flags().StringVarP(file, "file", "f", "", "the project's file, or its directory (default: .longterm.toml here or in the nearest directory above)")
}

// unlisted are the project's sessions that run and that its file does not have any more; a person is told of them.
func (a *app) unlisted(ctx context.Context, r *projectrun.Runner) []projectrun.State {
	if len(r.Only) > 0 || ctx.Err() != nil {
		return nil
	}
	rest, err := r.Unlisted(ctx)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.Stderr, "longterm: whether sessions run that are not in the file any more is not known: %v\n", err)
	}
	for i := 0; i < len(rest) && !a.JSON; i++ {
		fmt.Fprintf(a.Stderr, "%s: runs, %s\n", output.Printable(rest[i].Name), notInFile(&rest[i]))
	}
	return rest
}

// notInFile says what may be done about a session that goes on without the file.
func notInFile(s *projectrun.State) string {
	return fmt.Sprintf("not in the file any more; `longterm down %s` ends it", output.Printable(s.Name))
}

// sessionsOf are the ids of the sessions that are there.
func sessionsOf(states []projectrun.State) (ids []string) {
	for i := range states {
		if id := states[i].Session; id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// upText is what up did with a session.
func upText(s *projectrun.State) string {
	switch {
	case s.Problem != "":
		return output.Printable(s.Problem)
	case s.Ready && s.Changed && s.Did == projectrun.Runs:
		return "runs, and the file has changed since; up --replace starts it anew"
	case s.Ready && s.Did == projectrun.Done:
		return "done before"
	case s.Ready:
		return s.Did + ", ready"
	case len(s.WaitsFor) > 0:
		return s.Did + ", waits for " + output.Printable(strings.Join(s.WaitsFor, " or "))
	}
	return s.Did
}

// findProject is the project's file: that which is given, or the nearest one above. A project is of the host that its
// directory is on.
func (a *app) findProject(given string) (string, error) {
	if a.host != "" {
		return "", exit.Usagef("a project's sessions run where its files are: longterm -H %s run --cwd DIRECTORY -- longterm %s", a.host,
			strings.Join(remote.WithoutHost(a.args), " "))
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
			return "", api.Errorf(api.CodeNotFound, "there is no %s in %s or above", project.Name, dir).
				WithHint("write one (docs/projects.md), or name it with --file")
		}
	}
}

// project reads the project's file and makes what runs it; allow looks at it before it counts.
func (a *app) project(ctx context.Context, given string, allow func(*rulebook.Candidate) error) (*projectrun.Runner, error) {
	path, err := a.findProject(given)
	if err != nil {
		return nil, err
	}
	c, err := rulebook.ReadOther(path, "a project's file")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, api.Errorf(api.CodeNotFound, "there is no file %s", path).WithHint("write one (docs/projects.md), or name another with --file")
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

// trustProject lets a file that the person trusts pass, and asks about any other.
func (a *app) trustProject(ctx context.Context, c *rulebook.Candidate, yes bool) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	dir := b.dirs.PolicyTrust()
	if rulebook.IsTrusted(dir, c) {
		return nil
	}
	if err := a.personOnly(ctx, "trusting a project's file"); err != nil {
		return err
	}
	if err := a.askTrust(c, "Trust this file as it is? It runs what it says.", "--trust", yes); err != nil {
		return err
	}
	return rulebook.Trust(dir, c, fmt.Sprintf("uid %d", os.Getuid()), time.Now())
}

// writeStates is a project's sessions as a table.
func writeStates(w io.Writer, states []projectrun.State) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tSESSION\tSTATE\tREADY\tTIME\tNOTE")
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
		case s.Returns:
			note = "starts again after a pause"
		case s.Stopped:
			note = "ended by request"
		case s.Changed:
			note = "the file has changed since"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", output.Printable(s.Name), s.Called, state, ready, took, note)
	}
	_ = tw.Flush()
}
