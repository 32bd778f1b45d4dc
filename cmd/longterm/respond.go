//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/expect"
)

// ruleFlags are the flags that make a rule.
type ruleFlags struct {
	rule                       api.RespondRule
	prompt, screen, cursorLine bool
	region, file               string
	timeout, cooldown          time.Duration
	noEnter, all               bool
}

// replyFlag adds a reply to a rule: replies are made in the order of their flags.
type replyFlag struct {
	flags *ruleFlags
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

func respondCommand(a *app) *cobra.Command {
	var r ruleFlags
	c := a.on("respond S (add | ls | rm RULE… | log) [flags]", "Have a session answer what its program asks", cobra.MinimumNArgs(2),
		func(cmd *cobra.Command, s *client.Session, args []string) error {
			ctx, action, rest := cmd.Context(), args[0], args[1:]
			if len(rest) > 0 && action != "rm" {
				return exit.Usagef("%q is too much; see `longterm respond --help`", rest[0])
			}
			switch action {
			case "add":
				return a.addRules(cmd, s, &r)
			case "ls", "list":
				list, err := s.Rules(ctx)
				if err != nil {
					return err
				}
				return a.Print(list, func(w io.Writer) { ruleTable(w, list) })
			case "rm", "remove":
				if r.all == (len(rest) > 0) {
					return exit.Usagef("name rules to remove, or give --all")
				}
				removed, err := s.RemoveRules(ctx, rest...)
				if err != nil {
					return err
				}
				return a.Print(removed, func(io.Writer) {})
			case "log":
				return a.printFirings(ctx, s)
			}
			return exit.Usagef("unknown action %q: there are add, ls, rm and log, after the session's name", action)
		})
	c.Long = `Attach rules to a session: when a pattern appears, something is typed, next to whoever else uses
the session. Rules stay until they are removed, also over a restart of the daemon.

  longterm respond S add --on 'Continue? [y/N]' --line y
  longterm respond S add --regexp '^\[sudo\] password for \w+: $' --secret keyring:sudo/bob --max 1
  longterm respond S add --on 'Are you sure' --screen --keys '<Tab><Enter>'
  longterm respond S add --file rules.yaml
  longterm respond S ls
  longterm respond S rm 1
  longterm respond S log

Text is matched in lines of output that nothing has answered yet, never in the echo of what was typed.
Replies are made in the order they are given. In --text, --line, --keys and --fail, $1 and ${name} are
what groups of --regexp matched. A secret is named, env:NAME, file:PATH, cmd:COMMAND or
keyring:SERVICE/ACCOUNT, and typed only while the terminal does not echo. env: is this command's
environment, whose value the daemon keeps in memory only; the others are looked up when they are typed.
A hook is a command line for sh with the match on its standard input and the groups as "$1"…; what it
prints is typed. Give rules that send secrets a --max: a password that is refused is asked for again.
See docs/expect.md.`
	r.register(c)
	return a.JSONFlag(c)
}

func (r *ruleFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.rule.Text, "on", "", "text to look for")
	f.StringVar(&r.rule.Regexp, "regexp", "", "regular expression (RE2) to look for, within one line")
	f.BoolVar(&r.prompt, "prompt", false, "only in the line that is not complete")
	f.BoolVar(&r.screen, "screen", false, "on the screen instead of in the output")
	f.StringVar(&r.region, "region", "", "of the screen: rows A:B, or A:B,C:D with columns, from 0, ends exclusive")
	f.BoolVar(&r.cursorLine, "cursor-line", false, "only in the screen's line with the cursor")
	for _, x := range []struct{ kind, usage string }{
		{"text", "type this"},
		{"line", "type this and press Enter"},
		{"keys", "press keys: yes<Enter>, <C-c>, <Up>"},
		{"secret", "type the secret that this refers to, and press Enter"},
		{"hook", "run this command and type what it prints"},
		{"fail", "have all rules of the session end, with this reason"},
		{"wait", "pause before what follows"},
	} {
		f.Var(replyFlag{r, x.kind}, x.kind, x.usage)
	}
	f.BoolVar(&r.noEnter, "no-enter", false, "press no Enter after secrets, which are followed by it otherwise")
	f.IntVar(&r.rule.Max, "max", 0, "use the rule at most so many times (default: no limit)")
	f.BoolVar(&r.rule.After, "order", false, "wait until the rule before was used as often as its --max says, or once")
	f.DurationVar(&r.timeout, "timeout", 0, "have it fail when the rule was not used within this time")
	f.DurationVar(&r.cooldown, "cooldown", 0, "let the rule rest so long after each use")
	f.BoolVar(&r.rule.Force, "force", false, "type secrets even while they are shown")
	f.StringVarP(&r.rule.Name, "name", "n", "", "name of the rule")
	f.StringVar(&r.file, "file", "", "file of rules (YAML) instead of one by flags; - is standard input")
	f.BoolVar(&r.all, "all", false, "with rm: all rules")
	c.MarkFlagsMutuallyExclusive("prompt", "screen", "cursor-line")
}

