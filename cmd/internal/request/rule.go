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

// RuleFlags holds the flags that define a response rule.
type RuleFlags struct {
	rule                       api.RespondRule
	prompt, screen, cursorLine bool
	region, file               string
	timeout, cooldown          time.Duration
	noEnter, All               bool
}

// replyFlag adds a reply to a rule. Replies are typed in the order of their flags.
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
	f.StringVar(&r.rule.Text, "on", "", "`TEXT` to match")
	f.StringVar(&r.rule.Regexp, "regexp", "", "regular `EXPRESSION` (RE2) to match within one line")
	f.BoolVar(&r.prompt, "prompt", false, "match only in the last, incomplete line")
	f.BoolVar(&r.screen, "screen", false, "match on the screen instead of in the output")
	f.StringVar(&r.region, "region", "", "`REGION` of the screen to match: rows A:B, or A:B,C:D with columns, from 0, ends exclusive")
	f.BoolVar(&r.cursorLine, "cursor-line", false, "match only in the cursor's line of the screen")
	for _, x := range []struct{ kind, usage string }{
		{"text", "reply: this text"},
		{"line", "reply: this text and Enter"},
		{"keys", "reply: these `KEYS`, such as yes<Enter>, <C-c>, <Up>"},
		{"secret", "reply: the secret with this `REFERENCE`, and Enter"},
		{"hook", "reply: the output of this `COMMAND`"},
		{"fail", "reply: end of all rules of the session, with this reason"},
		{"wait", "reply: a pause before the next reply"},
	} {
		f.Var(replyFlag{r, x.kind}, x.kind, x.usage)
	}
	f.BoolVar(&r.noEnter, "no-enter", false, "no Enter after secrets")
	f.IntVar(&r.rule.Max, "max", 0, "maximum `NUMBER` of uses (default: no limit)")
	f.BoolVar(&r.rule.After, "order", false, "start only after the previous rule was used --max times, or once")
	f.DurationVar(&r.timeout, "timeout", 0, "longest time until the first use; then the rule fails")
	f.DurationVar(&r.cooldown, "cooldown", 0, "shortest time between two uses")
	f.BoolVar(&r.rule.Force, "force", false, "secrets even while the terminal echoes")
	f.StringVarP(&r.rule.Name, "name", "n", "", "`NAME` of the rule")
	f.StringVar(&r.file, "file", "", "`FILE` of rules (YAML) instead of flags; - is standard input")
	f.BoolVar(&r.All, "all", false, "with rm: all rules")
	c.MarkFlagsMutuallyExclusive("prompt", "screen", "cursor-line")
}

// Request returns the rules that the flags describe.
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
		return rules, exit.Usagef("pattern missing; use either --on TEXT or --regexp RE")
	case len(r.rule.Reply) == 0:
		return rules, exit.Usagef("reply missing; use --line, --text, --keys, --secret, --hook, --fail or --wait")
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
	return rules, resolveSecrets(&rules)
}

// withoutEnter returns replies without the Enter after each secret.
func withoutEnter(list []api.RespondReply) []api.RespondReply {
	var kept []api.RespondReply
	for i, r := range list {
		if i == 0 || list[i-1].Kind != "secret" || r.Value != "<Enter>" {
			kept = append(kept, r)
		}
	}
	return kept
}

// parseRegion parses rows A:B, or rows and columns A:B,C:D.
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
