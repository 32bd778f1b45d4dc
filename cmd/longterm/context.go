//go:build unix

package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/agentcontext"
	"github.com/longterm-dev/longterm/session/identity"
)

// consumersDir holds the files that record what each consumer of the context has read.
const consumersDir = "context"

func contextVerb(a *app, c *cobra.Command) {
	var ask agentcontext.Asking
	c.Long = "Print the commands that a user ran in shells since the last call, oldest first, with up to 2 KiB of output each.\n" +
		"Agents use it to catch up. Each consumer receives each command once; the first call returns the newest ten.\n" +
		"A running command is printed after it has ended. Lines that ran by exec are omitted. If there is nothing new,\n" +
		"nothing is printed.\n\n" +
		"  longterm context work --consumer reviewer"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			ask.Session = args[0]
		}
		ask.Consumer = cmp.Or(ask.Consumer, os.Getenv(identity.Env), "default")
		b, err := a.connect()
		if err != nil {
			return err
		}
		if err := b.dirs.Make(); err != nil {
			return err
		}
		return agentcontext.Take(cmd.Context(), b.client, filepath.Join(b.dirs.State, consumersDir), ask, func(t agentcontext.Taken) error {
			var failed error
			err := a.Print(t, func(w io.Writer) { _, failed = io.WriteString(w, t.Text()) })
			return cmp.Or(failed, err)
		})
	}
	f := c.Flags()
	f.StringVar(&ask.Consumer, "consumer", "", "`NAME` of the reader that receives each command once (default: $LONGTERM_AGENT, or default)")
	f.BoolVar(&ask.Peek, "peek", false, "no change of the read position: the next call prints the same")
}