// request is what the flags ask for.
func (r *ruleFlags) request(a *app) (api.RespondRules, error) {
	var rules api.RespondRules
	if r.file != "" {
		if r.rule.Text != "" || r.rule.Regexp != "" || len(r.rule.Reply) > 0 {
			return rules, exit.Usagef("--file has the rules; a pattern or reply beside it makes no sense")
		}
		return a.rulesFile(r.file)
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

// rulesFile reads a file of rules.
func (a *app) rulesFile(path string) (api.RespondRules, error) {
	var out api.RespondRules
	src, err := a.readInput([]string{path})
	if err != nil {
		return out, err
	}
	rules, problems := expect.LoadRules(src)
	if len(problems) > 0 {
		for _, p := range problems {
			fmt.Fprintf(a.Stderr, "%s:%v\n", path, p)
		}
		return out, exit.Usagef("%s: the rules cannot be used", path)
	}
	out.Ordered = rules.Ordered
	for i := range rules.Rules {
		x := &rules.Rules[i]
		r := api.RespondRule{
			Name: x.Name, Text: x.Text, Regexp: x.Regexp, On: string(x.On), Max: x.Max, Force: x.Force, After: x.After,
			TimeoutMS: x.Timeout.Milliseconds(), CooldownMS: x.CoolDown.Milliseconds(),
		}
		if g := x.Region; g != nil {
			r.Region = &api.RespondRegion{Top: g.Top, Bottom: g.Bottom, Left: g.Left, Right: g.Right}
		}
		for _, y := range x.Reply {
			r.Reply = append(r.Reply, api.RespondReply{Kind: string(y.Kind), Value: y.Value, WaitMS: y.Wait.Milliseconds()})
		}
		out.Rules = append(out.Rules, r)
	}
	return out, bringSecrets(&out)
}

// bringSecrets gives the daemon what only we know of secrets: our environment, and where
// paths begin.
func bringSecrets(rules *api.RespondRules) error {
	for i := range rules.Rules {
		for j := range rules.Rules[i].Reply {
			r := &rules.Rules[i].Reply[j]
			kind, name, _ := strings.Cut(r.Value, ":")
			switch {
			case r.Kind != "secret":
			case kind == "env":
				v, ok := os.LookupEnv(name)
				if !ok {
					return exit.Usagef("%s: the environment has no such variable", r.Value)
				}
				if rules.Secrets == nil {
					rules.Secrets = map[string]string{}
				}
				rules.Secrets[r.Value] = v
			case kind == "file" && !strings.HasPrefix(name, "~/"):
				path, err := filepath.Abs(name)
				if err != nil {
					return err
				}
				r.Value = "file:" + path
			}
		}
	}
	return nil
}

func (a *app) addRules(cmd *cobra.Command, s *client.Session, r *ruleFlags) error {
	rules, err := r.request(a)
	if err != nil {
		return err
	}
	added, err := s.AddRules(cmd.Context(), rules)
	if err != nil {
		return err
	}
	return a.Print(added, func(w io.Writer) {
		for _, x := range added {
			fmt.Fprintln(w, x.ID)
		}
	})
}

func ruleTable(w io.Writer, list []api.RespondAttached) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no rules; `longterm respond S add` makes one")
		return
	}
	for _, r := range list {
		uses := strconv.Itoa(r.Uses)
		if r.Max > 0 {
			uses += "/" + strconv.Itoa(r.Max)
		}
		pattern := strconv.Quote(r.Text)
		if r.Regexp != "" {
			pattern = "/" + output.Printable(r.Regexp) + "/"
		}
		if r.On != "" && r.On != "output" {
			pattern += " on " + r.On
		}
		line := fmt.Sprintf("%3s  %-10s %6s  %s → %s", r.ID, output.Printable(r.Name), uses, pattern, replyText(r.Reply))
		if r.Call {
			line += "  (of a line that runs)"
		}
		if r.Failed != "" {
			line += "  ended: " + output.Printable(r.Failed)
		}
		fmt.Fprintln(w, line)
	}
}

