//go:build unix

package fleetsim

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Run simulates hosts of a fleet until the context ends; rate sessions change per second.
func Run(ctx context.Context, out io.Writer, o Options, rate int) error {
	f, err := Start(ctx, o)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Fill()
	if err := f.Settle(ctx); err == nil {
		fmt.Fprintf(out, "%d hosts with %d sessions each are in the fleet; press Ctrl-C to stop\n", o.Hosts, o.Sessions)
		change(ctx, f, o, rate)
	}
	left, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer done()
	if err := f.Leave(left); err != nil {
		return fmt.Errorf("simulated hosts remain in the registry as unreachable: %w", err)
	}
	fmt.Fprintln(out, "the simulated hosts have left the fleet")
	return nil
}

// change changes rate sessions per second until the context ends.
func change(ctx context.Context, f *Fleet, o Options, rate int) {
	if rate == 0 || o.Sessions == 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.Change(n, fmt.Sprintf("make -j2 all # %d", n))
		if n%100 == 0 {
			_ = f.Complete(ctx, n/100) // if the server is unreachable, the next completion is published
		}
	}
}
