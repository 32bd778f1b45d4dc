//go:build unix

package main

import (
	"bufio"
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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/expand"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

func expandVerb(a *app, c *cobra.Command) {
	var yes bool
	var timeout time.Duration
	var limit *int64 // nil: the daemon knows whether the caller is an agent, and chooses
	c.Long = "Print a template, FILE or - for standard input, with what commands print in the places of !{COMMAND}, and the\n" +
		"arguments for {{args}}: as they are in the text, quoted as words within a command. Braces within a command have\n" +
		"to be balanced. A command that fails leaves what it printed, and a note.\n\n" +
		"Commands are judged as they will be run, with their arguments. When one of them is refused, none is run. What\n" +
		"the rules ask about is asked once, for all of them, at the terminal; --yes allows it."
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if timeout < 0 {
			return exit.Usagef("--timeout must not be negative")
		}
		if cmd.Flags().Changed("timeout") {
			limit = request.WholeMS(timeout)
		}
		if yes {
			if err := a.personOnly(cmd.Context(), "allowing what would be asked about"); err != nil {
				return err
			}
		}
		return a.expand(cmd.Context(), args[0], args[1:], yes, limit)
	}
	f := c.Flags()
	f.SetInterspersed(false) // what follows the file belongs to the template
	f.BoolVarP(&yes, "yes", "y", false, "do not ask: what would be asked about is allowed; what is denied stays denied")
	f.DurationVar(&timeout, "timeout", 0, "end a command after this time; 0: no limit (default: no limit; for agents exec.timeout of the configuration, 1m)")
}

// expanded is what expand --json prints.
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

// judgeAll judges lines under the rules in effect here: those that have to be asked about, or an error with those that
// are refused.
func (a *app) judgeAll(lines []string) (asked []string, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	book, _, missing := a.rules(rulebook.Options{})
	if missing != nil {
		return nil, missing
	}
	cwd, _ := os.Getwd() // it may be gone: then it is not known
	home, _ := os.UserHomeDir()
	judge := policycheck.Judge{Book: book, Cwd: cwd, Home: home}
	var refused []string
	hint := ""
	for _, line := range lines {
		v, err := judge.Answer(policycheck.Query{Cmd: line, Agent: cmp.Or(a.agent, os.Getenv(actor.Env))})
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
		return nil, api.Errorf(api.CodeDenied, "the rules refuse a command of the template, and none was run: %s", strings.Join(refused, "; ")).
			WithHint("%s", cmp.Or(hint, "`longterm policy check LINE` says which rule it is"))
	}
	return asked, nil
}

// askForAll asks the person at the terminal about all lines at once.
func (a *app) askForAll(file string, asked []string) error {
	if a.JSON || os.Getenv(actor.Env) != "" || file == "-" || !term.IsTerminal(int(a.stdin.Fd())) {
		return api.Errorf(api.CodeNeedsApproval, "a person has to allow commands of the template, and none was run: %s", strings.Join(asked, "; ")).
			WithHint("a person gives --yes, or allows them by a rule")
	}
	for _, line := range asked {
		fmt.Fprintf(a.Stderr, "  %s\n", output.Printable(line))
	}
	fmt.Fprint(a.Stderr, "Run this? [y/N] ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // without an end it is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return exit.With(api.ExitFailure, errors.New("nothing was run"))
	}
	return nil
}

// runForTemplate runs a command here, and waits for its end.
func (a *app) runForTemplate(ctx context.Context, line string, yes bool, limit *int64) (expand.Output, error) {
	o := expand.Output{Command: line}
	b, err := a.connect()
	if err != nil {
		return o, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return o, fmt.Errorf("working directory: %w; start it in one that exists", err)
	}
	run := api.Run{Call: api.Call{TimeoutMS: limit, OnTimeout: "kill", OnInput: "return"}}
	run.Line, run.Cwd, run.Env, run.Pipe = line, cwd, os.Environ(), true
	run.Asking = api.Asking{Yes: yes, OnApproval: "return"}
	r, err := b.client.Run(ctx, run)
	if err != nil {
		return o, exit.Judged(err)
	}
	o.Text, o.Exit, o.Signal = r.Output, r.ExitCode, r.Signal
	switch r.State {
	case "exited", "signalled":
	case "denied", "needs_approval":
		return o, exit.NotAllowed(&r)
	case "killed":
		o.Ended = "was ended: " + cmp.Or(r.Message, "it took too long")
	default:
		o.Ended = "has not ended: " + cmp.Or(r.Message, r.State)
	}
	return o, nil
}
