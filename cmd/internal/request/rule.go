//go:build unix

package request

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
)

// RuleFlags are the flags that make a rule.
type RuleFlags struct {
	rule                       api.RespondRule
	prompt, screen, cursorLine bool
	region, file               string
	timeout, cooldown          time.Duration
	noEnter, All               bool
}

// replyFlag adds a reply to a rule: replies are made in the order of their flags.
type replyFlag struct {
	flags *RuleFlags
	kind  string
}

func (f replyFlag) String() string { return "" }

func (f replyFlag) Type() string {
	if f.kind == "wait" {
		return "duration"
	}
	return "string"
}

func (f replyFlag) Set(v string) error {
	r := api.RespondReply{Kind: f.kind, Value: v}
	enter := false
	switch f.kind {
	case "line":
		r.Kind, enter = "text", true
	case "secret":
		enter = true
	case "wait":
		d, err := time.ParseDuration(v)
		if err != nil {
			return err
		}
		r.Value, r.WaitMS = "", d.Milliseconds()
	}
	list := &f.flags.rule.Reply
	if r.Kind != "text" || r.Value != "" {
		*list = append(*list, r)
	}
	if enter {
		*list = append(*list, api.RespondReply{Kind: "keys", Value: "<Enter>"})
	}
	return nil
}

func (r *RuleFlags) Register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.rule.Text, "on", "", "text to look for")
	f.StringVar(&r.rule.Regexp, "regexp", "", "regular expression (RE2) to look for, within one line")
	f.BoolVar(&r.prompt, "prompt", false, "only in the last, incomplete line")
	f.BoolVar(&r.screen, "screen", false, "match on the screen instead of in the output")
	f.StringVar(&r.region, "region", "", "of the screen: rows A:B, or A:B,C:D with columns, from 0, ends exclusive")
	f.BoolVar(&r.cursorLine, "cursor-line", false, "only in the screen's line with the cursor")
	for _, x := range []struct{ kind, usage string }{
		{"text", "type this"},
		{"line", "type this and press Enter"},
		{"keys", "press keys: yes<Enter>, <C-c>, <Up>"},
		{"secret", "type the secret that this refers to, and press Enter"},
		{"hook", "run this command and type what it prints"},
		{"fail", "end all rules of the session, with this reason"},
		{"wait", "pause before what follows"},
	} {
		f.Var(replyFlag{r, x.kind}, x.kind, x.usage)
	}
	f.BoolVar(&r.noEnter, "no-enter", false, "do not press Enter after secrets")
	f.IntVar(&r.rule.Max, "max", 0, "use the rule at most this many times (default: no limit)")
	f.BoolVar(&r.rule.After, "order", false, "wait until the previous rule was used as often as its --max says, or once")
	f.DurationVar(&r.timeout, "timeout", 0, "fail when the rule was not used within this time")
	f.DurationVar(&r.cooldown, "cooldown", 0, "do not use the rule again for this long after each use")
	f.BoolVar(&r.rule.Force, "force", false, "type secrets even while the terminal echoes")
	f.StringVarP(&r.rule.Name, "name", "n", "", "name of the rule")
	f.StringVar(&r.file, "file", "", "file of rules (YAML) instead of one by flags; - is standard input")
	f.BoolVar(&r.All, "all", false, "with rm: all rules")
	c.MarkFlagsMutuallyExclusive("prompt", "screen", "cursor-line")
}

// Request is what the flags ask for.
func (r *RuleFlags) Request(in Input) (api.RespondRules, error) {
	var rules api.RespondRules
	if r.file != "" {
		if r.rule.Text != "" || r.rule.Regexp != "" || len(r.rule.Reply) > 0 {
			return rules, exit.Usagef("--file contains the rules; remove the pattern or reply")
		}
		return in.rulesFile(r.file)
	}
	switch {
	case (r.rule.Text == "") == (r.rule.Regexp == ""):
		return rules, exit.Usagef("one of --on TEXT and --regexp RE is needed")
	case len(r.rule.Reply) == 0:
		return rules, exit.Usagef("what is to be done? give --line, --text, --keys, --secret, --hook, --fail or --wait")
	}
	switch {
	case r.prompt:
		r.rule.On = "prompt"
	case r.cursorLine:
		r.rule.On = "cursor"
	case r.screen || r.region != "":
		r.rule.On = "screen"
	}
	if r.region != "" {
		g, err := parseRegion(r.region)
		if err != nil {
			return rules, err
		}
		r.rule.Region = g
	}
	r.rule.TimeoutMS, r.rule.CooldownMS = r.timeout.Milliseconds(), r.cooldown.Milliseconds()
	if r.noEnter {
		r.rule.Reply = withoutEnter(r.rule.Reply)
	}
	rules.Rules = []api.RespondRule{r.rule}
	return rules, bringSecrets(&rules)
}

// withoutEnter takes away the Enter after each secret.
func withoutEnter(list []api.RespondReply) []api.RespondReply {
	var kept []api.RespondReply
	for i, r := range list {
		if i == 0 || list[i-1].Kind != "secret" || r.Value != "<Enter>" {
			kept = append(kept, r)
		}
	}
	return kept
}

// parseRegion reads rows A:B, or A:B,C:D with columns.
func parseRegion(s string) (*api.RespondRegion, error) {
	var g api.RespondRegion
	rows, cols, _ := strings.Cut(s, ",")
	for i, part := range []string{rows, cols} {
		from, to, ok := strings.Cut(part, ":")
		if part == "" {
			continue
		}
		into := [][2]*int{{&g.Top, &g.Bottom}, {&g.Left, &g.Right}}[i]
		for j, text := range []string{from, to} {
			n, err := strconv.Atoi(text)
			if text != "" && (err != nil || n < 0) || !ok {
				return nil, exit.Usagef("--region %q is not rows A:B, or A:B,C:D with columns", s)
			}
			*into[j] = n
		}
	}
	return &g, nil
}
