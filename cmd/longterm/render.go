package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/renderrun"
)

func renderVerb(a *app, c *cobra.Command) {
	r := renderrun.Renderer{Printer: &a.Printer, Stdin: a.stdin}
	c.Long = "Read the bytes that a program wrote to a terminal, from FILE or standard input, and print the resulting screen.\n\n" +
		"  longterm render session.raw"
	c.RunE = func(_ *cobra.Command, args []string) error { return r.Run(args) }
	r.Register(c.Flags())
}
