//go:build unix

// Package approvals prints approval requests for users: as lists and in full (text.go), and as a live list with keys to
// answer (live.go). Text from callers is hostile, so all of it is made printable here.
package approvals

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/topics"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// Grouped is the number of approvals of a group from which a list shows them as one line.
const Grouped = 20

// What returns the requested command in one line.
func What(v *api.Approval) string {
	text := v.Line
	switch {
	case text != "":
	case len(v.Argv) > 0:
		text = strings.Join(v.Argv, " ")
	default:
		text = v.Path
	}
	return inLine(text)
}

// inLine returns a text in one line. Former line breaks stay visible, because each line starts a command.
func inLine(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", " ↵ ")
	return output.Printable(strings.Join(strings.Fields(s), " "))
}

// Where returns the request's session, or its kind if no session exists yet.
func Where(v *api.Approval) string {
	switch {
	case v.Name != "":
		return output.Printable(v.Name)
	case v.Session != "":
		return api.ShortID(v.Session)
	}
	return "(" + v.Kind + ")"
}

var columns = []listing.Column{
	{Head: "ID", MinWidth: 5, Style: listing.AsBold}, {Head: "STATE", MinWidth: 8}, {Head: "RISK", MinWidth: 6, Style: listing.RiskStyle}, {Head: "ASKED BY", MinWidth: 16, ShrinkTo: 8},
	{Head: "SESSION", MinWidth: 12, ShrinkTo: 7}, {Head: "WHAT", ShrinkTo: 10}, {Head: "EFFECT", ShrinkTo: 10},
}

// maxExplained is the most approvals that a terminal's list shows in full.
const maxExplained = 5

// explain writes what an approval would do, its rule, and the commands that answer it.
func explain(w io.Writer, v *api.Approval, look listing.TableFormat) {
	style := func(s listing.Style, text string) string { return listing.StyleIf(look.Colour, s).Apply(text) }
	var b strings.Builder
	wrapped := func(s listing.Style, text string) {
		b.Reset()
		topics.Wrap(&b, look.Width, "", "", output.Printable(text))
		for line := range strings.Lines(b.String()) {
			fmt.Fprintln(w, "      "+style(s, strings.TrimSuffix(line, "\n")))
		}
	}
	look.Width -= 6
	state := v.Risk + " risk"
	if v.State != "pending" {
		state = cmp.Or(v.Answer, v.State)
	}
	fmt.Fprintf(w, "%s %s  %s\n", style(listing.Bold, fmt.Sprintf("%-5s", v.ID)), style(listing.RiskStyle(v.Risk), state),
		style(listing.Faint, fmt.Sprintf("%s, %s, %s ago", Asker(v), Where(v), output.Elapsed(time.Since(v.Asked).Milliseconds()))))
	wrapped(listing.Bold, output.Shorten(What(v), 300))
	for _, e := range v.Judgement.Explain() {
		wrapped(listing.Plain, "→ "+e)
	}
	wrapped(listing.Faint, v.Judgement.RuleWithReason())
	if v.State == "pending" {
		answers := v.Answers()
		wrapped(listing.Faint, "allow with `longterm approvals answer "+v.ID+" once`; other answers: "+strings.Join(answers[1:], ", "))
	}
}

// List writes a table with a row for each approval, or for each group of many, and the command that answers the first pending one.
func List(w io.Writer, list []api.Approval, all bool, look listing.TableFormat) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no approval requests")
		return
	}
	if !all && len(list) >= Grouped {
		groups(w, list)
		return
	}
	if look.Width > 0 && len(list) <= maxExplained {
		for i := range list {
			if i > 0 {
				fmt.Fprintln(w)
			}
			explain(w, &list[i], look)
		}
		return
	}
	write(w, columns, list, look)
	if i := slices.IndexFunc(list, func(v api.Approval) bool { return v.State == "pending" }); i >= 0 {
		fmt.Fprintf(w, "allow with `longterm approvals answer %s once`; other answers: session, always, reject\n", list[i].ID)
	}
}

// Line writes an approval as a row without a header.
func Line(w io.Writer, v *api.Approval) {
	write(w, listing.WithoutHeads(columns), []api.Approval{*v}, listing.TableFormat{})
}

