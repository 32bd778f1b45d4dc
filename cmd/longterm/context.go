//go:build unix

package main

import (
	"cmp"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/handover"
)

// consumersDir is where it is kept what consumers of the context have taken.
const consumersDir = "context"

func contextVerb(a *app, c *cobra.Command) {
	var ask handover.Asking
	c.Long = "Print what a person ran in shells since this was last asked, oldest first, with 2 KiB of each output: for an\n" +
		"agent to know what happened meanwhile. Each command is handed over once to each consumer; the first time it is\n" +
		"the newest ten. A command that runs is handed over when it has ended. What was given to shells by exec is left\n" +
		"out. With nothing new nothing is printed."
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			ask.Session = args[0]
		}
		ask.Consumer = cmp.Or(ask.Consumer, os.Getenv(actor.Env), "default")
		b, err := a.connect()
		if err != nil {
			return err
		}
		if err := b.dirs.Make(); err != nil {
			return err
		}
		return handover.Take(cmd.Context(), b.client, filepath.Join(b.dirs.State, consumersDir), ask, func(t handover.Taken) error {
			var failed error
			err := a.Print(t, func(w io.Writer) { _, failed = io.WriteString(w, t.Text()) })
			return cmp.Or(failed, err)
		})
	}
	f := c.Flags()
	f.StringVar(&ask.Consumer, "consumer", "", "who asks, a name; each is handed everything once (default: LONGTERM_AGENT, or default)")
	f.BoolVar(&ask.Peek, "peek", false, "take nothing: the same is handed over the next time")
}
