//go:build unix

package request

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/expect"
)

// RespondFlags are the flags that give one call its response rules.
type RespondFlags struct {
	pairs []string // rules in the form PATTERN=REPLY
	file  string
}

func (r *RespondFlags) Register(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&r.pairs, "respond", nil, "`PATTERN=REPLY`: type REPLY and Enter when PATTERN appears, repeatable; re:PATTERN is a regexp, keys:REPLY are keys, secret:REPLY types the secret that it refers to, and Enter; of several =, the first after one of ? : > ] ) # $ % ends PATTERN, else the first; \\= is a part of it")
	f.StringVar(&r.file, "respond-file", "", "`FILE` of rules (YAML) for this line or command")
}

// HasRules reports whether a rule or a file of rules is given.
func (r *RespondFlags) HasRules() bool { return len(r.pairs) > 0 || r.file != "" }

// Request returns the rules that the flags describe, or nil without any.
func (r *RespondFlags) Request(in Input) (*api.RespondRules, error) {
	if !r.HasRules() {
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
	if err := resolveSecrets(&rules); err != nil || r.file == "" {
		return &rules, err
	}
	if r.file == "-" {
		return nil, exit.Usagef("--respond-file must not be standard input; use a file")
	}
	more, err := in.rulesFile(r.file)
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

// cutPair splits PATTERN=REPLY at an =. A prompt may contain =, as in "a=b=c?": the first = after the end of a prompt counts, or
// else the first one. An = after a backslash is a part of the pattern.
func cutPair(s string) (pattern, reply string, ok bool) {
	at := -1
	for i := range len(s) {
		if s[i] != '=' || i > 0 && s[i-1] == '\\' {
			continue
		}
		before := strings.TrimRight(s[:i], " ")
		ends := before != "" && strings.ContainsAny(before[len(before)-1:], "?:>])#$%")
		if at < 0 || ends {
			at = i
		}
		if ends {
			break
		}
	}
	if at < 0 {
		return s, "", false
	}
	return strings.ReplaceAll(s[:at], `\=`, "="), s[at+1:], true
}

// parsePair reads PATTERN=REPLY.
func parsePair(s string) (api.RespondRule, error) {
	pattern, answer, ok := cutPair(s)
	if !ok || pattern == "" {
		return api.RespondRule{}, exit.Usagef("--respond %q: not PATTERN=REPLY", s)
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

// rulesFile reads a file of rules.
func (in Input) rulesFile(path string) (api.RespondRules, error) {
	var out api.RespondRules
	src, err := in.Read([]string{path})
	if err != nil {
		return out, err
	}
	rules, problems := expect.LoadRules(src)
	if len(problems) > 0 {
		for _, p := range problems {
			fmt.Fprintf(in.Stderr, "%s:%v\n", path, p)
		}
		return out, exit.Usagef("%s: the rules cannot be used", path)
	}
	out.Ordered = rules.Ordered
	for i := range rules.Rules {
		x := &rules.Rules[i]
		r := api.RespondRule{
			Name: x.Name, Text: x.Text, Regexp: x.Regexp, On: string(x.On), Max: x.Max, Force: x.Force, After: x.AfterPrevious,
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
	return out, resolveSecrets(&out)
}

// resolveSecrets resolves secrets that only this process can read: environment variables, and paths relative to its
// directory.
func resolveSecrets(rules *api.RespondRules) error {
	for i := range rules.Rules {
		for j := range rules.Rules[i].Reply {
			r := &rules.Rules[i].Reply[j]
			kind, name, _ := strings.Cut(r.Value, ":")
			switch {
			case r.Kind != "secret":
			case kind == "env":
				v, ok := os.LookupEnv(name)
				if !ok {
					return exit.Usagef("%s: variable not set", r.Value)
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
