//go:build unix

package fleetsim

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Run has simulated hosts be part of a fleet, of whose sessions so many change a second, until the context ends.
func Run(ctx context.Context, out io.Writer, o Options, rate int) error {
	f, err := Begin(ctx, o)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Fill()
	if err := f.Settle(ctx); err == nil {
		fmt.Fprintf(out, "%d hosts with %d sessions each are in the fleet; an interrupt ends them\n", o.Hosts, o.Sessions)
		change(ctx, f, o, rate)
	}
	left, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer done()
	if err := f.Leave(left); err != nil {
		return fmt.Errorf("simulated hosts are still in the registry, as away: %w", err)
	}
	fmt.Fprintln(out, "they have left the fleet")
	return nil
}

// change has sessions change until the context ends.
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
			_ = f.Tell(ctx, n/100) // a server that is away has it told of the next one
		}
	}
}
