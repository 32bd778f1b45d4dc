//go:build unix

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/values"
	"github.com/longterm-dev/longterm/session/api"
)

func pruneVerb(a *app, c *cobra.Command) {
	var perSession, total string
	var age, deadAge time.Duration
	var dead int
	c.Long = `Drop history that exceeds the given limits; without a limit nothing is dropped. Running sessions keep
running, and readers of dropped output are told of the gap. The daemon does the same by itself every minute:
2 GiB a session, 32 GiB in all, 2000 ended sessions.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		p := api.Prune{Dead: dead, SessionAgeMS: age.Milliseconds(), DeadAgeMS: deadAge.Milliseconds()}
		var err error
		if p.SessionBytes, err = values.Bytes(perSession); err != nil {
			return err
		}
		if p.TotalBytes, err = values.Bytes(total); err != nil {
			return err
		}
		if p == (api.Prune{}) {
			return exit.Usagef("nothing to drop; give a limit, as in --dead-age 720h or --total 1GiB")
		}
		b, err := a.connect()
		if err != nil {
			return err
		}
		r, err := b.client.Prune(cmd.Context(), p)
		if err != nil {
			return err
		}
		return a.Print(r, func(w io.Writer) {
			fmt.Fprintf(w, "%d sessions removed, %d cut, %d bytes freed\n", len(r.Removed), len(r.Cut), r.Bytes)
		})
	}
	f := c.Flags()
	f.StringVar(&perSession, "session", "", "maximum bytes on disk of one session, as in 500MB or 1GiB: its oldest output is dropped")
	f.DurationVar(&age, "age", 0, "maximum age of output")
	f.StringVar(&total, "total", "", "maximum bytes on disk of all sessions: ended ones are dropped first, the oldest first")
	f.IntVar(&dead, "dead", 0, "maximum number of ended sessions")
	f.DurationVar(&deadAge, "dead-age", 0, "maximum time since a session ended")
}
