//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/approvals"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

var approvalAnswers = []string{"once", "session", "always", "reject"}

func approvalsVerb(a *app, c *cobra.Command) {
	c.Long = `List approval requests: commands that a user must allow before they run, oldest first. A request survives
its caller, the daemon and an upgrade; it expires when no caller waits for it. Answers: once (this request),
session (similar commands in this session), always (adds a rule to policy.toml) and reject.

  longterm approvals                       # list pending requests
  longterm approvals answer A7 session`
	a.listsApprovals(c)
	ls := &cobra.Command{Use: "ls", Short: "List approval requests or session grants", Args: cobra.NoArgs}
	a.listsApprovals(ls)
	c.AddCommand(a.JSONFlag(ls), a.approvalsShow(), a.approvalsAnswer(), a.approvalsWatch(), a.approvalsRevoke())
}

// listsApprovals gives c the flags and the function that list approval requests.
func (a *app) listsApprovals(c *cobra.Command) {
	var q client.ApprovalQuery
	var grants, each bool
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		if grants {
			list, err := b.client.Grants(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(list, func(w io.Writer) { approvals.Grants(w, list) })
		}
		list, err := b.client.Approvals(cmd.Context(), q)
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { approvals.List(w, list, q.All || each, a.TableLook()) })
	}
	f := c.Flags()
	f.BoolVar(&q.All, "all", false, "answered and expired requests too")
	f.BoolVar(&each, "each", false, "one line per request, without groups")
	f.StringVar(&q.Session, "session", "", "only requests of this `SESSION`")
	f.IntVar(&q.Limit, "limit", 0, "maximum `NUMBER` of requests, newest first (default 1000)")
	f.BoolVar(&grants, "grants", false, "session grants instead of requests")
}

