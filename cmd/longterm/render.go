package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/headless"
)

func renderCommand(a *app) *cobra.Command {
	r := headless.Renderer{Printer: &a.Printer, Stdin: a.stdin}
	c := &cobra.Command{
		Use: "render [FILE]", Short: "Turn terminal output into a screen, without a daemon", Args: cobra.MaximumNArgs(1),
		Long: "Read bytes that a program wrote to a terminal, from FILE or standard input, and print the screen they make.",
		RunE: func(_ *cobra.Command, args []string) error { return r.Run(args) },
	}
	r.Register(c.Flags())
	return a.JSONFlag(c)
}
