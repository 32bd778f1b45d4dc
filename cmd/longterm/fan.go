//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/cmd/internal/worktree"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

// Labels of the sessions of a fan.
const (
	labelFan  = "fan"      // its name
	labelTry  = "fan.try"  // the number of the attempt, from 1
	labelInto = "fan.into" // the directory of the working tree from which the fan was started
)

// maxAttempts bounds the attempts of a fan.
const maxAttempts = 64

func fanVerb(a *app, c *cobra.Command) {
	var start request.StartFlags
	var asking request.ApprovalFlags
	var agents string
	wait := false
	c.Long = `Run several attempts at the same time, each in its own session and git worktree, compare them, and keep one.

  longterm fan 3 -- claude "fix the failing test"
  longterm fan --agent claude,codex -- "fix the failing test"
  longterm fan seeds.txt --name bench -- go test -run Fuzz -seed {}
  longterm fan status
  longterm fan keep 2

N starts CMD N times. FILE starts CMD once for each of its lines. The line replaces {} in CMD's words; without {} it
is appended as the last word.
--agent starts each of the coding agents with the prompt. LONGTERM_FAN_TRY is the number of the attempt, from 1.

The sessions NAME-1, NAME-2 … have worktrees (see ` + "`longterm new --worktree`" + `), and a layout:
` + "`longterm view --layout NAME`" + `. Uncommitted changes of the working tree in which you are do not come along.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		attempts, err := a.attempts(args, cmd.ArgsLenAtDash(), agents)
		if err != nil {
			return err
		}
		n, err := start.Request(cmd, nil)
		if err != nil {
			return err
		}
		n.ApprovalOptions = asking.Options()
		f := fan{app: a, name: cmp.Or(n.Name, "fan")}
		if err := f.start(cmd.Context(), n, attempts); err != nil {
			return err
		}
		if wait {
			return f.compareAtEnd(cmd.Context())
		}
		return f.printStarted()
	}
	c.Flags().BoolVar(&wait, "wait", false, "wait until all attempts have ended, and compare them")
	start.Register(c)
	asking.Register(c, &agents) // the label of a calling agent is in its environment
	c.Flags().Lookup("agent").Usage = "coding agents to start with the prompt, `NAME,NAME…`: claude, codex, gemini, opencode"
	c.Flags().SetInterspersed(true)
	c.AddCommand(fanStatus(a), fanKeep(a), fanRm(a))
}

// agentArgv returns the command line that starts a coding agent with a prompt.
var agentArgv = map[string]func(prompt string) []string{
	"claude":   func(prompt string) []string { return []string{"claude", prompt} },
	"codex":    func(prompt string) []string { return []string{"codex", prompt} },
	"gemini":   func(prompt string) []string { return []string{"gemini", "-i", prompt} },
	"opencode": func(prompt string) []string { return []string{"opencode", "--prompt", prompt} },
}

// attempts returns the command lines of a fan: args before the dash choose the attempts, those after it are the command.
func (a *app) attempts(args []string, dash int, agents string) ([][]string, error) {
	if dash < 0 || dash == len(args) {
		return nil, exit.Usagef("no command: write `longterm fan N -- CMD…`")
	}
	which, argv := args[:dash], args[dash:]
	if agents != "" {
		if len(which) > 0 {
			return nil, exit.Usagef("--agent already chooses the attempts; omit %s", which[0])
		}
		return agentAttempts(strings.Split(agents, ","), strings.Join(argv, " "))
	}
	if len(which) != 1 {
		return nil, exit.Usagef("number of attempts, or a file with one input a line, required before --")
	}
	if n, err := strconv.Atoi(which[0]); err == nil {
		if n < 1 || n > maxAttempts {
			return nil, exit.Usagef("%d attempts: must be 1 to %d", n, maxAttempts)
		}
		return slices.Repeat([][]string{argv}, n), nil
	}
	text, err := a.input().Read(which)
	if err != nil {
		return nil, err
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			all = append(all, fill(argv, line))
		}
	}
	if len(all) == 0 || len(all) > maxAttempts {
		return nil, exit.Usagef("%s: %d inputs, must be 1 to %d", which[0], len(all), maxAttempts)
	}
	return all, nil
}

// agentAttempts returns the command lines of agents with the same prompt.
func agentAttempts(agents []string, prompt string) (all [][]string, err error) {
	for _, name := range agents {
		argv := agentArgv[name]
		if argv == nil {
			return nil, exit.Usagef("--agent %s: unknown; known are claude, codex, gemini and opencode (others: `longterm fan N -- CMD…`)", name)
		}
		all = append(all, argv(prompt))
	}
	return all, nil
}

// fill replaces {} in the words of a command, or appends the input if no word has it.
func fill(argv []string, input string) []string {
	filled, found := slices.Clone(argv), false
	for i, word := range filled {
		found = found || strings.Contains(word, "{}")
		filled[i] = strings.ReplaceAll(word, "{}", input)
	}
	if !found {
		filled = append(filled, input)
	}
	return filled
}

// fan is a set of attempts with a name.
type fan struct {
	*app
	name     string
	c        *client.Client
	sessions []api.Session // by number of the attempt
}

// load finds the sessions of the fan, or of the newest one without a name.
func (f *fan) load(ctx context.Context) error {
	b, err := f.connect()
	if err != nil {
		return err
	}
	f.c = b.client
	all, err := b.client.List(ctx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s api.Session) bool { return s.Labels[labelFan] == "" })
	if f.name == "" && len(all) > 0 {
		newest := slices.MaxFunc(all, func(x, y api.Session) int { return x.Created.Compare(y.Created) })
		f.name = newest.Labels[labelFan]
	}
	f.sessions = slices.DeleteFunc(all, func(s api.Session) bool { return s.Labels[labelFan] != f.name })
	slices.SortFunc(f.sessions, func(x, y api.Session) int { return cmp.Compare(tryOf(&x), tryOf(&y)) })
	return nil
}

// mustLoad works like load, and returns an error without sessions.
func (f *fan) mustLoad(ctx context.Context) error {
	err := f.load(ctx)
	switch {
	case err != nil:
		return err
	case len(f.sessions) == 0 && f.name != "":
		return api.Errorf(api.CodeNotFound, "fan %q not found", f.name).WithHint("start one with `longterm fan N -- CMD…`; see `longterm ls`")
	case len(f.sessions) == 0:
		return api.Errorf(api.CodeNotFound, "no fan").WithHint("start one with `longterm fan N -- CMD…`")
	}
	return nil
}

// tryOf returns the number of a session's attempt.
func tryOf(s *api.Session) int {
	n, _ := strconv.Atoi(s.Labels[labelTry])
	return n
}

// start starts all attempts. If one does not start, the others run on, and the error names them.
func (f *fan) start(ctx context.Context, n api.NewSession, attempts [][]string) error {
	if err := f.load(ctx); err != nil {
		return err
	}
	if len(f.sessions) > 0 {
		return api.Errorf(api.CodeNameTaken, "fan %q exists", f.name).
			WithHint("choose another --name, or end it: `longterm fan keep K %s`, `longterm fan rm %[1]s`", f.name)
	}
	for i, argv := range attempts {
		in := n
		in.Argv, in.Name = argv, fmt.Sprintf("%s-%d", f.name, i+1)
		in.SetEnv = append(slices.Clone(n.SetEnv), fmt.Sprintf("LONGTERM_FAN_TRY=%d", i+1))
		in.Labels = worktree.WithLabels(n.Labels, map[string]string{labelFan: f.name, labelTry: strconv.Itoa(i + 1), labelInto: n.Cwd})
		s, err := f.worktrees().Start(ctx, f.c, in, "")
		if err != nil {
			if i > 0 {
				err = fmt.Errorf("attempt %d not started: %w; %d run: `longterm fan status %s`, `longterm fan rm %[4]s`", i+1, err, i, f.name)
			}
			return err
		}
		f.sessions = append(f.sessions, s)
	}
	return f.saveLayout(ctx)
}

// saveLayout saves a layout with the attempts side by side, under the fan's name.
func (f *fan) saveLayout(ctx context.Context) error {
	b, err := f.connect()
	if err != nil {
		return err
	}
	l, ids := model.Layout{Version: model.LayoutVersion, Names: map[string]string{}}, []string{}
	for i := range f.sessions {
		ids = append(ids, f.sessions[i].ID)
		l.Names[f.sessions[i].ID] = f.sessions[i].Name
	}
	l.Tabs = []model.TabFile{{Name: f.name, Tree: layout.Tiles(layout.Rect{W: 160, H: 48}, ids), Focus: ids[0], Grid: true}}
	_, err = viewsource.SaveProjectLayout(ctx, b.dirs, f.name, f.sessions[0].Labels[labelInto], &l)
	return err
}

func (f *fan) printStarted() error {
	return f.Print(f.sessions, func(w io.Writer) {
		for i := range f.sessions {
			s := &f.sessions[i]
			fmt.Fprintf(w, "%s: started in %s\n", s.Name, output.Printable(listing.AbbreviateHome(s.Labels[worktree.LabelDir], os.Getenv("HOME"))))
		}
		fmt.Fprintf(w, "next: `longterm view --layout %s`, `longterm fan status %[1]s`, `longterm fan keep K %[1]s`\n", f.name)
	})
}

// attempt is the state of an attempt, for comparison.
type attempt struct {
	Try      int              `json:"try"`
	Session  api.Session      `json:"session"`
	Errors   int              `json:"errors"` // in the output
	Warnings int              `json:"warnings"`
	Worktree *worktree.Status `json:"worktree,omitempty"`
	Lines    *worktree.Lines  `json:"lines,omitempty"` // changed since the start
}

// compare returns the state of all attempts.
func (f *fan) compare(ctx context.Context) (list []attempt, err error) {
	for i := range f.sessions {
		s, err := f.c.Session(f.sessions[i].ID).Info(ctx)
		if err != nil {
			return nil, err
		}
		x := attempt{Try: tryOf(&s), Session: s}
		if s.Activity != nil {
			x.Errors, x.Warnings = s.Activity.Errors, s.Activity.Warnings
		}
		if t, ok := f.worktrees().Of(&s); ok {
			st, err := t.Status(ctx)
			if err != nil {
				return nil, err
			}
			x.Worktree = &st
			if !st.Missing {
				l, err := t.Lines(ctx)
				if err != nil {
					return nil, err
				}
				x.Lines = &l
			}
		}
		list = append(list, x)
	}
	return list, nil
}

// printComparison prints the attempts as a table.
func (f *fan) printComparison(ctx context.Context) error {
	list, err := f.compare(ctx)
	if err != nil {
		return err
	}
	return f.Print(list, func(w io.Writer) {
		columns := []listing.Column{
			{Head: "try", AlignRight: true}, {Head: "session"}, {Head: "state"}, {Head: "errors", AlignRight: true}, {Head: "files", AlignRight: true},
			{Head: "lines"}, {Head: "commits", AlignRight: true}, {Head: "time", AlignRight: true},
		}
		var rows [][]string
		for i := range list {
			x := &list[i]
			row := []string{strconv.Itoa(x.Try), x.Session.Name, output.StateText(&x.Session), strconv.Itoa(x.Errors), "", "", "", output.Elapsed(x.Session.Duration)}
			if x.Lines != nil {
				row[4], row[5] = strconv.Itoa(x.Lines.Files), fmt.Sprintf("+%d -%d", x.Lines.Added, x.Lines.Removed)
			}
			if x.Worktree != nil {
				row[6] = strconv.Itoa(x.Worktree.Ahead)
			}
			rows = append(rows, row)
		}
		_ = listing.WriteTable(w, columns, rows, f.TableLook())
	})
}

// compareAtEnd waits until all attempts have ended, and prints the comparison.
func (f *fan) compareAtEnd(ctx context.Context) error {
	for i := range f.sessions {
		w := api.Wait{Conds: []api.Condition{{Kind: "exit"}}, TimeoutMS: -1}
		if _, err := f.c.Session(f.sessions[i].ID).Wait(ctx, w); err != nil && !isNotFound(err) {
			return err
		}
	}
	return f.printComparison(ctx)
}

func fanStatus(a *app) *cobra.Command {
	wait := false
	c := a.JSONFlag(&cobra.Command{
		Use: "status [NAME]", Short: "Compare the attempts of a fan", Args: cobra.MaximumNArgs(1),
		Long: "Compare the attempts of a fan, the newest one by default: state, errors in the output, changed files and lines, commits.\n\n" +
			"  longterm fan status --wait",
		RunE: func(cmd *cobra.Command, args []string) error {
			f := fan{app: a, name: append(args, "")[0]}
			if err := f.mustLoad(cmd.Context()); err != nil {
				return err
			}
			if wait {
				return f.compareAtEnd(cmd.Context())
			}
			return f.printComparison(cmd.Context())
		},
	})
	c.Flags().BoolVar(&wait, "wait", false, "wait until all attempts have ended")
	return c
}

func fanKeep(a *app) *cobra.Command {
	var message string
	var yes bool
	c := a.Done(&cobra.Command{
		Use: "keep K [NAME]", Short: "Merge one attempt and remove the others", Args: cobra.RangeArgs(1, 2),
		Long: "Merge the branch of attempt K into the branch of the working tree in which the fan was started, and remove all sessions,\n" +
			"worktrees and branches of the fan. Nothing is removed if the merge fails.\n\n" +
			"  longterm fan keep 2\n" +
			"  longterm fan keep 2 --commit 'fix the parser'",
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		k, err := strconv.Atoi(args[0])
		if err != nil {
			return exit.Usagef("%q: not the number of an attempt; see `longterm fan status`", args[0])
		}
		f := fan{app: a, name: append(args[1:], "")[0]}
		if err := f.mustLoad(cmd.Context()); err != nil {
			return err
		}
		return f.keep(cmd.Context(), k, message, yes)
	}
	c.Flags().StringVar(&message, "commit", "", "`MESSAGE` of a commit of the attempt's uncommitted changes")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "no confirmation")
	return c
}

func (f *fan) keep(ctx context.Context, k int, message string, yes bool) error {
	i := slices.IndexFunc(f.sessions, func(s api.Session) bool { return tryOf(&s) == k })
	if i < 0 {
		return api.Errorf(api.CodeNotFound, "attempt %d of fan %q not found", k, f.name).WithHint("see `longterm fan status %s`", f.name)
	}
	s := &f.sessions[i]
	t, ok := f.worktrees().Of(s)
	if !ok {
		return fmt.Errorf("session %s has no worktree", s.Name)
	}
	st, err := t.Status(ctx)
	if err != nil {
		return err
	}
	into := s.Labels[labelInto]
	branch := worktree.CurrentBranch(ctx, into)
	switch {
	case branch != t.Base && branch != "":
		return api.Errorf(api.CodeInvalid, "fan %s started from %s, and %s has %s checked out", f.name, t.Base, into, branch).
			WithHint("run `git checkout %s` there, or merge %s by hand and run `longterm fan rm %s`", t.Base, t.Branch, f.name)
	case s.State == "running":
		return api.Errorf(api.CodeBusy, "attempt %d is running (session %s)", k, s.Name).WithHint("wait with `longterm fan status --wait`, or end it with `longterm kill %s`", s.Name)
	case st.Changed > 0 && message == "":
		return api.Errorf(api.CodeInvalid, "attempt %d has %d files with uncommitted changes", k, st.Changed).
			WithHint("commit them with `longterm fan keep %d --commit MESSAGE`, or in %s", k, t.Dir)
	}
	others := len(f.sessions) - 1
	if err := f.confirm(fmt.Sprintf("Merge attempt %d (%d commits, %d uncommitted files) into %s (%s), and remove %d other attempts with their changes?",
		k, st.Ahead, st.Changed, cmp.Or(branch, "no branch"), output.Printable(into), others), yes); err != nil {
		return err
	}
	merged := false
	if !st.Missing {
		if st.Changed > 0 {
			if err := t.Commit(ctx, message); err != nil {
				return err
			}
		}
		if merged, err = t.Merge(ctx, into); err != nil {
			return err
		}
	}
	if err := f.remove(ctx, k); err != nil {
		return err
	}
	return f.Print(s, func(w io.Writer) {
		if merged {
			fmt.Fprintf(w, "attempt %d merged into %s; fan %s removed\n", k, output.Printable(into), f.name)
		} else {
			fmt.Fprintf(w, "attempt %d has nothing to merge; fan %s removed\n", k, f.name)
		}
	})
}

func fanRm(a *app) *cobra.Command {
	yes := false
	c := a.Done(&cobra.Command{
		Use: "rm [NAME]", Short: "Remove a fan with all attempts and their changes", Args: cobra.MaximumNArgs(1),
		Long: "End and remove all sessions, worktrees and branches of a fan.\n\n  longterm fan rm",
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		f := fan{app: a, name: append(args, "")[0]}
		if err := f.mustLoad(cmd.Context()); err != nil {
			return err
		}
		if err := f.confirm(fmt.Sprintf("Remove the %d attempts of fan %s with their changes?", len(f.sessions), f.name), yes); err != nil {
			return err
		}
		return f.remove(cmd.Context(), 0)
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "no confirmation")
	return c
}

// remove removes all sessions with their worktrees, attempt kept last: a call that is interrupted can be repeated. The worktree of
// kept is removed only if it has no changes.
func (f *fan) remove(ctx context.Context, kept int) error {
	if i := slices.IndexFunc(f.sessions, func(s api.Session) bool { return tryOf(&s) == kept }); i >= 0 {
		last := f.sessions[i]
		f.sessions = append(slices.Delete(f.sessions, i, i+1), last)
	}
	f.removeUnused(ctx)
	for i := range f.sessions {
		s := &f.sessions[i]
		if t, ok := f.worktrees().Of(s); ok {
			if s.State == "running" {
				if _, err := f.c.Session(s.ID).Kill(ctx, api.Kill{}); err != nil && !isNotFound(err) {
					return err
				}
			}
			if err := t.Remove(ctx, tryOf(s) != kept); err != nil {
				return err
			}
		}
		if err := f.c.Session(s.ID).Remove(ctx, true); err != nil && !isNotFound(err) {
			return err
		}
	}
	b, err := f.connect()
	if err == nil {
		_, err = viewsource.RemoveLayout(b.dirs, f.name)
	}
	return err
}

// removeUnused removes the worktree of the next attempt, which an interrupted start may have left, unless it has changes or
// commits.
func (f *fan) removeUnused(ctx context.Context) {
	last := slices.MaxFunc(f.sessions, func(x, y api.Session) int { return cmp.Compare(tryOf(&x), tryOf(&y)) })
	t, ok := f.worktrees().Of(&last)
	if !ok {
		return
	}
	t.Branch = fmt.Sprintf("%s-%d", f.name, tryOf(&last)+1)
	t.Dir = filepath.Join(filepath.Dir(t.Dir), t.Branch)
	if st, err := t.Status(ctx); err == nil && !st.Missing && st.Branch == t.Branch && st.Ahead == 0 {
		_ = t.Remove(ctx, false) // it stays with changes
	}
}

// confirm prompts the user on the terminal. It returns an error without a terminal, unless yes is set.
func (f *fan) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !f.isInteractive() {
		return exit.Usagef("no terminal to confirm on: use --yes")
	}
	if !termio.Confirm(f.stdin, f.Stderr, question) {
		return exit.With(api.ExitFailure, errors.New("not changed"))
	}
	return nil
}
