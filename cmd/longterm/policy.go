package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/policycheck"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

func policyVerb(a *app, c *cobra.Command) {
	c.Long = "Check, show, test and trust the rules that decide which commands may run. Rules are in policy.toml beside the\n" +
		"configuration, and in .longterm/policy.toml of projects (`longterm help policy`). These verbs need no daemon. Without\n" +
		"a subcommand the rules in effect are printed, as by `longterm policy show`.\n\n" +
		"  longterm policy check 'git push --force'"
	c.RunE = func(*cobra.Command, []string) error {
		return a.showPolicy(rulebook.Subject{Agent: os.Getenv(identity.Env)})
	}
	c.AddCommand(policyCheck(a), policyShow(a), policyTest(a), policyTrust(a), policyUntrust(a), policyPath(a))
}

// rules returns the rules in effect for this process.
func (a *app) rules(o rulebook.Options) (*rulebook.Book, paths.Dirs, error) {
	dirs, err := paths.Default()
	if err != nil {
		return nil, dirs, err
	}
	if o.File == "" {
		o.File, o.LastGoodCopy = dirs.PolicyFile(), dirs.PolicyKept()
	}
	o.Trust, o.Root = dirs.PolicyTrust(), dirs.Root()
	conf := a.settings()
	o.UserPreset, o.AgentPreset = policy.Preset(conf.Policy.Default), policy.Preset(conf.Policy.Agents)
	o.Home, _ = os.UserHomeDir() // on failure the home directory is unknown
	return rulebook.Open(o), dirs, nil
}

func policyCheck(a *app) *cobra.Command {
	var q policycheck.Query
	var batch bool
	c := a.JSONFlag(&cobra.Command{
		Use: "check LINE", Short: "Check a command line against the rules", Args: cobra.MaximumNArgs(1),
		Long: "Check a command line against the rules without running it, and print each command in it with its verdict.\n" +
			"The exit status is 0 for allow, 10 for ask, 11 for deny.\n\n" +
			"  longterm policy check 'rm -rf build && make'\n\n" +
			"Without --preset, --allow and --deny the rules in effect for the directory apply, and the file and line of the\n" +
			"deciding rule are printed. The caller is the agent of --agent, else of LONGTERM_AGENT, else a user. With --allow\n" +
			"and no preset that allows more, only the named commands are allowed.\n\n" +
			"With --batch the lines are JSON objects on standard input: {\"id\", \"cmd\", \"preset\", \"allow\", \"deny\",\n" +
			"\"shell\", \"cwd\"}, of which only cmd is required. Each answer is a line {\"id\", \"verdict\", …}; an invalid\n" +
			"line gets the verdict ask and an \"error\". The exit status is then 0.",
	})
	f := c.Flags()
	f.StringVar(&q.Preset, "preset", "", "only this `PRESET`, without rules: off, hard, build-draft, build, readonly, listed")
	f.StringArrayVar(&q.Allow, "allow", nil, "`PREFIX` of allowed commands, such as 'git log'; repeatable")
	f.StringArrayVar(&q.Deny, "deny", nil, "`PREFIX` of denied commands, such as 'git push --force'; repeatable")
	f.StringVar(&q.Shell, "shell", "", "`SHELL` of the line: bash, zsh, sh, mksh, fish, powershell, cmd")
	f.StringVar(&q.Cwd, "cwd", "", "working `DIR` of the line (default: this one)")
	f.StringVar(&q.Agent, "agent", "", "`LABEL` of the calling agent (default: $LONGTERM_AGENT; empty: a user)")
	f.StringVar(&q.Policy, "policy", "", "`NAME` as in --policy of run and exec: a preset, or a section of your file")
	f.BoolVar(&batch, "batch", false, "lines of JSON from standard input")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if batch && q.Policy != "" {
			return exit.Usagef("--policy excludes --batch: each line has its own preset")
		}
		if batch != (len(args) == 0) {
			return exit.Usagef("one LINE (quoted) required, or --batch with lines on standard input")
		}
		book, _, missing := a.rules(rulebook.Options{}) // lines with their own rules need no rulebook
		cwd, _ := os.Getwd()                            // fails if the directory was removed; it is unknown then
		home, _ := os.UserHomeDir()
		judge := policycheck.Checker{Book: book, Missing: missing, Cwd: cwd, Home: home, MayBeRemote: batch}
		if batch {
			return judge.Batch(a.stdin, a.Stdout)
		}
		q.Cmd = args[0]
		asAgent(c, &q.Agent)
		absent, err := absDir(&q.Cwd)
		if err != nil {
			return err
		}
		if q.Policy != "" && (q.Preset != "" || len(q.Allow)+len(q.Deny) > 0) {
			return exit.Usagef("--policy adds to the rules in effect; --preset, --allow and --deny replace them: use one or the other")
		}
		answer, err := judge.Answer(q)
		switch {
		case err != nil && err == missing:
			return err
		case err != nil:
			return exit.Usage(err)
		}
		answer.Warnings = append(answer.Warnings, absent...)
		for _, w := range answer.Warnings {
			fmt.Fprintf(a.Stderr, "longterm: %s\n", w)
		}
		if err := a.Print(answer, func(w io.Writer) { answer.Write(w) }); err != nil || answer.ExitStatus() == 0 {
			return err
		}
		return exit.Silent(answer.ExitStatus())
	}
	return c
}

