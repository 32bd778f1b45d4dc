//go:build unix

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func shareVerb(a *app, c *cobra.Command) {
	c.Long = `Print a link that shows one session in a browser to whoever has it: to look, or to type too (--type), for a
day (--hours). The page is served as by "longterm web". Secrets in output are masked; lines that are typed by such a
link are judged as an agent's are. Where nobody can reach this machine, a relay (--relay; "longterm relay") passes
things on: it has no key, which stands in the link's part that is sent to nobody (docs/web.md). The link is in "longterm token ls", and "longterm token revoke" ends it at once.`
	var o api.Share
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		if o.Hours < 1 || o.Hours > 9600 {
			return exit.Usagef("--hours %d: give 1 to 9600", o.Hours)
		}
		v, err := s.Share(cmd.Context(), o)
		if err != nil {
			return err
		}
		return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, v.Link) })
	})
	f := c.Flags()
	f.BoolVar(&o.Type, "type", false, "whoever has the link may type")
	f.StringVar(&o.Relay, "relay", "", "have it passed on, sealed, by the relay at this address: https://relay.example.org")
	f.IntVar(&o.Hours, "hours", 24, "how long it counts")
}
