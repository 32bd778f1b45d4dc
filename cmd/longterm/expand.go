//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/policycheck"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/expand"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

func expandVerb(a *app, c *cobra.Command) {
	var yes bool
	var timeout time.Duration
	var limit *int64 // nil: the daemon chooses, because it knows whether the caller is an agent
	c.Long = "Print a template (FILE, or - for standard input). Each !{COMMAND} is replaced by the command's output, and\n" +
		"{{args}} by the arguments: unchanged in text, quoted as words inside a command. Braces inside a command must be\n" +
		"balanced. A failed command leaves its output and a note.\n\n" +
		"  longterm expand review.md main\n\n" +
		"The policy checks every command with its arguments before any runs. If it denies one, none runs. Commands that\n" +
		"need approval are listed and confirmed once at the terminal; --yes allows them."
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if timeout < 0 {
			return exit.Usagef("--timeout must not be negative")
		}
		if cmd.Flags().Changed("timeout") {
			limit = request.WholeMS(timeout)
		}
		if yes {
			if err := a.requireUser(cmd.Context(), "allowing commands that need approval"); err != nil {
				return err
			}
		}
		return a.expand(cmd.Context(), args[0], args[1:], yes, limit)
	}
	f := c.Flags()
	f.SetInterspersed(false) // the following arguments belong to the template
	f.BoolVarP(&yes, "yes", "y", false, "no confirmation for commands that need approval; denied ones stay denied")
	f.DurationVar(&timeout, "timeout", 0, "time limit per command; 0: no limit (default: no limit; for agents exec.timeout, 1m)")
}

// expanded is the output of expand --json.
type expanded struct {
	Text     string          `json:"text"`
	Commands []expand.Output `json:"commands"`
}

func (a *app) expand(ctx context.Context, file string, args []string, yes bool, limit *int64) error {
	src, err := readTemplate(a.stdin, file)
	if err != nil {
		return err
	}
	t, err := expand.Parse(src)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%s: %v", file, err)
	}
	lines := t.Commands(args)
	asked, err := a.judgeAll(lines)
	if err != nil {
		return err
	}
	if len(asked) > 0 && !yes {
		if err := a.askForAll(file, asked); err != nil {
			return err
		}
		yes = true
	}
	x := expanded{Commands: []expand.Output{}}
	for _, line := range lines {
		o, err := a.runForTemplate(ctx, line, yes, limit)
		if err != nil {
			return err
		}
		x.Commands = append(x.Commands, o)
	}
	x.Text = t.Text(args, x.Commands)
	return a.Print(x, func(w io.Writer) { _, _ = io.WriteString(w, x.Text) })
}

func readTemplate(stdin io.Reader, file string) (string, error) {
	if file == "-" {
		b, err := io.ReadAll(io.LimitReader(stdin, 2<<20))
		return string(b), err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", exit.Usage(err)
	}
	return string(b), nil
}

// judgeAll checks lines against the rules in effect. It returns the lines that need approval, or an error if a line is
// denied.
func (a *app) judgeAll(lines []string) (asked []string, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	book, _, missing := a.rules(rulebook.Options{})
	if missing != nil {
		return nil, missing
	}
	cwd, _ := os.Getwd() // fails if the directory was removed; it is unknown then
	home, _ := os.UserHomeDir()
	judge := policycheck.Checker{Book: book, Cwd: cwd, Home: home}
	var refused []string
	hint := ""
	for _, line := range lines {
		v, err := judge.Answer(policycheck.Query{Cmd: line, Agent: cmp.Or(a.agent, os.Getenv(identity.Env))})
		if err != nil {
			return nil, err
		}
		switch v.Verdict {
		case "allow":
		case "ask":
			asked = append(asked, line)
		default:
			refused = append(refused, fmt.Sprintf("%s (%s)", line, cmp.Or(v.Why, v.Rule)))
			hint = cmp.Or(hint, v.Instead)
		}
	}
	if len(refused) > 0 {
		return nil, api.Errorf(api.CodeDenied, "template denied by the rules, no command ran: %s", strings.Join(refused, "; ")).
			WithHint("%s", cmp.Or(hint, "see `longterm policy check LINE`"))
	}
	return asked, nil
}

// askForAll asks the user at the terminal to confirm all lines at once.
func (a *app) askForAll(file string, asked []string) error {
	if a.JSON || os.Getenv(identity.Env) != "" || file == "-" || !term.IsTerminal(int(a.stdin.Fd())) {
		return api.Errorf(api.CodeNeedsApproval, "approval required for commands of the template, no command ran: %s", strings.Join(asked, "; ")).
			WithHint("ask the user to allow them: with --yes or by a rule")
	}
	for _, line := range asked {
		fmt.Fprintf(a.Stderr, "  %s\n", output.Printable(line))
	}
	if !termio.Confirm(a.stdin, a.Stderr, "Run these commands?") {
		return exit.With(api.ExitFailure, errors.New("canceled: no command ran"))
	}
	return nil
}

// runForTemplate runs a command on this host and waits for its end.
func (a *app) runForTemplate(ctx context.Context, line string, yes bool, limit *int64) (expand.Output, error) {
	o := expand.Output{Command: line}
	b, err := a.connect()
	if err != nil {
		return o, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return o, fmt.Errorf("working directory: %w; change to an existing directory", err)
	}
	run := api.Run{Call: api.Call{TimeoutMS: limit, OnTimeout: "kill", OnInput: "return"}}
	run.Line, run.Cwd, run.Env, run.Pipe = line, cwd, os.Environ(), true
	run.ApprovalOptions = api.ApprovalOptions{Yes: yes, OnApproval: "return"}
	r, err := b.client.Run(ctx, run)
	if err != nil {
		return o, exit.FromPolicy(err)
	}
	o.Text, o.Exit, o.Signal = r.Output, r.ExitCode, r.Signal
	switch r.State {
	case "exited", "signalled":
	case "denied", "needs_approval":
		return o, exit.NotAllowed(&r)
	case "killed":
		o.Ended = "was ended: " + cmp.Or(r.Message, "timeout")
	default:
		o.Ended = "has not ended: " + cmp.Or(r.Message, r.State)
	}
	return o, nil
}
