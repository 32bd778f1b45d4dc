//go:build unix

package bench

import (
	"errors"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fleetsim"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/spf13/cobra"
)

// simulateCommand has light hosts in the fleet of this machine.
func simulateCommand(p *Program) *cobra.Command {
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
		dirs, err := paths.Default()
		if err != nil {
			return err
		}
		dir := ident.Dir(dirs.Fleet())
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
		return fleetsim.Run(cmd.Context(), p.Stdout, o, rate)
	}
	f := c.Flags()
	f.IntVar(&o.Hosts, "hosts", 10, "how many hosts")
	f.IntVar(&o.Sessions, "sessions", 10, "sessions of each host")
	f.IntVar(&rate, "rate", 10, "sessions that change a second, of all hosts together; of each hundredth a command ends, too")
	return c
}