func write(w io.Writer, columns []listing.Column, list []api.Approval, look listing.TableFormat) {
	rows := make([][]string, 0, len(list))
	for i := range list {
		v := &list[i]
		state := output.Elapsed(time.Since(v.Asked).Milliseconds())
		if v.State != "pending" {
			state = v.State
			if v.Answer != "" {
				state = v.Answer
			}
		}
		count := ""
		if v.Count > 1 {
			count = fmt.Sprintf(" (×%d)", v.Count)
		}
		rows = append(rows, []string{v.ID, state, string(v.Risk), Asker(v), output.Shorten(Where(v), 12), output.Shorten(What(v), 100) + count, inLine(strings.Join(v.Judgement.Explain(), "; "))})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// Asker returns a short name of the caller.
func Asker(v *api.Approval) string {
	if v.Actor.Agent != "" {
		return output.Shorten(output.Printable(v.Actor.Agent), 16)
	}
	return fmt.Sprintf("uid %d", v.Actor.UID)
}

// groups writes one line per group, the largest groups first, else in order of arrival.
func groups(w io.Writer, list []api.Approval) {
	var names []string
	of := map[string][]*api.Approval{}
	for i := range list {
		g := list[i].Group
		if of[g] == nil {
			names = append(names, g)
		}
		of[g] = append(of[g], &list[i])
	}
	for _, g := range names {
		first, last := of[g][0], of[g][len(of[g])-1]
		ids := first.ID
		if first != last {
			ids += "…" + last.ID
		}
		fmt.Fprintf(w, "%4d  %-12s %-6s %-40s %s\n", len(of[g]), ids, first.Risk, output.Shorten(inLine(g), 40), output.Shorten(What(first), 80))
	}
	fmt.Fprintf(w, "%d approvals in %s; answer a group with `longterm approvals answer --group GROUP once`, list all with `longterm approvals ls --each`\n",
		len(list), output.CountNoun(len(names), "group", "groups"))
}

// Show writes all there is to know of an approval.
func Show(w io.Writer, v *api.Approval) {
	fmt.Fprintf(w, "%s  %s  %s, risk %s\n", v.ID, v.State, v.Kind, v.Risk)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-12s %s\n", name, output.Printable(text))
		}
	}
	for i, line := range strings.Split(strings.TrimRight(v.Line, "\n"), "\n") {
		row(map[bool]string{true: "line"}[i == 0], line)
	}
	row("program", v.Path)
	if len(v.Argv) > 0 {
		row("argv", quoteArgv(v.Argv))
	}
	if len(v.Parent) > 0 {
		row("started by", fmt.Sprintf("%s (depth %d)", quoteArgv(v.Parent), v.Depth))
	}
	row("asked by", v.Actor.String())
	row("session", strings.TrimSpace(v.Name+" "+v.Session))
	row("cwd", v.Cwd)
	row("policy", v.Policy)
	row("asked", fmt.Sprintf("%s, %s ago", v.Asked.Format(time.DateTime), output.Elapsed(time.Since(v.Asked).Milliseconds())))
	if v.Count > 1 {
		row("askers", fmt.Sprintf("%d callers", v.Count))
	}
	for i, e := range v.Judgement.Explain() {
		row(map[bool]string{true: "effect"}[i == 0], e)
	}
	row("because of", v.Judgement.RuleWithReason())
	row("instead", v.Judgement.Instead)
	row("group", v.Group)
	if len(v.Judgement.Commands) > 0 {
		fmt.Fprintln(w, "  commands, as they would run:")
	}
	for _, c := range v.Judgement.Commands {
		why := ""
		if c.Verdict != "allow" {
			why = "   — " + c.Why + " (" + c.Rule + ")"
		}
		fmt.Fprintf(w, "    %-6s %s%s\n", c.Verdict, output.Printable(quoteArgv(c.Argv)), output.Printable(why))
	}
	if v.State == "pending" {
		answers(w, v)
		return
	}
	row("answer", v.Answer)
	row("rule written", v.Written)
	row("feedback", v.Feedback)
	if v.By != nil {
		row("answered by", v.By.String())
	}
	if v.Ended != nil {
		row("ended", v.Ended.Format(time.DateTime))
	}
}

// answers writes what each answer would allow.
func answers(w io.Writer, v *api.Approval) {
	fmt.Fprintln(w, "  answers:")
	fmt.Fprintln(w, "    once     this request")
	if v.Session != "" {
		fmt.Fprintf(w, "    session  for this session: %s\n", inLine(strings.Join(v.Prefixes, ", ")))
	} else {
		fmt.Fprintln(w, "    session  (no session yet)")
	}
	if v.Rule != "" {
		where := ""
		if v.RuleCwd != "" {
			where = ", in " + inLine(v.RuleCwd) + " and below"
		}
		fmt.Fprintf(w, "    always   all callers, in all sessions%s, by a rule that allows: %s   (--rule edits it)\n", where, inLine(v.Rule))
	} else if v.NoRule != "" {
		fmt.Fprintf(w, "    always   (no rule can allow it: %s)\n", inLine(v.NoRule))
	} else {
		fmt.Fprintln(w, "    always   (no rule proposed; use --rule if a rule can allow it)")
	}
	fmt.Fprintln(w, "    reject   do not run; --feedback gives the reason to the caller")
}

// Grants writes what was allowed for sessions.
func Grants(w io.Writer, list []api.Grant) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no session grants")
	}
	for _, g := range list {
		where := g.Name
		if where == "" {
			where = api.ShortID(g.Session)
		}
		what := g.Prefix
		if g.Exact != "" {
			what = "exactly: " + g.Exact
		}
		if g.Dir != "" {
			what += "   in " + g.Dir
		}
		fmt.Fprintf(w, "%-5s %-12s %-6s %-14s %s\n", g.ID, output.Printable(output.Shorten(where, 12)), g.Approval, output.Printable(g.Rule), inLine(what))
	}
}

// PrintAnswered writes the outcome of answers.
func PrintAnswered(w io.Writer, done *api.ApprovalsAnswered) {
	if len(done.Answered) == 0 && len(done.Failed) == 0 {
		fmt.Fprintln(w, "no approval requests")
	}
	for i := range done.Answered {
		v := &done.Answered[i]
		rule := ""
		if v.Written != "" {
			rule = "  rule: allow " + inLine(v.Written)
		}
		fmt.Fprintf(w, "%-5s %-8s %s%s\n", v.ID, v.Answer, output.Shorten(What(v), 100), rule)
		if v.Note != "" {
			fmt.Fprintf(w, "      %s\n", output.Printable(v.Note))
		}
	}
	for _, f := range done.Failed {
		fmt.Fprintf(w, "%-5s not answered: %s\n", f.ID, output.Printable(f.Error.Message))
	}
}

// quoteArgv returns argv quoted for a shell.
func quoteArgv(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		q, err := syntax.Quote(a, syntax.LangBash)
		if err != nil { // for example a NUL
			q = fmt.Sprintf("%q", a)
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}
