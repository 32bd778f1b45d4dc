package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/headless"
)

func renderVerb(a *app, c *cobra.Command) {
	r := headless.Renderer{Printer: &a.Printer, Stdin: a.stdin}
	c.Long = "Read bytes that a program wrote to a terminal, from FILE or standard input, and print the screen they make."
	c.RunE = func(_ *cobra.Command, args []string) error { return r.Run(args) }
	r.Register(c.Flags())
}
