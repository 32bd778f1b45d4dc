package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/policycheck"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

func policyVerb(a *app, c *cobra.Command) {
	c.Long = "Say what may run. Rules stand in policy.toml beside the configuration, and in .longterm/policy.toml of\n" +
		"projects; docs/policy.md describes them. None of these verbs needs the daemon."
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	c.AddCommand(policyCheck(a))
}

// rules are the rules in effect, as this process sees them.
func (a *app) rules() (*rulebook.Book, error) {
	dirs, err := paths.Default()
	if err != nil {
		return nil, err
	}
	return rulebook.Open(rulebook.Options{File: dirs.PolicyFile(), Kept: dirs.PolicyKept(), Trust: dirs.PolicyTrust()}), nil
}

func policyCheck(a *app) *cobra.Command {
	var q policycheck.Query
	var batch bool
	c := a.JSONFlag(&cobra.Command{
		Use: "check LINE", Short: "Judge a command line, without running it", Args: cobra.MaximumNArgs(1),
		Long: "Judge a command line, without running it: every command that it would run, each with its verdict.\n" +
			"The exit status is 0 for allow, 10 for ask, 11 for deny.\n\n" +
			"Without --preset, --allow and --deny the rules in effect for the directory are asked, and the file and\n" +
			"line of the rule that decides are printed. With --allow, and no preset that allows more, nothing else\n" +
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
	f.StringVar(&q.Agent, "agent", "", "judge as for the agent with this label")
	f.BoolVar(&batch, "batch", false, "judge lines of JSON from standard input")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if batch != (len(args) == 0) {
			return exit.Usagef("give one LINE, quoted, or --batch and lines on standard input")
		}
		book, err := a.rules()
		if err != nil {
			return err
		}
		cwd, _ := os.Getwd() // it may be gone: then it is not known
		home, _ := os.UserHomeDir()
		judge := policycheck.Judge{Book: book, Cwd: cwd, Home: home, Elsewhere: batch}
		if batch {
			return judge.Batch(a.stdin, a.Stdout)
		}
		q.Cmd = args[0]
		answer, err := judge.Answer(q)
		if err != nil {
			return exit.Usage(err)
		}
		for _, w := range answer.Warnings {
			a.Warn(errors.New(w))
		}
		if err := a.Print(answer, func(w io.Writer) { answer.Write(w) }); err != nil || answer.ExitStatus() == 0 {
			return err
		}
		return exit.Silent(answer.ExitStatus())
	}
	return c
}
