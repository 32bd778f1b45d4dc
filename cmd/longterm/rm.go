//go:build unix

package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
)

func rmVerb(a *app, c *cobra.Command) {
	var force bool
	c.Long = `Forget sessions: records, screens and output. One that runs is refused unless --force ends it first, as "kill" does;
several end at the same time, and if one of the names is no session's none of them is ended or removed. The session in
which it is run goes last.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if force && len(args) > 1 {
			return a.endAndRemove(cmd.Context(), args)
		}
		for _, ref := range args {
			s, err := a.session(ref)
			if err != nil {
				return err
			}
			if err := s.Remove(cmd.Context(), force); err != nil {
				return err
			}
		}
		return nil
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "end a session that runs")
	a.Done(c)
}

// endAndRemove removes sessions, ended at the same time before: one after the other, each may take its grace.
func (a *app) endAndRemove(ctx context.Context, names []string) error {
	b, err := a.connect()
	if err != nil {
		return err
	}
	own := os.Getenv(hookSession) // its end is this program's too
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
		switch err := b.client.Session(id).Remove(ctx, true); {
		case err == nil, isGone(err): // a temporary one that nobody looks at goes by itself
		case errors.As(err, &why):
			done.Failed = append(done.Failed, api.Failed{ID: id, Error: *why})
		default:
			return err
		}
	}
	if len(others) < len(names) {
		if err := b.client.Session(own).Remove(ctx, true); err != nil {
			return err
		}
	}
	return a.failed(done.Failed)
}
