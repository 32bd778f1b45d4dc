package main

import (
	"bufio"
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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

func policyVerb(a *app, c *cobra.Command) {
	c.Long = "Say what may run. Rules stand in policy.toml beside the configuration, and in .longterm/policy.toml of\n" +
		"projects; docs/policy.md describes them. None of these verbs needs the daemon. Without a verb it prints the\n" +
		"rules in effect, as `longterm policy show` does."
	c.RunE = func(*cobra.Command, []string) error {
		return a.showPolicy(rulebook.Subject{Agent: os.Getenv(actor.Env)})
	}
	c.AddCommand(policyCheck(a), policyShow(a), policyTest(a), policyTrust(a), policyUntrust(a), policyPath(a))
}

// rules are the rules in effect, as this process sees them.
func (a *app) rules(o rulebook.Options) (*rulebook.Book, paths.Dirs, error) {
	dirs, err := paths.Default()
	if err != nil {
		return nil, dirs, err
	}
	if o.File == "" {
		o.File, o.Kept = dirs.PolicyFile(), dirs.PolicyKept()
	}
	o.Trust, o.Root = dirs.PolicyTrust(), dirs.Root()
	conf := a.settings()
	o.Person, o.Agents = policy.Preset(conf.Policy.Default), policy.Preset(conf.Policy.Agents)
	o.Home, _ = os.UserHomeDir() // else it is not known
	return rulebook.Open(o), dirs, nil
}

func policyCheck(a *app) *cobra.Command {
	var q policycheck.Query
	var batch bool
	c := a.JSONFlag(&cobra.Command{
		Use: "check LINE", Short: "Judge a command line, without running it", Args: cobra.MaximumNArgs(1),
		Long: "Judge a command line, without running it: every command that it would run, each with its verdict.\n" +
			"The exit status is 0 for allow, 10 for ask, 11 for deny.\n\n" +
			"Without --preset, --allow and --deny the rules in effect for the directory are asked, and the file and\n" +
			"line of the rule that decides are printed. Who asks is the agent of --agent, else that of LONGTERM_AGENT, else a\n" +
			"person. With --allow, and no preset that allows more, nothing else\n" +
			"is allowed than what it names.\n\n" +
			"With --batch lines are read from standard input, as JSON objects: {\"id\", \"cmd\", \"preset\", \"allow\", \"deny\",\n" +
			"\"shell\", \"cwd\"}, of which only cmd is needed. Each is answered in a line {\"id\", \"verdict\", …}; one that is\n" +
			"wrong with the verdict ask and an \"error\". The exit status is then 0.",
	})
	f := c.Flags()
	f.StringVar(&q.Preset, "preset", "", "judge under a preset alone: off, hard, build, readonly, listed")
	f.StringArrayVar(&q.Allow, "allow", nil, "allow commands that begin so, as in 'git log'; may be repeated")
	f.StringArrayVar(&q.Deny, "deny", nil, "deny commands that begin so, as in 'git push --force'; may be repeated")
	f.StringVar(&q.Shell, "shell", "", "shell that would run it: bash, zsh, sh, mksh, fish, powershell, cmd")
	f.StringVar(&q.Cwd, "cwd", "", "directory in which it would run (default: this one)")
	f.StringVar(&q.Agent, "agent", "", "judge as for the agent with this label (default: LONGTERM_AGENT; empty: a person)")
	f.StringVar(&q.Policy, "policy", "", "judge as with --policy NAME of run and exec: a preset, or a section of your file")
	f.BoolVar(&batch, "batch", false, "judge lines of JSON from standard input")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if batch && q.Policy != "" {
			return exit.Usagef("--policy is for one LINE: lines of --batch bring their own preset")
		}
		if batch != (len(args) == 0) {
			return exit.Usagef("give one LINE, quoted, or --batch and lines on standard input")
		}
		book, _, missing := a.rules(rulebook.Options{}) // lines that bring their own need none
		cwd, _ := os.Getwd()                            // it may be gone: then it is not known
		home, _ := os.UserHomeDir()
		judge := policycheck.Judge{Book: book, Missing: missing, Cwd: cwd, Home: home, Elsewhere: batch}
		if batch {
			return judge.Batch(a.stdin, a.Stdout)
		}
		q.Cmd = args[0]
		asAgent(c, &q.Agent)
		absent, err := placeOf(&q.Cwd)
		if err != nil {
			return err
		}
		if q.Policy != "" && (q.Preset != "" || len(q.Allow)+len(q.Deny) > 0) {
			return exit.Usagef("--policy adds to the rules in effect, and --preset, --allow and --deny take their place: give one of them")
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

// asAgent has the rules asked for who asks here, where --agent does not say for whom.
func asAgent(c *cobra.Command, agent *string) {
	if !c.Flags().Changed("agent") {
		*agent = os.Getenv(actor.Env)
	}
}

// placeOf makes a directory that was given absolute. One that is not there is no mistake: lines of another machine are judged, too;
// but who mistyped it would take what is judged for what counts in his project.
func placeOf(dir *string) (absent []string, err error) {
	if *dir == "" {
		return nil, nil
	}
	if *dir, err = filepath.Abs(*dir); err != nil {
		return nil, err
	}
	if st, err := os.Stat(*dir); err != nil || !st.IsDir() {
		absent = []string{fmt.Sprintf("--cwd %s: there is no such directory here, so no project's rules count; the line is judged as if it were there", *dir)}
	}
	return absent, nil
}

func policyShow(a *app) *cobra.Command {
	var s rulebook.Subject
	c := a.JSONFlag(&cobra.Command{
		Use: "show", Short: "Print the rules in effect, and where they come from", Args: cobra.NoArgs,
		Long: "Print the rules in effect for a directory: the preset, the files, and each rule with its file and line.\n" +
			"Idle rules stand in a file and do not count: they expired, or allow in a project that is not trusted.",
	})
	c.RunE = func(*cobra.Command, []string) error {
		asAgent(c, &s.Agent)
		return a.showPolicy(s)
	}
	f := c.Flags()
	f.StringVar(&s.Cwd, "cwd", "", "for this directory (default: this one)")
	f.StringVar(&s.Agent, "agent", "", "as for the agent with this label (default: LONGTERM_AGENT; empty: a person)")
	f.StringVar(&s.Session, "session", "", "as for a session of this name")
	f.StringToStringVar(&s.Labels, "label", nil, "as for a session with this label (KEY=VALUE)")
	f.StringVar(&s.Policy, "policy", "", "as with --policy NAME")
	return c
}

func (a *app) showPolicy(s rulebook.Subject) error {
	book, _, err := a.rules(rulebook.Options{})
	if err != nil {
		return err
	}
	if s.Policy != "" {
		if err := book.Known(s.Policy); err != nil {
			return exit.Usage(err)
		}
	}
	absent, err := placeOf(&s.Cwd)
	if err != nil {
		return err
	}
	if s.Cwd == "" {
		s.Cwd, _ = os.Getwd() // it may be gone
	}
	_, src := book.For(s)
	for _, w := range append(src.Warnings(), absent...) {
		fmt.Fprintf(a.Stderr, "longterm: %s\n", w)
	}
	shown := policycheck.Show(src)
	return a.Print(shown, shown.Write)
}

func policyPath(a *app) *cobra.Command {
	return a.Path(&cobra.Command{Use: "path", Short: "Print where the file of rules is, or would be", Args: cobra.NoArgs}, func() (string, error) {
		dirs, err := paths.Default()
		return dirs.PolicyFile(), err
	})
}

func policyTest(a *app) *cobra.Command {
	var past bool
	var agent string
	c := a.JSONFlag(&cobra.Command{
		Use: "test FILE", Short: "Say what is wrong with a file of rules, and what it would change", Args: cobra.ExactArgs(1),
		Long: "Say what is wrong with FILE: mistakes, examples that do not hold, rules that never decide anything. The\n" +
			"exit status is 1 when it has mistakes.\n\n" +
			"With --history every command that was ever run in a session is judged under the rules in effect and under\n" +
			"FILE in place of policy.toml; what would now be asked, denied or allowed is printed with counts. So are the\n" +
			"programs that sessions executed and the lines that were refused, of the audit trail. A FILE named\n" +
			".longterm/policy.toml is a project's: it is judged as if it were trusted.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.testPolicy(cmd.Context(), args[0], past, agent)
		},
	})
	c.Flags().BoolVar(&past, "history", false, "judge all commands of the history, too")
	c.Flags().StringVar(&agent, "agent", "", "with --history: judge all as if the agent with this label had run them")
	return c
}

// policyReport is what `policy test --json` prints.
type policyReport struct {
	File     string                 `json:"file"`
	Rules    int                    `json:"rules"`
	Problems []tomldoc.Problem      `json:"problems"` // mistakes: the file is not taken
	Odd      []tomldoc.Problem      `json:"odd"`      // rules that never decide
	History  *policycheck.Rehearsal `json:"history,omitempty"`
}

func (a *app) testPolicy(ctx context.Context, path string, past bool, agent string) error {
	file, project, err := rulebook.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		mine, _ := paths.Default() // else it is not named
		return exit.Usagef("no such file of rules: %s; name one that you want to try: `longterm policy path` prints where yours is (%s), a project's is "+
			".longterm/policy.toml; docs/policy.md says how one is written", path, mine.PolicyFile())
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
		fmt.Fprintf(w, "%s is in order: %s\n", path, output.HowMany(report.Rules, "rule", "rules"))
	})
}

