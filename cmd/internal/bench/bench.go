// Package bench measures longterm on the machine it runs on and checks what cannot be checked quickly: sessions
// compared with tmux, emulators, the viewer, dialogues compared with pexpect and expect, a corpus of commands in real
// shells (corpus/), the daemon killed repeatedly, everything for hours. Each bench is a separate command and uses a
// separate instance (sessionBench), which it ends and removes.
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
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/output"
)

// Program finds the longterm that benches measure. Its Printer receives their results.
type Program struct {
	*output.Printer
}

// Path returns the path of the measured executable: the longterm that started this program, else one in the same directory or in
// PATH.
func (p *Program) Path() (string, error) {
	if path := os.Getenv(companion.Env); path != "" {
		return path, nil
	}
	return companion.Find("longterm")
}

// Version returns the version of both programs, which are built together.
func (p *Program) Version() string { return fastpath.Version() }

// Command returns the program's command line.
func Command(printer *output.Printer) *cobra.Command {
	root := &cobra.Command{
		Use: "ltbench", Short: "Measure longterm on this machine", SilenceErrors: true, SilenceUsage: true,
		Long: "Measure longterm on this machine, and compare it with others. `longterm bench` runs this program.",
	}
	for _, newCommand := range Benches {
		root.AddCommand(CleanUpOnHangup(newCommand(&Program{printer})))
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
		p.PrintError(err, slices.ContainsFunc(os.Args, func(arg string) bool { return arg == "--json" || strings.HasPrefix(arg, "--json=") }))
	}
	os.Exit(exit.Status(err))
}