func (a *app) approvalsShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID…", Short: "Describe approval requests", Args: cobra.MinimumNArgs(1)}
	c.ValidArgsFunction = a.completeApproval
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		for _, id := range args {
			v, err := b.client.Approval(cmd.Context(), id)
			if err == nil {
				err = a.Print(v, func(w io.Writer) { approvals.Show(w, &v) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return a.JSONFlag(c)
}

func (a *app) approvalsAnswer() *cobra.Command {
	var ans api.ApprovalsAnswer
	c := &cobra.Command{Use: "answer (ID… | --group GROUP | --all) (once | session | always | reject)", Short: "Answer approval requests"}
	c.Args = cobra.MinimumNArgs(1)
	c.Long = `Answer pending approval requests with once, session, always or reject.

  longterm approvals answer A7 once
  longterm approvals answer --all reject --feedback "use the staging host"

If a request is already answered or expired, the exit status is 4. always adds a rule to policy.toml:
` + "`longterm approvals show ID`" + ` shows the rule, and --rule replaces it.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ans.Answer, ans.IDs = args[len(args)-1], args[:len(args)-1]
		switch {
		case !slices.Contains(approvalAnswers, ans.Answer):
			return exit.Usagef("%q: invalid answer; the last argument must be one of %s", ans.Answer, strings.Join(approvalAnswers, ", "))
		case len(ans.IDs) == 0 && ans.Group == "" && !ans.All:
			return exit.Usagef("no approval given; use ids as in `longterm approvals answer A7 %s`, --group or --all", ans.Answer)
		case len(ans.IDs) > 0 && (ans.Group != "" || ans.All), ans.Group != "" && ans.All:
			return exit.Usagef("ids, --group and --all exclude each other")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		done, err := b.client.AnswerApprovals(cmd.Context(), ans)
		if err != nil {
			return err
		}
		err = a.Print(done, func(w io.Writer) { approvals.PrintAnswered(w, &done) })
		for i := range done.Failed {
			err = errors.Join(err, exit.With(done.Failed[i].Error.ExitStatus(), &done.Failed[i].Error))
			break
		}
		return err
	}
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		list, how := a.completeApproval(cmd, args, toComplete)
		for _, word := range approvalAnswers {
			if strings.HasPrefix(word, toComplete) {
				list = append(list, word)
			}
		}
		return list, how
	}
	f := c.Flags()
	f.StringVar(&ans.Feedback, "feedback", "", "`TEXT` for the caller")
	f.StringVar(&ans.Rule, "rule", "", "with always: `RULE` to add, such as 'git push'")
	f.StringVar(&ans.Group, "group", "", "all pending requests of this `GROUP` (shown by ls)")
	f.BoolVar(&ans.All, "all", false, "all pending requests")
	return a.JSONFlag(c)
}

func (a *app) approvalsRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke GRANT…", Short: "Revoke session grants (see `ls --grants`)", Args: cobra.MinimumNArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		for _, id := range args {
			if err := b.client.RevokeGrant(cmd.Context(), id); err != nil {
				return err
			}
		}
		return nil
	}
	return a.Done(c)
}

func (a *app) approvalsWatch() *cobra.Command {
	c := &cobra.Command{Use: "watch", Short: "Watch approval requests and answer them", Args: cobra.NoArgs}
	c.Long = `Show approval requests when they arrive. On a terminal this is a live list: keys 1 to 4 answer the selected
request (once, session, always, reject), arrows, PgUp, PgDn, Home and End select, Enter shows all details, q quits.
Key 4 prompts for feedback: Enter rejects, Escape goes back. Many requests are grouped: an answer covers all
requests that the group has at that moment; Enter lists them, and Tab shows each separately. The list survives a
restart of the daemon.

Without a terminal each change is printed as a line, with --json as an event; pending requests come first.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		if a.isInteractive() {
			return a.watchLive(cmd.Context(), b.client)
		}
		return a.watchLines(cmd.Context(), b.client)
	}
	return a.JSONFlag(c)
}

// watchLines prints the pending requests and then each change, across restarts of the daemon.
func (a *app) watchLines(ctx context.Context, c *client.Client) error {
	started, printed := false, map[string]bool{} // printed: ids that were printed as pending
	put := func(e api.Event) error {
		e.Session = nil
		printed[e.Approval.ID] = true
		return a.PrintCompact(e, func(w io.Writer) { approvals.Line(w, e.Approval) })
	}
	err := c.FollowEvents(ctx, func(e api.Event) error {
		if !started || e.Kind == "lost" { // the subscription is active: list what is pending, later changes arrive as events
			started = true
			list, err := c.Approvals(ctx, client.ApprovalQuery{})
			for i := 0; err == nil && i < len(list); i++ {
				if !printed[list[i].ID] {
					err = put(api.Event{Seq: e.Seq, Kind: "approval", Approval: &list[i]})
				}
			}
			return err
		}
		if e.Approval == nil || e.Kind == "approval" && printed[e.Approval.ID] {
			return nil
		}
		return put(e)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watchLive shows the live list on the terminal.
func (a *app) watchLive(ctx context.Context, c *client.Client) error {
	t, err := termio.Open(a.stdin, os.Stdout)
	if err != nil {
		return err
	}
	t.Enter(true)
	defer t.Restore(false)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan struct{}, 1)
	ended := make(chan error, 1)
	go func() {
		defer close(changed)
		ended <- c.FollowEvents(ctx, func(e api.Event) error {
			if e.Approval != nil || e.Kind == "lost" || e.Kind == "listening" {
				select {
				case changed <- struct{}{}:
				default:
				}
			}
			return nil
		})
	}()
	keys := make(chan []byte)
	go t.Keys(keys, ctx.Done())
	if err := approvals.Run(ctx, approvalSource{c}, t, keys, changed, t.Resized); err != nil {
		return err
	}
	select {
	case err := <-ended:
		if ctx.Err() == nil {
			return err
		}
	default:
	}
	return nil
}

// approvalSource reads requests from the daemon for the live list, and answers them.
type approvalSource struct{ c *client.Client }

// Pending implements approvals.Source.
func (s approvalSource) Pending(ctx context.Context) ([]api.Approval, error) {
	return s.c.Approvals(ctx, client.ApprovalQuery{})
}

// Answer implements approvals.Source.
func (s approvalSource) Answer(ctx context.Context, id string, ans api.ApprovalAnswer) (api.Approval, error) {
	return s.c.AnswerApproval(ctx, id, ans)
}

// AnswerAll implements approvals.Source.
func (s approvalSource) AnswerAll(ctx context.Context, ids []string, ans api.ApprovalAnswer) (api.ApprovalsAnswered, error) {
	return s.c.AnswerApprovals(ctx, api.ApprovalsAnswer{IDs: ids, ApprovalAnswer: ans})
}

// completeApproval completes ids of pending requests. It does not start the daemon.
func (a *app) completeApproval(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	b, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := b.quiet.Approvals(cmd.Context(), client.ApprovalQuery{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for i := range list {
		if strings.HasPrefix(strings.ToLower(list[i].ID), strings.ToLower(toComplete)) {
			ids = append(ids, list[i].ID+"\t"+output.Shorten(approvals.What(&list[i]), 60))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
