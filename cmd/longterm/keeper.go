//go:build unix

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/paths"
)

// keeperVerb is the keeper's process. It is started by clients, never by hand.
func keeperVerb(a *app, c *cobra.Command) {
	var cfg keeper.Config
	var daemon bool
	var readyFD, handoffFD int
	c.RunE = func(*cobra.Command, []string) error {
		cfg.Log, cfg.Build, cfg.OpenPTY = logTo(os.Stderr), version(), openPTY
		if daemon {
			cfg.Daemon = daemonArgv()
		}
		// Not by a flag: an older version that is upgraded to would not know it.
		if dirs, err := paths.Default(); err == nil && cfg.Key != "" {
			cfg.StateLock = dirs.KeeperStateLock(cfg.Key)
		}
		if readyFD > 0 {
			cfg.Ready = os.NewFile(uintptr(readyFD), "ready")
		}
		if handoffFD > 0 {
			cfg.Handoff = os.NewFile(uintptr(handoffFD), "handoff")
		}
		return keeper.Run(cfg)
	}
	f := c.Flags()
	f.StringVar(&cfg.Socket, "socket", "", "socket to serve")
	f.StringVar(&cfg.Lock, "lock", "", "lock to hold")
	f.StringVar(&cfg.Key, "key", "", "placement key")
	f.BoolVar(&daemon, "daemon", false, "keep a daemon running")
	f.BoolVar(&cfg.DaemonRuns, "daemon-runs", false, "a daemon is there already and will connect")
	f.IntVar(&readyFD, "ready-fd", 0, "descriptor to say on that the socket is served")
	f.IntVar(&handoffFD, "handoff-fd", 0, "descriptor with what an earlier execution left")
}

// openPTY is what keepers open terminals with; nil: the system's. Tests replace it.
var openPTY func() (master, slave *os.File, err error)