// maxRehearsed bounds the records of the audit trail that are judged: the newest.
const maxRehearsed = 200_000

// rehearse judges the history under the rules in effect, and with a file in its place.
func (a *app) rehearse(ctx context.Context, file *rulebook.File, project bool, agent string) (*policycheck.Rehearsal, error) {
	now, dirs, err := a.rules(rulebook.Options{})
	if err != nil {
		return nil, err
	}
	o := rulebook.Options{File: file.Path}
	if project {
		o = rulebook.Options{Trying: file.Path}
	}
	then, _, err := a.rules(o)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir() // else it is not known
	stage := policycheck.Stage{Now: now, Then: then, File: file, Home: home, Agent: agent}
	if stage.Trail, err = audit.Read(dirs.Audit(), audit.Query{Limit: maxRehearsed}); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the audit trail: %w", err)
	}
	stage.Tell = func(done int) { fmt.Fprintf(a.Stderr, "longterm: %d commands judged\n", done) }
	return stage.Rehearse(ctx, store.History(ctx, dirs.Database()))
}

func policyTrust(a *app) *cobra.Command {
	var yes, list bool
	c := a.JSONFlag(&cobra.Command{
		Use: "trust [FILE]", Short: "Let a project's file of rules allow something, as long as it stays as it is", Args: cobra.MaximumNArgs(1),
		Long: "Show a project's file of rules, .longterm/policy.toml, and ask whether it is trusted. Then the rules that\n" +
			"allow something in it count, as long as the file stays exactly as it was shown. FILE may be the project's\n" +
			"directory; without FILE it is this one. What only makes things stricter counts without trust.",
	})
	f := c.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "do not ask")
	f.BoolVar(&list, "list", false, "list the files that are trusted, and what became of them")
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
	if err := a.personOnly(ctx, "trusting files of rules"); err != nil {
		return err
	}
	c, err := rulebook.ReadCandidate(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("trust: %w; give a project that has %s", err, ".longterm/policy.toml")
	case err != nil:
		return err
	}
	if err := a.askTrust(c, "Trust this file as it is? What it allows is then not asked about.", "--yes", yes); err != nil {
		return err
	}
	if err := rulebook.Trust(dirs.PolicyTrust(), c, fmt.Sprintf("uid %d", os.Getuid()), time.Now()); err != nil {
		return err
	}
	t := rulebook.Trusted{Path: c.Path, Hash: c.Hash, State: "trusted"}
	return a.Print(t, func(w io.Writer) {
		fmt.Fprintf(w, "%s is trusted as it is (%.12s)\n", output.Printable(c.Path), c.Hash)
	})
}

