//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/doctor"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

func auditVerb(a *app, c *cobra.Command) {
	var q client.AuditQuery
	var verify, head, follow bool
	var anchors []string
	c.Long = `List the audit log, oldest first: what was asked for and by whom, what was executed, the verdict and the
rule that decided, approvals and their answers, how jobs ended and which bytes of output are theirs.

Each record has the hash of the one before it. --verify reads the whole log and names what was changed, removed,
moved or cut off, and a log that was removed; exit status 1 when there is anything, 10 when the log is in order but old records were dropped and no
--anchor proves the record that says so. It needs no daemon. --head prints the number and hash of
the newest record: kept on another machine, and given to --verify with --anchor, it proves that nothing up to
that record was rewritten. See docs/audit.md for the format.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		switch {
		case err != nil:
			return err
		case verify && (head || follow) || head && follow:
			return exit.Usagef("--verify, --head and --follow do not go together")
		case q.Verdict != "" && !slices.Contains(auditVerdicts, q.Verdict):
			return exit.Usagef("--verdict %s: there are %s", q.Verdict, strings.Join(auditVerdicts, ", "))
		case q.Kind != "" && !slices.Contains(auditKinds, audit.Kind(q.Kind)):
			return exit.Usagef("--kind %s: there are %s", q.Kind, strings.Trim(strings.ReplaceAll(fmt.Sprint(auditKinds), " ", ", "), "[]"))
		case len(anchors) > 0 && !verify:
			return exit.Usagef("--anchor goes with --verify")
		case head:
			return a.auditHead(cmd.Context(), b)
		case verify:
			return a.verifyAudit(cmd.Context(), b, anchors)
		case follow:
			return a.followAudit(cmd.Context(), b.client, q)
		}
		list, err := b.client.Audit(cmd.Context(), q)
		if err != nil {
			return err
		}
		if len(list) == 0 && q.Session != "" {
			if err := a.nobodysRecords(cmd.Context(), b.client, q.Session); err != nil {
				return err
			}
		}
		return a.Print(list, func(w io.Writer) { auditTable(w, auditColumns, list, termio.Width(a.Stdout)) })
	}
	f := c.Flags()
	f.StringVar(&q.Session, "session", "", "only of this session, also one that was removed")
	f.StringVar(&q.Agent, "agent", "", "only what the agent with this label asked for")
	f.StringVar(&q.Verdict, "verdict", "", "only with this verdict: allow, ask, deny; of answers: approved, rejected")
	f.StringVar(&q.Kind, "kind", "", "only of this kind: line, command, execution, network, reveal, write, stop, connection, answer, end")
	f.StringVar(&q.Since, "since", "", "only at this time or later: 15:04, 2026-01-31, -2h")
	f.IntVarP(&q.Limit, "limit", "n", 100, "at most this many, the newest")
	f.BoolVarP(&follow, "follow", "f", false, "keep printing records as they are written")
	f.BoolVar(&verify, "verify", false, "check that no record was changed or is missing")
	f.StringArrayVar(&anchors, "anchor", nil, "with --verify: what --head printed earlier; the record has to be as it was")
	f.BoolVar(&head, "head", false, "print number and hash of the newest record, to be kept elsewhere")
}

// nobodysRecords says why there are no records of a session: it has none that were asked for, or there is no such session. Then
// that is an error, with those that there are.
func (a *app) nobodysRecords(ctx context.Context, c *client.Client, session string) error {
	all, err := c.List(ctx)
	if err != nil {
		return err
	}
	var names []string
	for i := range all {
		if all[i].ID == session || all[i].Name == session {
			fmt.Fprintf(a.Stderr, "longterm: no record of session %q is among those that you ask for\n", session)
			return nil
		}
		names = append(names, cmp.Or(all[i].Name, all[i].ID))
	}
	there := "there are none"
	if slices.Sort(names); len(names) > 0 {
		there = "there are " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return api.Errorf(api.CodeNotFound, "no session %q, and no record of one that was", session).WithHint("%s; `longterm ls` lists them", there)
}

// auditVerdicts and auditKinds are the words that records have there: a filter with another one would say that there is nothing.
var (
	auditVerdicts = []string{"allow", "ask", "deny", "approved", "rejected"}
	auditKinds    = []audit.Kind{
		audit.Line, audit.Command, audit.Execution, audit.Network, audit.Reveal, audit.Write, audit.Stop, audit.Connection, audit.Answer, audit.End,
		audit.Begin, audit.Gap, audit.Torn, audit.Missing, audit.Damage, audit.Drop, audit.Close,
	}
)

func (a *app) auditHead(ctx context.Context, b *backend) error {
	h, err := a.keptHead(ctx, b)
	if err != nil {
		return fmt.Errorf("%w; `longterm audit --verify` tells more", err)
	}
	if h.Seq == 0 && a.host == "" && doctor.AuditIsExpected(b.dirs) {
		return errors.New("there is no audit record, though a daemon has worked here; `longterm audit --verify` tells more")
	}
	return a.Print(h, func(w io.Writer) { fmt.Fprintln(w, h) })
}

// keptHead is the newest record's head: as it is kept here, or as another host's daemon says.
func (a *app) keptHead(ctx context.Context, b *backend) (audit.Head, error) {
	if a.host == "" {
		return audit.KeptHead(b.dirs.Audit())
	}
	st, err := b.client.Status(ctx)
	if err != nil {
		return audit.Head{}, err
	}
	return audit.ParseHead(st.Audit)
}

func (a *app) verifyAudit(ctx context.Context, b *backend, texts []string) error {
	var anchors []audit.Head
	for _, text := range texts {
		h, err := audit.ParseHead(text)
		if err != nil {
			return exit.Usage(err)
		}
		anchors = append(anchors, h)
	}
	r, err := a.auditOf(ctx, b, anchors)
	if err != nil {
		return err
	}
	if err := a.Print(r, func(w io.Writer) { auditReport(w, &r, anchors) }); err != nil || r.Proven {
		return err
	}
	if r.OK {
		return exit.Silent(exitUnproven)
	}
	return exit.Silent(api.ExitFailure)
}

// auditOf checks the log here, or has another host's daemon check its own.
func (a *app) auditOf(ctx context.Context, b *backend, anchors []audit.Head) (audit.Report, error) {
	if a.host != "" {
		return b.client.VerifyAudit(ctx, anchors...)
	}
	against := doctor.AuditAgainst(ctx, b.dirs, b.quiet)
	against.Anchors = anchors
	return audit.Verify(b.dirs.Audit(), against)
}

// exitUnproven is of a log that is in order, where only the log itself says why its beginning is gone.
const exitUnproven = 10

func auditReport(w io.Writer, r *audit.Report, anchors []audit.Head) {
	say := func(kind string, list []audit.Finding) {
		for _, f := range list {
			where := ""
			if f.File != "" {
				where = fmt.Sprintf(" (%s, byte %d)", output.Printable(f.File), f.Offset)
			}
			fmt.Fprintf(w, "%s: %s%s\n", kind, output.Printable(f.What), where)
		}
	}
	say("note", r.Notes)
	say("damage", r.Findings)
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more\n", r.More)
	}
	if d := r.Dropped; d != nil {
		fmt.Fprintf(w, "records up to %d are not kept any more (retention.audit_bytes, retention.audit_age); what is left is since %s\n",
			d.To, d.Until.Local().Format("2006-01-02 15:04:05"))
		if r.OK && !r.Proven {
			fmt.Fprintln(w, "not proven without an anchor: that they were dropped, and not removed by somebody, only the log itself says; "+
				"give --anchor a head that was kept elsewhere since then (`longterm audit --head`)")
		}
	}
	switch {
	case !r.OK:
		fmt.Fprintf(w, "%d records are in order, but the log is not\n", r.Records)
	case r.Records == 0:
		fmt.Fprintln(w, "no records")
	case slices.Contains(anchors, r.Head):
		fmt.Fprintf(w, "%d records are as they were written, none is missing; newest %s\n", r.Records, r.Head)
	case len(anchors) > 0:
		newest := slices.MaxFunc(anchors, func(a, b audit.Head) int { return cmp.Compare(a.Seq, b.Seq) })
		fmt.Fprintf(w, "%d records are consistent, none is missing; those up to %d are as they were written; newest %s\n", r.Records, newest.Seq, r.Head)
	default:
		fmt.Fprintf(w, "%d records are consistent, none is missing; newest %s; "+
			"only --anchor with that head, kept elsewhere, proves that they are as they were written\n", r.Records, r.Head)
	}
}

// followAudit prints records, and those to come, until it is interrupted.
func (a *app) followAudit(ctx context.Context, c *client.Client, q client.AuditQuery) error {
	columns := auditColumns
	for {
		list, err := c.Audit(ctx, q)
		if err != nil {
			return err
		}
		for i := range list {
			q.After = list[i].Seq
			if !a.JSON {
				auditTable(a.Stdout, columns, list[i:i+1], termio.Width(a.Stdout))
				columns = listing.WithoutHeads(columns)
			} else if err := json.NewEncoder(a.Stdout).Encode(&list[i]); err != nil {
				return err
			}
		}
		q.Await, q.Limit, q.Since = time.Minute, 10000, ""
	}
}

var auditColumns = []listing.Column{
	{Head: "SEQ", Wide: 6, Right: true}, {Head: "TIME"}, {Head: "KIND", Wide: 9}, {Head: "VERDICT", Wide: 8}, {Head: "BY", Wide: 16, Least: 8},
	{Head: "SESSION", Wide: 10, Least: 7}, {Head: "WHAT", Least: 10},
}

func auditTable(w io.Writer, columns []listing.Column, list []audit.Record, width int) {
	rows := make([][]string, 0, len(list))
	for i := range list {
		r := &list[i]
		what := r.Line
		switch {
		case len(r.Argv) > 0:
			what = strings.Join(r.Argv, " ")
		case what == "":
			what = r.Path
		}
		what = strings.ReplaceAll(plaintext.Literal(strings.TrimSpace(what)), "\n", " ↵ ")
		rows = append(rows, []string{
			strconv.FormatUint(uint64(r.Seq), 10), r.Time.Local().Format("2006-01-02 15:04:05"), string(r.Kind), string(r.Verdict),
			output.Printable(r.Actor.String()), output.Printable(r.Name), output.Printable(output.Shorten(what, 100) + auditDetail(r)),
		})
	}
	_ = listing.Write(w, columns, rows, width) // fails only if the reader has closed the output
}

// auditDetail is what there is to say of a record besides what was asked.
func auditDetail(r *audit.Record) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if r.Rule != "" && r.Verdict != "allow" {
		add("rule %s", r.Rule)
	}
	if r.Approval != "" {
		add("%s", strings.TrimSpace(r.Approval+" "+r.Scope))
	}
	if len(r.Parent) > 0 {
		add("from %s", output.Shorten(strings.Join(r.Parent, " "), 40))
	}
	if r.Exit != nil {
		add("exit %d", *r.Exit)
	}
	if r.Signal != "" {
		add("signal %s", r.Signal)
	}
	if r.Output != nil {
		add("output %d:%d", r.Output.From, r.Output.To)
	}
	if r.Lost > 0 {
		add("%d", r.Lost)
	}
	if r.Note != "" && r.Exit == nil {
		add("%s", r.Note)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}
