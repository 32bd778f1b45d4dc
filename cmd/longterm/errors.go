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
	"github.com/longterm-dev/longterm/cmd/internal/places"
	"github.com/longterm-dev/longterm/session/api"
)

func errorsVerb(a *app, c *cobra.Command) {
	open := 0
	c.Long = `List the errors that a session printed as places in files: FILE:LINE:COLUMN: MESSAGE, those of the newest
command that failed with some, or of the session's program. Without S it is the session with the newest errors.
Editors read the list, as in: vim -q <(longterm errors build)
A file is named from the directory of the command, or from the one that make, ninja, cmake --build -v and their
like say that they enter ("make: Entering directory '/src/lib'"). Where makes worked in several at a time it is the
one that has the file, if only one has.

--open opens one in an editor: $VISUAL or $EDITOR, or what editor.command of the configuration says. Exit status 1
when there is none.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if open < 0 {
			return exit.Usagef("--open %d is no number of an error; the first is 1", open)
		}
		list, err := a.errorPlaces(cmd.Context(), args)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("open") {
			return a.openPlace(cmd.Context(), list, open)
		}
		if err := a.Print(append([]places.Place{}, list...), func(w io.Writer) {
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
	c.Flags().IntVar(&open, "open", 1, "open the N-th one in an editor (--open alone: the first)")
	c.Flags().Lookup("open").NoOptDefVal = "1"
}

// lastSessions bounds those that are looked through for the newest errors.
const lastSessions = 16

// errorPlaces are the errors of a session, or of the one that printed the newest.
func (a *app) errorPlaces(ctx context.Context, args []string) ([]places.Place, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	if len(args) > 0 {
		return places.InSession(ctx, b.client, args[0], a.host)
	}
	all, err := b.client.List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(x, y api.Session) int { return lastWrite(&y).Compare(lastWrite(&x)) })
	for i := range all[:min(len(all), lastSessions)] {
		list, err := places.InSession(ctx, b.client, all[i].ID, a.host)
		if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodeNotFound {
			continue // it was removed meanwhile
		}
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	return nil, nil
}

func lastWrite(s *api.Session) time.Time {
	if s.LastWrite == nil {
		return s.Created
	}
	return *s.LastWrite
}

// openPlace opens the n-th place in the person's editor.
func (a *app) openPlace(ctx context.Context, list []places.Place, n int) error {
	if n < 1 || n > len(list) {
		return fmt.Errorf("there is no error %d with a place in a file; there are %d", n, len(list))
	}
	e := places.Editor{Template: a.settings().Editor.Command, Stdin: a.stdin}
	return e.Open(ctx, &list[n-1])
}