// asAgent sets agent from the environment unless --agent is given.
func asAgent(c *cobra.Command, agent *string) {
	if !c.Flags().Changed("agent") {
		*agent = os.Getenv(identity.Env)
	}
}

// absDir makes *dir absolute. It returns a warning if dir does not exist: the line may be for another machine, but
// after a typing error the project's rules would silently not apply.
func absDir(dir *string) (absent []string, err error) {
	if *dir == "" {
		return nil, nil
	}
	if *dir, err = filepath.Abs(*dir); err != nil {
		return nil, err
	}
	if st, err := os.Stat(*dir); err != nil || !st.IsDir() {
		absent = []string{fmt.Sprintf("--cwd %s: directory not found; no project rules apply", *dir)}
	}
	return absent, nil
}

func policyShow(a *app) *cobra.Command {
	var s rulebook.Subject
	c := a.JSONFlag(&cobra.Command{
		Use: "show", Short: "Print the rules in effect and their origin", Args: cobra.NoArgs,
		Long: "Print the rules in effect for a directory: the preset, the files, and each rule with its file and line.\n" +
			"Idle rules have no effect: they are expired, or allow commands in a project that is not trusted.\n\n" +
			"  longterm policy show --agent reviewer",
	})
	c.RunE = func(*cobra.Command, []string) error {
		asAgent(c, &s.Agent)
		return a.showPolicy(s)
	}
	f := c.Flags()
	f.StringVar(&s.Cwd, "cwd", "", "`DIR` whose rules to print (default: this one)")
	f.StringVar(&s.Agent, "agent", "", "`LABEL` of the calling agent (default: $LONGTERM_AGENT; empty: a user)")
	f.StringVar(&s.Session, "session", "", "`NAME` of the session")
	f.StringToStringVar(&s.Labels, "label", nil, "label `KEY=VALUE` of the session")
	f.StringVar(&s.Policy, "policy", "", "`NAME` as in --policy of run and exec")
	return c
}

func (a *app) showPolicy(s rulebook.Subject) error {
	book, _, err := a.rules(rulebook.Options{})
	if err != nil {
		return err
	}
	if s.Policy != "" {
		if err := book.CheckPolicyName(s.Policy); err != nil {
			return exit.Usage(err)
		}
	}
	absent, err := absDir(&s.Cwd)
	if err != nil {
		return err
	}
	if s.Cwd == "" {
		s.Cwd, _ = os.Getwd() // fails if the directory was removed
	}
	_, src := book.For(s)
	for _, w := range append(src.Warnings(), absent...) {
		fmt.Fprintf(a.Stderr, "longterm: %s\n", w)
	}
	shown := policycheck.Show(src)
	return a.Print(shown, shown.Write)
}

