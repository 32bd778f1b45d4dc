// Package bench measures longterm on the machine it runs on and checks what cannot be checked quickly: sessions
// beside tmux, emulators, the viewer, dialogues beside pexpect and expect, a corpus of commands in living shells
// (corpus/), the daemon killed again and again, everything for hours. Each bench is a command of its own, with an
// instance of its own (sessionBench) that is ended and removed with it.
//
// Figures are medians; compare ratios within one run, not absolute times.
package bench

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
)

// Program is the longterm that benches measure, and where they print.
type Program struct {
	*output.Printer
}

// Path returns the path of the executable: the longterm that started this program, else one in the same directory or in PATH.
func (p *Program) Path() (string, error) {
	if path := os.Getenv(companion.Env); path != "" {
		return path, nil
	}
	return companion.Find("longterm")
}

// Version returns the version of both programs, which are built together.
func (p *Program) Version() string { return shortcut.Version() }

// Command returns the program's command line.
func Command(p *output.Printer) *cobra.Command {
	root := &cobra.Command{
		Use: "ltbench", Short: "Measure longterm on this machine", SilenceErrors: true, SilenceUsage: true,
		Long: "Measure longterm on this machine, and compare it with others. `longterm bench` runs this program.",
	}
	for _, of := range Benches {
		root.AddCommand(UntilLeft(of(&Program{p})))
	}
	root.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return exit.Usagef("unknown measurement %q; `longterm bench --help` lists them", args[0])
		}
		return nil
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usage(err) })
	return root
}

// Main runs the program and exits.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := &output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}
	err := Command(p).ExecuteContext(ctx)
	stop()
	if err != nil && !exit.IsSilent(err) {
		p.Tell(err, slices.ContainsFunc(os.Args, func(arg string) bool { return arg == "--json" || strings.HasPrefix(arg, "--json=") }))
	}
	os.Exit(exit.Status(err))
}
