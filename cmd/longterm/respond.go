//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func respondVerb(a *app, c *cobra.Command) {
	var r request.RuleFlags
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		ctx, action, rest := cmd.Context(), args[0], args[1:]
		if len(rest) > 0 && action != "rm" {
			return exit.Usagef("%q: unexpected argument; see `longterm respond --help`", rest[0])
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
			if r.All == (len(rest) > 0) {
				return exit.Usagef("no rule given; use rule numbers or --all")
			}
			removed, err := s.RemoveRules(ctx, rest...)
			if err != nil {
				return err
			}
			return a.Print(removed, func(io.Writer) {})
		case "log":
			return a.printFirings(ctx, s)
		}
		return exit.Usagef("unknown action %q; use add, ls, rm or log after the session's name", action)
	})
	c.Long = `Attach response rules to a session: when the program prints a pattern, longterm types a reply. Clients can use the
session as usual. Rules remain until they are removed, also across restarts of the daemon.

  longterm respond S add --on 'Continue? [y/N]' --line y
  longterm respond S add --regexp '^\[sudo\] password for \w+: $' --secret keyring:sudo/bob --max 1
  longterm respond S add --on 'Are you sure' --screen --keys '<Tab><Enter>'
  longterm respond S add --file rules.yaml
  longterm respond S ls
  longterm respond S rm 1
  longterm respond S log

A rule matches lines of output that no rule has answered yet, never the echo of input. Replies are typed in the
given order. In --text, --line, --keys and --fail, $1 and ${name} stand for groups of --regexp.

A secret is env:NAME, file:PATH, cmd:COMMAND or keyring:SERVICE/ACCOUNT. It is typed only while the terminal does
not echo. env: reads this command's environment, and the daemon keeps the value only in memory; the others are
read when they are typed. Use --max with secrets: a program that rejects a password asks again.

A hook is a command line for sh, with the match on its standard input and the groups as "$1"…; its output is
typed. See ` + "`longterm help expect`" + `.`
	r.Register(c)
}

func (a *app) addRules(cmd *cobra.Command, s *client.Session, r *request.RuleFlags) error {
	rules, err := r.Request(a.input())
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
		fmt.Fprintln(w, "no rules; add one with `longterm respond S add`")
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
			line += "  (until its line ends)"
		}
		if r.Failed != "" {
			line += "  ended: " + output.Printable(r.Failed)
		}
		fmt.Fprintln(w, line)
	}
}

// replyText returns a short description of a rule's replies.
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
	list, err := s.RuleMatches(ctx)
	if err != nil {
		return err
	}
	return a.Print(list, func(w io.Writer) { matchTable(w, list) })
}

func matchTable(w io.Writer, list []api.RespondFiring) {
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
