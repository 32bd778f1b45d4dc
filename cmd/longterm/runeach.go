//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
)

// runEach runs lines one after the other in a shell of their own, which is removed then.
func (a *app) runEach(cmd *cobra.Command, r *runFlags, args []string) error {
	switch {
	case len(args) == 0 || r.line != "":
		return exit.Usagef("--each is given lines: run --each LINE…")
	case r.Pipe || r.warm || r.Background:
		return exit.Usagef("--each runs lines in a shell on a terminal, and waits for them; leave --pipe, --warm and --background out")
	}
	call, err := r.Call(cmd, &a.settings().Exec, a.forPerson(), a.JSON)
	if err != nil {
		return err
	}
	n, err := r.StartFlags.Request(cmd, nil)
	if err != nil {
		return err
	}
	n.Temporary = !r.keep
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	info, err := b.client.NewSession(ctx, n)
	if err != nil {
		return exit.Refusal(err)
	}
	s := b.client.Session(info.ID)
	if !r.keep {
		defer func() {
			if err := s.Remove(context.WithoutCancel(ctx), true); err != nil && !isGone(err) {
				fmt.Fprintf(a.Stderr, "longterm: %v\n", err)
			}
		}()
	}
	return a.caller(b).Batch(ctx, s, &r.CallFlags, api.Batch{Call: call, Lines: args, Wait: true, StopOnError: r.stop})
}

func isGone(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNotFound
}
