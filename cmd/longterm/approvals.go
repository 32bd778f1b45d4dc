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
	c.Long = `List what a person has to allow before it is run, oldest first. Each approval outlives whoever asked, the
daemon, and an upgrade; it is gone when nobody waits for it any more. Answers: once (this, now), session (such
commands in this session), always (by a rule that is written into policy.toml) and reject.`
	a.listsApprovals(c)
	ls := &cobra.Command{Use: "ls", Short: "List approvals, or what was allowed for sessions", Args: cobra.NoArgs}
	a.listsApprovals(ls)
	c.AddCommand(a.JSONFlag(ls), a.approvalsShow(), a.approvalsAnswer(), a.approvalsWatch(), a.approvalsRevoke())
}

// listsApprovals makes a verb one that lists them.
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
		return a.Print(list, func(w io.Writer) { approvals.List(w, list, q.All || each, termio.Width(a.Stdout)) })
	}
	f := c.Flags()
	f.BoolVar(&q.All, "all", false, "those that were answered or are gone too")
	f.BoolVar(&each, "each", false, "a line for each, however many there are")
	f.StringVar(&q.Session, "session", "", "of one session")
	f.IntVar(&q.Limit, "limit", 0, "at most this many, the newest (default 1000)")
	f.BoolVar(&grants, "grants", false, "what was allowed for sessions, instead")
}

func (a *app) approvalsShow() *cobra.Command {
	c := &cobra.Command{Use: "show ID…", Short: "Describe approvals: each command, who asks, and what each answer would allow", Args: cobra.MinimumNArgs(1)}
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
	c := &cobra.Command{Use: "answer (ID… | --group GROUP | --all) (once | session | always | reject)", Short: "Answer approvals"}
	c.Args = cobra.MinimumNArgs(1)
	c.Long = `Answer approvals. An approval that was answered already, or that nobody waits for any more, is not answered again:
the exit status is 4 then. always writes a rule into policy.toml: "longterm approvals show ID" shows it first, and
--rule edits it.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ans.Answer, ans.IDs = args[len(args)-1], args[:len(args)-1]
		switch {
		case !slices.Contains(approvalAnswers, ans.Answer):
			return exit.Usagef("%q is no answer; the last word is one of %s", ans.Answer, strings.Join(approvalAnswers, ", "))
		case len(ans.IDs) == 0 && ans.Group == "" && !ans.All:
			return exit.Usagef("which? give ids as in `answer A7 %s`, --group, or --all", ans.Answer)
		case len(ans.IDs) > 0 && (ans.Group != "" || ans.All), ans.Group != "" && ans.All:
			return exit.Usagef("give ids, --group or --all; one of them")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		done, err := b.client.AnswerApprovals(cmd.Context(), ans)
		if err != nil {
			return err
		}
		err = a.Print(done, func(w io.Writer) { approvals.Answered(w, &done) })
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
	f.StringVar(&ans.Feedback, "feedback", "", "what to tell whoever asked")
	f.StringVar(&ans.Rule, "rule", "", "with always: the rule to write, as in 'git push'")
	f.StringVar(&ans.Group, "group", "", "all that are pending in this `GROUP`, as ls shows it")
	f.BoolVar(&ans.All, "all", false, "all that are pending")
	return a.JSONFlag(c)
}

func (a *app) approvalsRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke GRANT…", Short: "Take back what was allowed for a session (`ls --grants`)", Args: cobra.MinimumNArgs(1)}
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
	c := &cobra.Command{Use: "watch", Short: "Show approvals as they come, with keys to answer them", Args: cobra.NoArgs}
	c.Long = `Show what is asked for as it comes. On a terminal it is a list that lives: 1 to 4 answer the chosen approval (once,
session, always, reject), arrows, PgUp, PgDn, Home and End choose, Enter shows all of it, q ends. 4 asks what to tell
whoever asked: Enter rejects, Escape goes back. Many are shown by group: an answer is then for all of the group that
were there, which Enter lists, and Tab shows each by itself. It goes on over a daemon that is replaced or dies.
Elsewhere each change is a line; with --json an event, after those that are pending.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		if a.forPerson() {
			return a.watchLive(cmd.Context(), b.client)
		}
		return a.watchLines(cmd.Context(), b.client)
	}
	return a.JSONFlag(c)
}

// watchLines prints those that are pending, and then what happens, over daemons that are replaced or die.
func (a *app) watchLines(ctx context.Context, c *client.Client) error {
	begun, told := false, map[string]bool{} // told: those that were printed as pending
	put := func(e api.Event) error {
		e.Session = nil
		told[e.Approval.ID] = true
		return a.PrintCompact(e, func(w io.Writer) { approvals.Line(w, e.Approval) })
	}
	err := c.FollowEvents(ctx, func(e api.Event) error {
		if !begun || e.Kind == "lost" { // it listens: what is pending now, and everything after it
			begun = true
			list, err := c.Approvals(ctx, client.ApprovalQuery{})
			for i := 0; err == nil && i < len(list); i++ {
				if !told[list[i].ID] {
					err = put(api.Event{Seq: e.Seq, Kind: "approval", Approval: &list[i]})
				}
			}
			return err
		}
		if e.Approval == nil || e.Kind == "approval" && told[e.Approval.ID] {
			return nil
		}
		return put(e)
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watchLive is the list that lives.
func (a *app) watchLive(ctx context.Context, c *client.Client) error {
	t, err := termio.Open(a.stdin, os.Stdout)
	if err != nil {
		return err
	}
	t.Take(true)
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

// approvalSource feeds the list from the daemon.
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

// completeApproval completes ids of those that are pending. It starts nothing.
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
