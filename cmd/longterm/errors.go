//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/sourcepos"
	"github.com/longterm-dev/longterm/session/api"
)

func errorsVerb(a *app, c *cobra.Command) {
	open := 0
	c.Long = `List the errors in a session's output as FILE:LINE:COLUMN: MESSAGE: those of the newest failed command that
printed some, or of the session's program. Without S, the session with the newest errors is used.

  longterm errors build
  vim -q <(longterm errors build)
  longterm errors build --open 2

File names are relative to the command's directory, or to the directory that make, ninja or cmake --build -v
enter ("make: Entering directory '/src/lib'"). If several directories are possible, the one that has the file
is used, if only one has it.

--open opens an error in an editor: editor.command of the configuration, else $VISUAL or $EDITOR. The exit status
is 1 if there are no errors.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if open < 0 {
			return exit.Usagef("--open %d: invalid number; the first error is 1", open)
		}
		list, err := a.errorPlaces(cmd.Context(), args)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("open") {
			return a.openPlace(cmd.Context(), list, open)
		}
		if err := a.Print(append([]sourcepos.Place{}, list...), func(w io.Writer) {
			for i := range list {
				fmt.Fprintln(w, output.Printable(list[i].String()))
			}
		}); err != nil {
			return err
		}
		if len(list) == 0 {
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	c.Flags().IntVar(&open, "open", 1, "open error `NUMBER` in an editor; without a number the first")
	c.Flags().Lookup("open").NoOptDefVal = "1"
}

// lastSessions limits how many sessions are searched for the newest errors.
const lastSessions = 16

// errorPlaces returns the errors of the given session, or of the session that printed the newest.
func (a *app) errorPlaces(ctx context.Context, args []string) ([]sourcepos.Place, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		return sourcepos.InSession(ctx, b.client, args[0], a.host)
	}
	all, err := b.client.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y api.Session) int { return lastWrite(&y).Compare(lastWrite(&x)) })
	for i := range all[:min(len(all), lastSessions)] {
		list, err := sourcepos.InSession(ctx, b.client, all[i].ID, a.host)
		if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodeNotFound {
			continue // removed in the meantime
		}
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	return nil, nil
}

func lastWrite(s *api.Session) time.Time {
	if s.LastOutput == nil {
		return s.Created
	}
	return *s.LastOutput
}

// openPlace opens the n-th error in the user's editor.
func (a *app) openPlace(ctx context.Context, list []sourcepos.Place, n int) error {
	if n < 1 || n > len(list) {
		return fmt.Errorf("error %d not found: %d errors with a file; see `longterm errors`", n, len(list))
	}
	e := sourcepos.Editor{Template: a.settings().Editor.Command, Stdin: a.stdin}
	return e.Open(ctx, &list[n-1])
}
