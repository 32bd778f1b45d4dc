//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func clientsVerb(a *app, c *cobra.Command) {
	var looks, types, leaves []int
	c.Long = `List who is attached to a session or has it on the screen: its number, what it is, whose, whether it may type,
and when it typed last.

  longterm clients work
  longterm clients work --look 2      # what client 2 types does not reach the session any more; its bell rings
  longterm clients work --type 2      # again
  longterm clients work --detach 2    # it leaves, and is told

This keeps people who share a session out of each other's way; it is for a person to say, not for an agent. Who may not
type whatever happens gets a link to look (longterm share) or a token without that right (longterm token).`
	f := c.Flags()
	f.IntSliceVar(&looks, "look", nil, "have the clients with these numbers look only")
	f.IntSliceVar(&types, "type", nil, "let them type again")
	f.IntSliceVar(&leaves, "detach", nil, "have them leave; a viewer that shows several sessions is refused: have it --look")
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		ctx := cmd.Context()
		said := map[int]bool{}
		for _, n := range slices.Concat(looks, types, leaves) {
			if said[n] {
				return exit.Usagef("client %d is told two things: name it once", n)
			}
			said[n] = true
		}
		if err := errors.Join(
			changeClients(ctx, s, looks, api.AttachedEdit{May: "look"}),
			changeClients(ctx, s, types, api.AttachedEdit{May: "type"}),
			changeClients(ctx, s, leaves, api.AttachedEdit{Detach: true}),
		); err != nil {
			return err
		}
		if len(leaves) > 0 && !a.JSON { // they are leaving: a list would have them still
			return nil
		}
		list, err := s.Clients(ctx)
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { clientTable(w, cmd.Flags().Arg(0), list, time.Now()) })
	})
}

func changeClients(ctx context.Context, s *client.Session, numbers []int, e api.AttachedEdit) error {
	for _, n := range numbers {
		if err := s.ChangeClient(ctx, n, e); err != nil {
			return err
		}
	}
	return nil
}

func clientTable(w io.Writer, session string, list []api.Attached, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintf(w, "no clients; `longterm attach %s` is one\n", output.Printable(session))
		return
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i := range list {
		c := &list[i]
		size, typed := "-", "has not typed"
		if c.Cols > 0 {
			size = fmt.Sprintf("%dx%d", c.Cols, c.Rows)
		}
		if c.Typed != nil {
			typed = "typed " + output.Elapsed(max(0, now.Sub(*c.Typed)).Milliseconds()) + " ago"
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%ss\t%s\t%s\n", c.N, c.Kind, output.Printable(output.Whose(c)), c.May, size, typed)
	}
	_ = tw.Flush()
}
