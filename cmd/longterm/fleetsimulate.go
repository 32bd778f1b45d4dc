//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/fleetsim"
	"github.com/longterm-dev/longterm/store/fleet/ident"
)

func (a *app) fleetSimulate() *cobra.Command {
	var o fleetsim.Options
	var rate int
	c := &cobra.Command{Use: "simulate", Short: "Have simulated hosts in the fleet, for measuring without machines", Args: cobra.NoArgs}
	c.Long = `Have light hosts in this process be part of the fleet, until it is interrupted: each with a connection, an entry in the
registry, sessions that change, events, output and answers to searches, as real ones have, only that the sessions are made
up. It runs on the machine where the fleet was made, whose authority lets them in; they are named sim-1, sim-2 … and take
nothing by "fleet run". At the end they are taken out of the registry again.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.Check(); err != nil {
			return exit.Usage(err)
		}
		if rate < 0 || rate > 10000 {
			return exit.Usagef("--rate %d: give 0 to 10000", rate)
		}
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		s, err := dir.Settings()
		if err == nil {
			o.Authority, err = dir.Authority()
		}
		switch {
		case errors.Is(err, ident.ErrNone):
			return exit.Usagef("hosts are simulated on the machine where the fleet was made; `longterm fleet init` makes one")
		case err != nil:
			return err
		case s.Foreign:
			return exit.Usagef("this fleet uses an existing NATS, where hosts are not let in by their certificates alone")
		}
		o.Servers = s.Servers
		return a.simulate(cmd.Context(), o, rate)
	}
	f := c.Flags()
	f.IntVar(&o.Hosts, "hosts", 10, "how many hosts")
	f.IntVar(&o.Sessions, "sessions", 10, "sessions of each host")
	f.IntVar(&rate, "rate", 10, "sessions that change a second, of all hosts together; of each hundredth a command ends, too")
	return c
}

// leaveTime bounds how long is tried to take simulated hosts out of the registry.
const leaveTime = 30 * time.Second

func (a *app) simulate(ctx context.Context, o fleetsim.Options, rate int) error {
	f, err := fleetsim.Begin(ctx, o)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Fill()
	if err := f.Settle(ctx); err == nil {
		fmt.Fprintf(a.Stdout, "%d hosts with %d sessions each are in the fleet; an interrupt ends them\n", o.Hosts, o.Sessions)
		change(ctx, f, o, rate)
	}
	left, done := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
	defer done()
	if err := f.Leave(left); err != nil {
		return fmt.Errorf("simulated hosts are still in the registry, as away: %w", err)
	}
	fmt.Fprintln(a.Stdout, "they have left the fleet")
	return nil
}

// change has sessions change until the context ends.
func change(ctx context.Context, f *fleetsim.Fleet, o fleetsim.Options, rate int) {
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
