// Package policycheck prints what the policy decides about lines: about one line, about many on standard input (Batch),
// and about everything that ever ran (Rehearse). It asks no user. Package policy decides, and package rulebook selects
// the rules in effect.
package policycheck

import (
	"fmt"
	"io"
	"strings"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Exit statuses of `longterm policy check`.
const (
	ExitAsk  = 10
	ExitDeny = 11
)

// Answer is the verdict on a line, as `policy check` prints it.
type Answer struct {
	Verdict  string    `json:"verdict"`
	Rule     string    `json:"rule"`
	Words    string    `json:"words"`
	Why      string    `json:"why"`
	Instead  string    `json:"instead"`
	Commands []Command `json:"commands"`
	Risk     string    `json:"risk,omitempty"` // the largest of all commands
	Preset   string    `json:"preset"`
	File     string    `json:"file,omitempty"` // file of the deciding rule or preset
	Line     int       `json:"line,omitempty"`
	Person   string    `json:"person,omitempty"`   // verdict for a line typed by a user, if it differs
	Warnings []string  `json:"warnings,omitempty"` // problems in rule files
}

// Command is one command of the line.
type Command struct {
	Argv    []string `json:"argv"`
	Verdict string   `json:"verdict"`
	Rule    string   `json:"rule,omitempty"`
	Why     string   `json:"why,omitempty"`
	Instead string   `json:"instead,omitempty"`
}

// AnswerOf returns a judgement in printable form.
func AnswerOf(j policy.Judgement, preset policy.Preset) Answer {
	a := Answer{
		Verdict: j.Verdict.String(), Rule: j.Rule, Words: j.Words, Why: j.Why, Instead: j.Instead,
		Commands: make([]Command, len(j.Commands)), Risk: string(j.Risk), Preset: string(preset),
	}
	for i, c := range j.Commands {
		argv := c.Argv
		if argv == nil {
			argv = []string{}
		}
		a.Commands[i] = Command{argv, c.Verdict.String(), c.Rule, c.Why, c.Instead}
	}
	return a
}

// Locate adds the position of the deciding rule or preset, the verdict for a user, and warnings about rule files.
func (a *Answer) Locate(j policy.Judgement, s *rulebook.Sources) {
	if e, ok := s.FindRule(j.Rule); ok {
		a.File, a.Line = e.File, e.Line
	} else if j.Verdict == policy.Ask && !strings.HasPrefix(j.Rule, "hard:") {
		a.File, a.Line = s.PresetAt()
	}
	if soft := s.WaivePresetApprovals(j); soft.Verdict != j.Verdict {
		a.Person = soft.Verdict.String()
	}
	a.Warnings = s.Warnings()
}

// ExitStatus returns the exit status for the verdict.
func (a *Answer) ExitStatus() int {
	switch a.Verdict {
	case "ask":
		return ExitAsk
	case "deny":
		return ExitDeny
	}
	return 0
}

// shownVerdict returns the stricter verdict of a command and of the command that it runs: sudo rm -rf / is
// denied like rm -rf /.
func (a *Answer) shownVerdict(c *Command) string {
	verdict := c.Verdict
	words := strings.Join(c.Argv, " ")
	for i := range a.Commands {
		inner := &a.Commands[i]
		stricter := inner.Verdict == policy.Deny.String() || inner.Verdict == policy.Ask.String() && verdict == policy.Allow.String()
		if stricter && len(inner.Argv) > 0 && strings.HasSuffix(words, " "+strings.Join(inner.Argv, " ")) {
			verdict = inner.Verdict
		}
	}
	return verdict
}

// reason prints why a command is not allowed, unless the line's reason is the same.
func (a *Answer) reason(w io.Writer, c *Command) {
	if c.Why == "" || c.Rule == a.Rule && c.Why == a.Why {
		return
	}
	fmt.Fprintf(w, "         %s (%s)\n", literal(output.Shorten(c.Why, 300)), literal(c.Rule))
	if c.Instead != "" {
		fmt.Fprintf(w, "         instead: %s\n", literal(output.Shorten(c.Instead, 300)))
	}
}

// literal makes every character of a text visible: it names invisible ones and those that change the text direction.
func literal(text string) string { return output.Printable(plaintext.Literal(text)) }

// Write prints the answer for a user.
func (a *Answer) Write(w io.Writer) {
	fmt.Fprint(w, a.Verdict)
	if a.Rule != "" {
		fmt.Fprintf(w, "  %s", literal(a.Rule))
	}
	if a.File != "" {
		fmt.Fprintf(w, "  (%s:%d)", literal(a.File), a.Line)
	}
	fmt.Fprintln(w)
	for _, row := range [][2]string{{"words", a.Words}, {"why", a.Why}, {"instead", a.Instead}} {
		if row[1] != "" {
			fmt.Fprintf(w, "  %-8s %s\n", row[0], literal(output.Shorten(row[1], 300)))
		}
	}
	if a.Person != "" {
		fmt.Fprintf(w, "  %-8s %s, if the user types it (presets ask only about agents)\n", "user", a.Person)
	}
	if len(a.Commands) > 1 {
		seen := map[string]bool{}
		for i := range a.Commands {
			c := &a.Commands[i]
			argv := literal(output.Shorten(strings.Join(c.Argv, " "), 100))
			verdict := a.shownVerdict(c)
			if row := verdict + " " + argv; !seen[row] {
				seen[row] = true
				fmt.Fprintf(w, "  %-5s  %s\n", verdict, argv)
				a.reason(w, c)
			}
		}
	}
}
