//go:build unix

package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func rmVerb(a *app, c *cobra.Command) {
	var force, discard, discardTree bool
	c.Long = `Remove sessions with their records, screens and output. A running session is rejected, unless --force ends it
first, as kill does.

  longterm rm old
  longterm rm --force build tests

A session whose draft has changes (longterm changes S) is rejected, unless --discard-draft discards them too.

With --force several sessions end at the same time. If one of the names is unknown, none is ended or removed. The
session in which the command runs is removed last.

The git worktree of a session (` + "`longterm new --worktree`" + `) is removed with it if it has no uncommitted changes, else it is
kept. --discard-worktree removes it in any case, and its branch if that was created with it.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if force && len(args) > 1 {
			return a.endAndRemove(cmd.Context(), args, discard, discardTree)
		}
		for _, ref := range args {
			s, err := a.session(ref)
			if err != nil {
				return err
			}
			info, err := s.Info(cmd.Context())
			if err != nil {
				return err
			}
			if err := remove(cmd.Context(), s, force, discard); err != nil {
				return err
			}
			if err := a.worktrees().Remove(cmd.Context(), &info, discardTree); err != nil {
				return err
			}
		}
		return nil
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "end running sessions first")
	c.Flags().BoolVar(&discardTree, "discard-worktree", false, "removal of the sessions' git worktrees with uncommitted changes and unmerged commits")
	c.Flags().BoolVar(&discard, "discard-draft", false, "discard the changes of their drafts too")
	a.Done(c)
}

// remove removes a session, with the changes of its draft if discard is set.
func remove(ctx context.Context, s *client.Session, force, discard bool) error {
	if discard {
		return s.RemoveWithDraft(ctx, force)
	}
	return s.Remove(ctx, force)
}

// endAndRemove ends several sessions at the same time, then removes them. One after the other, each could take its
// whole grace time.
func (a *app) endAndRemove(ctx context.Context, names []string, discard, discardTree bool) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	own := os.Getenv(hookSession) // removing this session also ends this program
	others := names
	if own != "" {
		others = nil
		for _, name := range names {
			s, err := b.client.Session(name).Info(ctx)
			if err != nil {
				return err
			}
			if s.ID != own {
				others = append(others, s.ID)
			}
		}
	}
	var done api.Killed
	if len(others) > 0 {
		if done, err = b.client.KillSeveral(ctx, api.KillSeveral{Sessions: others}); err != nil {
			return err
		}
	}
	for i := range done.Ended {
		id, why := done.Ended[i].ID, new(api.Error)
		switch err := remove(ctx, b.client.Session(id), true, discard); {
		case err == nil, isNotFound(err): // a temporary session without clients removes itself
			if err := a.worktrees().Remove(ctx, &done.Ended[i], discardTree); err != nil {
				return err
			}
		case errors.As(err, &why):
			done.Failed = append(done.Failed, api.Failed{ID: id, Error: *why})
		default:
			return err
		}
	}
	if len(others) < len(names) {
		if err := remove(ctx, b.client.Session(own), true, discard); err != nil {
			return err
		}
	}
	return a.reportFailures(done.Failed)
}