func policyPath(a *app) *cobra.Command {
	return a.Path(&cobra.Command{Use: "path", Short: "Print the path of the rule file", Args: cobra.NoArgs}, func() (string, error) {
		dirs, err := paths.Default()
		return dirs.PolicyFile(), err
	})
}

func policyTest(a *app) *cobra.Command {
	var past bool
	var agent string
	c := a.JSONFlag(&cobra.Command{
		Use: "test FILE", Short: "Check a rule file and its effect on the history", Args: cobra.ExactArgs(1),
		Long: "Check a rule file: mistakes, failing examples, and rules that never decide. The exit status is 1 if it has\n" +
			"mistakes.\n\n" +
			"  longterm policy test new-policy.toml --history\n\n" +
			"With --history every command of the history is checked twice: against the rules in effect, and with FILE in\n" +
			"place of policy.toml. The changes are printed with counts: newly asked, denied or allowed. Executed programs\n" +
			"and rejected lines of the audit log are included. A FILE named .longterm/policy.toml is checked as a trusted\n" +
			"project's.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.testPolicy(cmd.Context(), args[0], past, agent)
		},
	})
	c.Flags().BoolVar(&past, "history", false, "check of all commands of the history too")
	c.Flags().StringVar(&agent, "agent", "", "with --history: `LABEL` of the agent to assume as the caller of all commands")
	return c
}

// policyReport is the output of `policy test --json`.
type policyReport struct {
	File     string                 `json:"file"`
	Rules    int                    `json:"rules"`
	Problems []tomldoc.Problem      `json:"problems"` // mistakes: the file is rejected
	Odd      []tomldoc.Problem      `json:"odd"`      // rules that never decide
	History  *policycheck.Rehearsal `json:"history,omitempty"`
}

func (a *app) testPolicy(ctx context.Context, path string, past bool, agent string) error {
	file, project, err := rulebook.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		mine, _ := paths.Default() // on failure the path is empty
		return exit.Usagef("rule file not found: %s; yours is %s (`longterm policy path`), a project's is "+
			".longterm/policy.toml; see `longterm help policy` for the format", path, mine.PolicyFile())
	}
	report := policyReport{File: path, Problems: tomldoc.ProblemsOf(err), Odd: []tomldoc.Problem{}}
	if err != nil {
		if err := a.Print(report, func(w io.Writer) { fmt.Fprintln(w, err) }); err != nil {
			return err
		}
		return exit.Silent(api.ExitFailure)
	}
	report.Problems, report.Rules = []tomldoc.Problem{}, file.Rules()
	conf := a.settings()
	report.Odd = append(report.Odd, rulebook.Lint(file, project, time.Now(), policy.Preset(conf.Policy.Default), policy.Preset(conf.Policy.Agents))...)
	if past {
		if report.History, err = a.rehearse(ctx, file, project, agent); err != nil {
			return err
		}
	}
	return a.Print(report, func(w io.Writer) {
		for _, p := range report.Odd {
			fmt.Fprintln(w, p.Error())
		}
		if report.History != nil {
			report.History.Write(w)
		}
		fmt.Fprintf(w, "%s: valid (%s)\n", path, output.CountNoun(report.Rules, "rule", "rules"))
	})
}

// maxRehearsed limits the records of the audit log that are checked, newest first.
const maxRehearsed = 200_000

// rehearse checks the history against the rules in effect, and against the same rules with file in place of the user's
// or project's file.
func (a *app) rehearse(ctx context.Context, file *rulebook.File, project bool, agent string) (*policycheck.Rehearsal, error) {
	now, dirs, err := a.rules(rulebook.Options{})
	if err != nil {
		return nil, err
	}
	o := rulebook.Options{File: file.Path}
	if project {
		o = rulebook.Options{AssumeTrusted: file.Path}
	}
	then, _, err := a.rules(o)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // on failure the home directory is unknown
	stage := policycheck.Rehearser{Now: now, Tested: then, File: file, Home: home, Agent: agent}
	if stage.Trail, err = audit.Read(dirs.Audit(), audit.Query{Limit: maxRehearsed}); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	stage.OnProgress = func(done int) { fmt.Fprintf(a.Stderr, "longterm: %d commands checked\n", done) }
	return stage.Rehearse(ctx, store.History(ctx, dirs.Database()))
}

