//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

func clientsVerb(a *app, c *cobra.Command) {
	var viewOnly, readWrite, detach []int
	c.Long = `List a session's clients: terminals, viewers and browsers that show it. Each line has the client's number,
kind, owner, permission (look or type), size, and the time of its last input.

  longterm clients work
  longterm clients work --look 2      # client 2 becomes view-only: its input is rejected, its bell rings
  longterm clients work --type 2      # client 2 may type again
  longterm clients work --detach 2    # client 2 is notified and detached

Use it when several users share a session. Agents cannot change clients. For lasting view-only access
create a link (` + "`longterm share`" + `) or a token without the right to type (` + "`longterm token`" + `).`
	f := c.Flags()
	f.IntSliceVar(&viewOnly, "look", nil, "`NUMBERS` of clients to make view-only")
	f.IntSliceVar(&readWrite, "type", nil, "`NUMBERS` of clients that may type again")
	f.IntSliceVar(&detach, "detach", nil, "`NUMBERS` of clients to detach (not viewers with several sessions: use --look)")
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		ctx := cmd.Context()
		seen := map[int]bool{}
		for _, n := range slices.Concat(viewOnly, readWrite, detach) {
			if seen[n] {
				return exit.Usagef("client %d: given more than once", n)
			}
			seen[n] = true
		}
		if err := errors.Join(
			changeClients(ctx, s, viewOnly, api.AttachedEdit{May: "look"}),
			changeClients(ctx, s, readWrite, api.AttachedEdit{May: "type"}),
			changeClients(ctx, s, detach, api.AttachedEdit{Detach: true}),
		); err != nil {
			return err
		}
		if len(detach) > 0 && !a.JSON { // detached clients may still be in the list for a moment
			return nil
		}
		list, err := s.Clients(ctx)
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { clientTable(w, cmd.Flags().Arg(0), list, time.Now(), a.TableLook()) })
	})
}

// changeClients applies an edit to the numbered clients of a session.
func changeClients(ctx context.Context, s *client.Session, numbers []int, e api.AttachedEdit) error {
	for _, n := range numbers {
		if err := s.ChangeClient(ctx, n, e); err != nil {
			return err
		}
	}
	return nil
}

// clientTable writes clients. Only a terminal gets a header: scripts read the lines.
func clientTable(w io.Writer, session string, list []api.Attached, now time.Time, look listing.TableFormat) {
	if len(list) == 0 {
		fmt.Fprintf(w, "no clients; attach with `longterm attach %s`\n", output.Printable(session))
		return
	}
	columns := []listing.Column{
		{Head: "N", Style: listing.AsBold}, {Head: "KIND"}, {Head: "OWNER", ShrinkTo: 8}, {Head: "MAY"}, {Head: "SIZE"}, {Head: "INPUT", Style: listing.AsFaint},
	}
	if look.Width == 0 {
		columns = listing.WithoutHeads(columns)
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		c := &list[i]
		size, typed := "-", "no input yet"
		if c.Cols > 0 {
			size = fmt.Sprintf("%dx%d", c.Cols, c.Rows)
		}
		if c.Typed != nil {
			typed = "typed " + output.Elapsed(max(0, now.Sub(*c.Typed)).Milliseconds()) + " ago"
		}
		rows = append(rows, []string{strconv.Itoa(c.N), c.Kind, output.Printable(output.OwnerText(c)), c.May + "s", size, typed})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
}
