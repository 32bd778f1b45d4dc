//go:build unix

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/session/api"
)

func pruneVerb(a *app, c *cobra.Command) {
	var perSession, total string
	var age, deadAge time.Duration
	var dead int
	c.Long = `Remove history that exceeds the given limits; at least one limit is required. Running sessions keep running, and
readers of removed output get a gap.

  longterm prune --dead-age 720h --total 10GiB

The daemon does the same every minute with its own limits (retention.* of the configuration): 2 GiB per session,
32 GiB in total, 2000 ended sessions.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		p := api.Prune{Dead: dead, SessionAgeMS: age.Milliseconds(), DeadAgeMS: deadAge.Milliseconds()}
		var err error
		if p.SessionBytes, err = flagvalues.Bytes(perSession); err != nil {
			return err
		}
		if p.TotalBytes, err = flagvalues.Bytes(total); err != nil {
			return err
		}
		if p == (api.Prune{}) {
			return exit.Usagef("no limit given; use one such as --dead-age 720h or --total 1GiB")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		stop := a.Working("removing history")
		r, err := b.client.Prune(cmd.Context(), p)
		stop()
		if err != nil {
			return err
		}
		return a.Print(r, func(w io.Writer) {
			fmt.Fprintf(w, "%d sessions removed, %d shortened, %d bytes freed\n", len(r.Removed), len(r.Cut), r.Bytes)
		})
	}
	f := c.Flags()
	f.StringVar(&perSession, "session", "", "maximum `SIZE` on disk per session, such as 500MB or 1GiB; its oldest output is removed")
	f.DurationVar(&age, "age", 0, "maximum age of output")
	f.StringVar(&total, "total", "", "maximum `SIZE` on disk of all sessions; ended ones are removed first, oldest first")
	f.IntVar(&dead, "dead", 0, "maximum `NUMBER` of ended sessions")
	f.DurationVar(&deadAge, "dead-age", 0, "maximum time since a session ended")
}
