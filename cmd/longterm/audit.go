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
	c.Long = `List the audit log, oldest first: requests and their callers, executed commands, verdicts with the rule that
decided, approvals and answers, and how jobs ended, with the bytes of output that each produced.

  longterm audit --session work --verdict deny
  longterm audit --verify

Each record holds the hash of the record before it. --verify reads the whole log and reports records that were
changed, removed, moved or cut off, and a missing log. It needs no daemon. Exit status 1: the log is damaged;
10: the log is consistent, but old records were dropped and no --anchor proves the record of the drop.
--head prints number and hash of the newest record. Keep it on another machine: --verify --anchor HEAD then proves
that no record up to it was rewritten. ` + "`longterm help audit`" + ` describes the format.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		switch {
		case err != nil:
			return err
		case verify && (head || follow) || head && follow:
			return exit.Usagef("--verify, --head and --follow exclude each other")
		case q.Verdict != "" && !slices.Contains(auditVerdicts, q.Verdict):
			return exit.Usagef("--verdict %s: invalid value; use one of %s", q.Verdict, strings.Join(auditVerdicts, ", "))
		case q.Kind != "" && !slices.Contains(auditKinds, audit.Kind(q.Kind)):
			return exit.Usagef("--kind %s: invalid value; use one of %s", q.Kind, strings.Trim(strings.ReplaceAll(fmt.Sprint(auditKinds), " ", ", "), "[]"))
		case len(anchors) > 0 && !verify:
			return exit.Usagef("--anchor requires --verify")
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
			if err := a.explainNoRecords(cmd.Context(), b.client, q.Session); err != nil {
				return err
			}
		}
		return a.Print(list, func(w io.Writer) { auditTable(w, auditColumns, list, a.TableLook()) })
	}
	f := c.Flags()
	f.StringVar(&q.Session, "session", "", "records of this `SESSION`, even if it was removed")
	f.StringVar(&q.Agent, "agent", "", "records of requests by the agent with this `LABEL`")
	f.StringVar(&q.Verdict, "verdict", "", "records with this `VERDICT`: allow, ask, deny; of answers: approved, rejected")
	f.StringVar(&q.Kind, "kind", "", "records of this `KIND`: line, command, execution, network, reveal, write, stop, connection, answer, end")
	f.StringVar(&q.Since, "since", "", "records from this `TIME` on: 15:04, 2026-01-31, -2h")
	f.IntVarP(&q.Limit, "limit", "n", 100, "maximum `NUMBER` of records, the newest")
	f.BoolVarP(&follow, "follow", "f", false, "print new records until interrupted")
	f.BoolVar(&verify, "verify", false, "check the log for changed and missing records")
	f.StringArrayVar(&anchors, "anchor", nil, "with --verify: `HEAD` printed earlier by --head; its record must be unchanged")
	f.BoolVar(&head, "head", false, "number and hash of the newest record, to keep on another machine")
}

// explainNoRecords prints that no record of a session matches. For an unknown session it returns an error that lists the
// existing sessions.
func (a *app) explainNoRecords(ctx context.Context, c *client.Client, session string) error {
	all, err := c.List(ctx)
	if err != nil {
		return err
	}
	var names []string
	for i := range all {
		if all[i].ID == session || all[i].Name == session {
			fmt.Fprintf(a.Stderr, "longterm: no matching records of session %q\n", session)
			return nil
		}
		names = append(names, cmp.Or(all[i].Name, all[i].ID))
	}
	existing := "no sessions exist"
	if slices.Sort(names); len(names) > 0 {
		existing = "existing sessions: " + strings.Join(names[:min(len(names), 20)], ", ")
	}
	return api.Errorf(api.CodeNotFound, "session %q not found, and no audit records of it", session).WithHint("%s; see `longterm ls`", existing)
}

// auditVerdicts and auditKinds are the values that records use. A filter with any other value is a usage error, because
// it would match nothing.
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
		return fmt.Errorf("%w; see `longterm audit --verify`", err)
	}
	if h.Seq == 0 && a.host == "" && doctor.AuditIsExpected(b.dirs) {
		return errors.New("audit log: empty, although a daemon has run here; see `longterm audit --verify`")
	}
	return a.Print(h, func(w io.Writer) { fmt.Fprintln(w, h) })
}

// keptHead returns the head of the newest record: from this machine's file, or from the daemon of a remote host.
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

// auditOf verifies the log of this machine, or asks the daemon of a remote host to verify its own.
func (a *app) auditOf(ctx context.Context, b *backend, anchors []audit.Head) (audit.Report, error) {
	if a.host != "" {
		return b.client.VerifyAudit(ctx, anchors...)
	}
	against := doctor.AuditAgainst(ctx, b.dirs, b.quiet)
	against.Anchors = anchors
	return audit.Verify(b.dirs.Audit(), against)
}

// exitUnproven is the exit status for a consistent log whose dropped records only the log itself accounts for.
const exitUnproven = 10

func auditReport(w io.Writer, r *audit.Report, anchors []audit.Head) {
	list := func(kind string, list []audit.Finding) {
		for _, f := range list {
			where := ""
			if f.File != "" {
				where = fmt.Sprintf(" (%s, byte %d)", output.Printable(f.File), f.Offset)
			}
			fmt.Fprintf(w, "%s: %s%s\n", kind, output.Printable(f.What), where)
		}
	}
	list("note", r.Notes)
	list("damage", r.Findings)
	if r.More > 0 {
		fmt.Fprintf(w, "and %d more\n", r.More)
	}
	if d := r.Dropped; d != nil {
		fmt.Fprintf(w, "records up to %d were dropped (retention.audit_bytes, retention.audit_age); the oldest record is of %s\n",
			d.To, d.Until.Local().Format("2006-01-02 15:04:05"))
		if r.OK && !r.Proven {
			fmt.Fprintln(w, "drop not proven: only the log itself records it; "+
				"use --anchor with a newer head that was kept on another machine (`longterm audit --head`)")
		}
	}
	switch {
	case !r.OK:
		fmt.Fprintf(w, "%d records read; log damaged\n", r.Records)
	case r.Records == 0:
		fmt.Fprintln(w, "no records")
	case slices.Contains(anchors, r.Head):
		fmt.Fprintf(w, "%d records unchanged, none missing; newest %s\n", r.Records, r.Head)
	case len(anchors) > 0:
		newest := slices.MaxFunc(anchors, func(a, b audit.Head) int { return cmp.Compare(a.Seq, b.Seq) })
		fmt.Fprintf(w, "%d records consistent, none missing; unchanged up to %d; newest %s\n", r.Records, newest.Seq, r.Head)
	default:
		fmt.Fprintf(w, "%d records consistent, none missing; newest %s; "+
			"unchanged not proven: keep that head on another machine and use --anchor\n", r.Records, r.Head)
	}
}

// followAudit prints records, and new ones as they are written, until it is interrupted.
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
				auditTable(a.Stdout, columns, list[i:i+1], a.TableLook())
				columns = listing.WithoutHeads(columns)
			} else if err := json.NewEncoder(a.Stdout).Encode(&list[i]); err != nil {
				return err
			}
		}
		q.Await, q.Limit, q.Since = time.Minute, 10000, ""
	}
}

var auditColumns = []listing.Column{
	{Head: "SEQ", MinWidth: 6, AlignRight: true}, {Head: "TIME", Style: listing.AsFaint}, {Head: "KIND", MinWidth: 9}, {Head: "VERDICT", MinWidth: 8, Style: listing.VerdictStyle}, {Head: "BY", MinWidth: 16, ShrinkTo: 8},
	{Head: "SESSION", MinWidth: 10, ShrinkTo: 7}, {Head: "WHAT", ShrinkTo: 10},
}

func auditTable(w io.Writer, columns []listing.Column, list []audit.Record, look listing.TableFormat) {
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
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}

// auditDetail returns the details in parentheses of a record: rule, approval, parent, end, output.
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
