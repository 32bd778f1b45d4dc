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

// UntilLeft has a bench end in an orderly way when its terminal goes, too: what it started outlives terminals, as that is what is
// measured. Until it has put all away no signal ends it but a second interrupt, by a person who cannot wait.
func UntilLeft(c *cobra.Command) *cobra.Command {
	do := c.RunE
	if do == nil {
		return c
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		signals := make(chan os.Signal, 4)
		signal.Notify(signals, takeover.Leaving...)
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

// await ends a bench at a signal, and the program at a second interrupt.
func await(signals <-chan os.Signal, over <-chan struct{}, cancel func()) {
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
		case <-over:
			return
		}
	}
}