// replyText is what a rule does, in short.
func replyText(list []api.RespondReply) string {
	var parts []string
	for _, r := range list {
		switch r.Kind {
		case "text":
			parts = append(parts, strconv.Quote(r.Value))
		case "keys":
			parts = append(parts, output.Printable(r.Value))
		case "wait":
			parts = append(parts, "wait "+(time.Duration(r.WaitMS)*time.Millisecond).String())
		default:
			parts = append(parts, r.Kind+" "+output.Printable(r.Value))
		}
	}
	return strings.Join(parts, " ")
}

func (a *app) printFirings(ctx context.Context, s *client.Session) error {
	list, err := s.Firings(ctx)
	if err != nil {
		return err
	}
	return a.Print(list, func(w io.Writer) { firingTable(w, list) })
}

func firingTable(w io.Writer, list []api.RespondFiring) {
	for _, f := range list {
		rule := f.Rule
		if f.Name != "" {
			rule += " " + output.Printable(f.Name)
		}
		what := fmt.Sprintf("%s → %s", strconv.Quote(f.Match), replyText(f.Reply))
		if f.Error != "" {
			what = output.Printable(f.Error)
		}
		fmt.Fprintf(w, "%s  %-10s  %s\n", f.Time.Local().Format("2006-01-02 15:04:05"), rule, what)
	}
}

// respondFlags are the rules of one call.
type respondFlags struct {
	pairs []string
	file  string
}

func (r *respondFlags) register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&r.pairs, "respond", nil, "PATTERN=REPLY: type REPLY and Enter when PATTERN appears, repeatable; re:PATTERN is a regexp, keys:REPLY are keys, secret:REPLY types the secret that it refers to, and Enter")
	f.StringVar(&r.file, "respond-file", "", "file of rules (YAML) for this line")
}

// request is what the flags ask for; nil: nothing.
func (r *respondFlags) request(a *app) (*api.RespondRules, error) {
	if len(r.pairs) == 0 && r.file == "" {
		return nil, nil
	}
	var rules api.RespondRules
	for _, p := range r.pairs {
		x, err := parsePair(p)
		if err != nil {
			return nil, err
		}
		rules.Rules = append(rules.Rules, x)
	}
	if err := bringSecrets(&rules); err != nil || r.file == "" {
		return &rules, err
	}
	if r.file == "-" {
		return nil, exit.Usagef("--respond-file - makes no sense; name a file")
	}
	more, err := a.rulesFile(r.file)
	if err != nil {
		return nil, err
	}
	if more.Ordered && len(rules.Rules) > 0 {
		return nil, exit.Usagef("%s is ordered; put the rules of --respond into it", r.file)
	}
	more.Rules = append(rules.Rules, more.Rules...)
	for ref, v := range rules.Secrets {
		if more.Secrets == nil {
			more.Secrets = map[string]string{}
		}
		more.Secrets[ref] = v
	}
	return &more, nil
}

// parsePair reads PATTERN=REPLY.
func parsePair(s string) (api.RespondRule, error) {
	pattern, answer, ok := strings.Cut(s, "=")
	if !ok || pattern == "" {
		return api.RespondRule{}, exit.Usagef("--respond %q is not PATTERN=REPLY; a pattern with = in it goes into --respond-file", s)
	}
	r := api.RespondRule{Text: pattern}
	if expr, is := strings.CutPrefix(pattern, "re:"); is {
		r.Text, r.Regexp = "", expr
	}
	enter := api.RespondReply{Kind: "keys", Value: "<Enter>"}
	switch kind, value, _ := strings.Cut(answer, ":"); {
	case kind == "keys" && value != "":
		r.Reply = []api.RespondReply{{Kind: "keys", Value: value}}
	case kind == "secret" && value != "":
		r.Reply = []api.RespondReply{{Kind: "secret", Value: value}, enter}
	case answer == "":
		r.Reply = []api.RespondReply{enter}
	default:
		r.Reply = []api.RespondReply{{Kind: "text", Value: answer}, enter}
	}
	return r, nil
}
