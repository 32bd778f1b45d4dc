//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/inboxlist"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

func inboxVerb(a *app, c *cobra.Command) {
	var all, everywhere bool
	var labels []string
	var by string
	c.Long = `List what needs your attention, in all sessions: approvals and questions that block a program, then failed runs,
then finished runs and messages of programs, oldest first. Each entry has an id and the commands that answer it or
show more.

  longterm inbox
  longterm inbox answer A7 once        # an approval: once, session, always or deny
  longterm inbox answer I3 y           # a question: types y and Enter
  longterm inbox snooze I4 2h
  longterm inbox done I5 I6

Runs and messages are listed if no client of yours showed the session since: attaching to it removes them. What is
done or snoozed stays so over restarts; what happens again is a new entry. See ` + "`longterm help inbox`" + `.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, missing, err := a.readInbox(cmd.Context(), b, everywhere, all, labels)
		switch {
		case err != nil:
			return err
		case by != "":
			groups := inboxlist.By(list, by)
			err = a.Print(groups, func(w io.Writer) { inboxlist.Groups(w, groups, by, a.TableLook()) })
		default:
			err = a.Print(list, func(w io.Writer) { inboxlist.List(w, list, a.TableLook()) })
		}
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, m := range missing[1:] {
			a.PrintError(m, a.JSON)
		}
		return missing[0]
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "done and snoozed entries too")
	f.BoolVar(&everywhere, "all-hosts", false, "entries of this host and all of hosts.names; silent hosts are reported")
	f.StringArrayVar(&labels, "label", nil, "only entries of sessions with this `LABEL`, NAME or NAME=VALUE; repeatable")
	f.StringVar(&by, "by", "", "counts by `LABEL` of the sessions, or by project, instead of entries")
	c.AddCommand(a.inboxAnswer(), a.inboxDone(), a.inboxSnooze())
}

// readInbox lists the entries of this host, the remote host, or all hosts, and the errors of hosts that do not answer.
func (a *app) readInbox(ctx context.Context, b *backend, everywhere, all bool, labels []string) (list []api.InboxItem, missing []error, err error) {
	if everywhere {
		h, err := a.hosts()
		if err != nil {
			return nil, nil, err
		}
		list, missing = h.InboxAll(ctx, b.options, all, labels)
	} else {
		list, err = b.client.Inbox(ctx, all, labels...)
		for i := range list {
			list[i].Host = a.host
		}
	}
	inboxlist.Join(list)
	return list, missing, err
}

func (a *app) inboxAnswer() *cobra.Command {
	var ans api.InboxAnswer
	c := &cobra.Command{Use: "answer ID ANSWER", Short: "Answer an approval or a question", Args: cobra.ExactArgs(2)}
	c.Long = `Answer an approval with once, session, always or deny, or a question of a program: ANSWER is typed, with Enter after
it, unless the program has asked a newer one. Secrets, menus and full-screen programs are answered in the
terminal (` + "`longterm attach S`" + `).

  longterm inbox answer A7 deny --feedback 'use the staging host'
  longterm inbox answer I3 y`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ans.Answer = args[1]
		b, err := a.connect()
		if err != nil {
			return err
		}
		it, err := b.client.AnswerInbox(cmd.Context(), args[0], ans)
		if err != nil {
			return err
		}
		return a.Print(it, func(w io.Writer) { fmt.Fprintf(w, "%s: answered\n", it.ID) })
	}
	c.ValidArgsFunction = a.completeInbox
	c.Flags().StringVar(&ans.Feedback, "feedback", "", "`TEXT` for the caller of an approval")
	return a.JSONFlag(c)
}

func (a *app) inboxDone() *cobra.Command {
	c := &cobra.Command{Use: "done ID…", Short: "Mark entries as done", Args: cobra.MinimumNArgs(1)}
	c.Long = "Mark entries as done: they are listed with --all only. Approvals cannot be done: answer or snooze them.\n\n  longterm inbox done I5 I6"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return a.markInbox(args, func(b *backend, id string) (api.InboxItem, error) { return b.client.MarkDone(cmd.Context(), id) })
	}
	c.ValidArgsFunction = a.completeInbox
	return a.JSONFlag(c)
}

func (a *app) inboxSnooze() *cobra.Command {
	c := &cobra.Command{Use: "snooze ID DURATION", Short: "Hide an entry for a time", Args: cobra.ExactArgs(2)}
	c.Long = "Hide an entry for a time of at most 30 days. 0 shows it again, also if it was done.\n\n  longterm inbox snooze I4 2h"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := time.ParseDuration(args[1])
		if err != nil || d < 0 {
			return exit.Usagef("%q: invalid duration; use one as in 30m, 2h or 24h, or 0", args[1])
		}
		return a.markInbox(args[:1], func(b *backend, id string) (api.InboxItem, error) { return b.client.Snooze(cmd.Context(), id, d) })
	}
	c.ValidArgsFunction = a.completeInbox
	return a.JSONFlag(c)
}

// markInbox marks entries, and prints them with --json.
func (a *app) markInbox(ids []string, mark func(*backend, string) (api.InboxItem, error)) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	list := []api.InboxItem{}
	var failed error
	for _, id := range ids {
		it, err := mark(b, id)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		list = append(list, it)
	}
	if len(list) == 0 {
		return failed
	}
	return errors.Join(failed, a.Print(list, func(io.Writer) {}))
}

// completeInbox completes ids of entries. It does not start the daemon.
func (a *app) completeInbox(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	b, err := a.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, err := b.quiet.Inbox(cmd.Context(), false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for i := range list {
		if strings.HasPrefix(strings.ToLower(list[i].ID), strings.ToLower(toComplete)) {
			ids = append(ids, list[i].ID+"\t"+output.Shorten(list[i].Text, 60))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
