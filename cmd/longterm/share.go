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

// shareVerb sets up the verb that shares a session by a link.
func shareVerb(a *app, c *cobra.Command) {
	c.Long = `Print a link that shows one session in a browser, view-only or with input (--type), for a day (--hours). Any person
with the link can open it.

  longterm share work
  longterm share work --relay https://relay.example.org

The page is served as by ` + "`longterm web`" + `. Secrets in output are redacted, and lines typed through the link are checked
like an agent's. If this machine is not reachable, a relay (` + "`longterm relay`" + `) forwards ciphertext: the key is in a
part of the link that browsers never send (` + "`longterm help web`" + `). ` + "`longterm token ls`" + ` lists the link, and
` + "`longterm token revoke`" + ` ends it at once.`
	var o api.Share
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		if o.Hours < 1 || o.Hours > 9600 {
			return exit.Usagef("--hours %d: out of range (1 to 9600)", o.Hours)
		}
		v, err := s.Share(cmd.Context(), o)
		if err != nil {
			return err
		}
		return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, v.Link) })
	})
	f := c.Flags()
	f.BoolVar(&o.Type, "type", false, "input through the link too")
	f.StringVar(&o.Relay, "relay", "", "`URL` of a relay that forwards the session encrypted, such as https://relay.example.org")
	f.IntVar(&o.Hours, "hours", 24, "validity in hours")
}