func policyTrust(a *app) *cobra.Command {
	var yes, list bool
	c := a.JSONFlag(&cobra.Command{
		Use: "trust [FILE]", Short: "Trust a project's rule file until it changes", Args: cobra.MaximumNArgs(1),
		Long: "Show a project's rule file, .longterm/policy.toml, and ask whether to trust it. Its rules that allow commands\n" +
			"take effect only while the file is trusted and unchanged; rules that restrict always apply. FILE may be the\n" +
			"project's directory (default: this one).\n\n" +
			"  longterm policy trust ~/src/shop",
	})
	f := c.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "no confirmation")
	f.BoolVar(&list, "list", false, "list of trusted files and their state")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		dirs, err := paths.Default()
		if err != nil {
			return err
		}
		if list {
			all, err := rulebook.ListTrusted(dirs.PolicyTrust())
			if err != nil {
				return err
			}
			return a.Print(all, func(w io.Writer) {
				for _, t := range all {
					fmt.Fprintf(w, "%-10s  %s  %.12s  %s\n", t.State, t.Time.Local().Format(time.DateTime), t.Hash, output.Printable(t.Path))
				}
			})
		}
		return a.trustPolicy(cmd.Context(), dirs, append(args, ".")[0], yes)
	}
	return c
}

func (a *app) trustPolicy(ctx context.Context, dirs paths.Dirs, path string, yes bool) error {
	if err := a.requireUser(ctx, "trusting files of rules"); err != nil {
		return err
	}
	c, err := rulebook.ReadCandidate(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("trust: %w; use a project with %s", err, ".longterm/policy.toml")
	case err != nil:
		return err
	}
	if err := a.askTrust(c, "Trust this file until it changes? Commands that it allows then need no approval.", "--yes", yes); err != nil {
		return err
	}
	if err := rulebook.Trust(dirs.PolicyTrust(), c, fmt.Sprintf("uid %d", os.Getuid()), time.Now()); err != nil {
		return err
	}
	t := rulebook.Trusted{Path: c.Path, Hash: c.Hash, State: "trusted"}
	return a.Print(t, func(w io.Writer) {
		fmt.Fprintf(w, "%s: trusted until it changes (%.12s)\n", output.Printable(c.Path), c.Hash)
	})
}

// fewLines is a number of lines that every terminal shows at once.
const fewLines = 15

// askTrust shows a file and asks whether to trust it. flag is the flag that confirms without a question.
func (a *app) askTrust(c *rulebook.Candidate, question, flag string, yes bool) error {
	if !yes && (a.JSON || !term.IsTerminal(int(a.stdin.Fd()))) {
		return exit.Usagef("no terminal to confirm on: review %s, then use %s", c.Path, flag)
	}
	if !a.JSON {
		fmt.Fprintf(a.Stdout, "%s\n\n", output.Printable(c.Path))
		lines := 0
		for line := range strings.Lines(c.Text) {
			lines++
			fmt.Fprintf(a.Stdout, "  %s\n", output.Printable(plaintext.Literal(strings.TrimRight(line, "\r\n"))))
		}
		if lines > fewLines {
			fmt.Fprintf(a.Stdout, "\nThe file has %d lines: scroll up to the first one.\n", lines)
		}
	}
	if yes {
		return nil
	}
	if !termio.Confirm(a.stdin, a.Stdout, "\n"+question) {
		return exit.With(api.ExitFailure, errors.New("not changed"))
	}
	return nil
}

func policyUntrust(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "untrust [FILE]", Short: "Stop trusting a project's rule file", Args: cobra.MaximumNArgs(1),
		Long: "Stop trusting a project's rule file: its rules that allow commands no longer apply. The file may be missing;\n" +
			"`longterm policy trust --list` shows the names.\n\n" +
			"  longterm policy untrust ~/src/shop",
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			path := append(args, ".")[0]
			was, err := rulebook.Untrust(dirs.PolicyTrust(), path)
			if err == nil && !was {
				err = fmt.Errorf("%s: not trusted; see `longterm policy trust --list`", path)
			}
			return err
		},
	})
}