// fewLines are as many as every terminal shows at once.
const fewLines = 15

// askTrust shows a file and asks whether it is trusted; flag is what answers where nobody can be asked, or did.
func (a *app) askTrust(c *rulebook.Candidate, question, flag string, yes bool) error {
	if !yes && (a.JSON || !term.IsTerminal(int(a.stdin.Fd()))) {
		return exit.Usagef("nobody can be asked here: look at %s, then give %s", c.Path, flag)
	}
	if !a.JSON {
		fmt.Fprintf(a.Stdout, "%s\n\n", output.Printable(c.Path))
		lines := 0
		for line := range strings.Lines(c.Text) {
			lines++
			fmt.Fprintf(a.Stdout, "  %s\n", output.Printable(plaintext.Literal(strings.TrimRight(line, "\r\n"))))
		}
		if lines > fewLines {
			fmt.Fprintf(a.Stdout, "\nThese were %d lines: scroll up to the first one.\n", lines)
		}
	}
	if yes {
		return nil
	}
	fmt.Fprintf(a.Stdout, "\n%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // without an end it is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return exit.With(api.ExitFailure, errors.New("nothing was changed"))
	}
	return nil
}

func policyUntrust(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "untrust [FILE]", Short: "Trust a project's file of rules no more", Args: cobra.MaximumNArgs(1),
		Long: "Trust a project's file of rules no more; it only makes things stricter then. The file need not be there\n" +
			"any more: `longterm policy trust --list` has the names.",
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			path := append(args, ".")[0]
			was, err := rulebook.Untrust(dirs.PolicyTrust(), path)
			if err == nil && !was {
				err = fmt.Errorf("%s was not trusted; `longterm policy trust --list` has those that are", path)
			}
			return err
		},
	})
}
