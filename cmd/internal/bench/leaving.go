//go:build unix

package bench

import (
	"context"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/session/api"
)

// CleanUpOnHangup makes a bench clean up when its terminal closes: its sessions would outlive the terminal. Until the cleanup
// is done, only a second interrupt ends it.
func CleanUpOnHangup(c *cobra.Command) *cobra.Command {
	do := c.RunE
	if do == nil {
		return c
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		signals := make(chan os.Signal, 4)
		signal.Notify(signals, takeover.TerminationSignals...)
		over, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			await(signals, over, cancel)
		}()
		cmd.SetContext(ctx)
		err := do(cmd, args)
		signal.Stop(signals)
		close(over)
		<-done
		return err
	}
	return c
}

// await cancels a bench at the first signal, and exits the program at a second interrupt.
func await(signals <-chan os.Signal, done <-chan struct{}, cancel func()) {
	for interrupts := 0; ; {
		select {
		case s := <-signals:
			cancel()
			if s != os.Interrupt {
				continue
			}
			if interrupts++; interrupts > 1 {
				os.Exit(api.ExitInterrupted)
			}
		case <-done:
			return
		}
	}
}
