//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/logs"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/processes"
	"github.com/longterm-dev/longterm/cmd/internal/remote"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/daemon"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/paths"
)

func daemonVerb(a *app, c *cobra.Command) {
	c.Long = "The daemon starts by itself when a verb needs it. Stopping, restarting and upgrading it leaves the\nsessions running: a keeper process holds them."

	c.AddCommand(
		daemonStart(a), daemonStop(a), daemonRestart(a), daemonStatus(a), daemonUpgrade(a), daemonMetrics(a), daemonServe(),
	)
}

func daemonStart(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "start", Short: "Start the daemon if it does not run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			_, err = b.client.Status(cmd.Context())
			return err
		},
	})
}

func daemonStop(a *app) *cobra.Command {
	var kill bool
	c := &cobra.Command{
		Use: "stop", Short: "End the daemon; sessions go on", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			client := b.quiet
			if kill {
				client = b.client // a daemon records how the sessions ended
				if !processes.AnyKeeper(b.dirs) && !processes.AnyDaemon(b.dirs) {
					return nil // nothing runs
				}
			}
			st, err := client.Status(cmd.Context())
			switch {
			case err != nil && processes.AnyDaemon(b.dirs):
				return err
			case err != nil:
				return fmt.Errorf("nothing to stop: %w", err)
			}
			if err := client.Stop(cmd.Context(), api.Stop{KillSessions: kill}); err != nil {
				return err
			}
			return processes.WaitGone(cmd.Context(), st.DaemonPID, func() int {
				ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
				defer cancel()
				now, err := b.quiet.Status(ctx)
				if err != nil {
					return 0 // it serves no requests any more
				}
				return now.Running
			})
		},
	}
	c.Flags().BoolVar(&kill, "kill-sessions", false, "end all sessions and the keepers too")
	return a.Done(c)
}

func daemonRestart(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "restart", Short: "Replace the daemon by a fresh one; sessions go on", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			st, err := b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			// Where somebody else has it replaced just then, that is as good.
			if err := b.client.Stop(cmd.Context(), api.Stop{Restart: true}); err != nil && !client.WentAway(err) {
				return err
			}
			if err := processes.WaitGone(cmd.Context(), st.DaemonPID, func() int { return 0 }); err != nil {
				return err
			}
			_, err = b.client.Status(cmd.Context())
			return err
		},
	})
}

func daemonUpgrade(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "upgrade", Short: "Replace keepers and daemon by this executable; sessions go on", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			unlock, err := b.client.UpgradeAlone(cmd.Context())
			if err != nil {
				return err
			}
			defer unlock()
			if err := upgrade(cmd.Context(), b.client, exe); err != nil {
				return err
			}
			st, err := b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(st, func(w io.Writer) {
				fmt.Fprintf(w, "daemon %d and keeper %d run %s now\n", st.DaemonPID, st.KeeperPID, st.Build)
			})
		},
	})
}

// upgradeTries is how often an upgrade is asked for in the middle of which somebody has the daemon replaced.
const upgradeTries = 10

// upgrade has keepers and daemon replaced by an executable, and waits until the daemon that was there is gone.
func upgrade(ctx context.Context, c *client.Client, exe string) error {
	for try := 1; ; try++ {
		st, err := c.Status(ctx)
		if err != nil {
			return err
		}
		err = c.Upgrade(ctx, api.Upgrade{Path: exe})
		again := client.WentAway(err) && try < upgradeTries
		if err != nil && !again {
			return err
		}
		if err := processes.WaitGone(ctx, st.DaemonPID, func() int { return 0 }); err != nil || !again {
			return err
		}
	}
}

func daemonStatus(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "status", Short: "Describe daemon and keepers", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			st, err := b.quiet.Status(cmd.Context())
			if err != nil {
				return processes.WithKeeper(cmd.Context(), err, b.dirs, version)
			}
			return a.Print(st, func(w io.Writer) { writeStatus(w, &st) })
		},
	})
}

func daemonMetrics(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "metrics", Short: "Print figures for monitoring, as Prometheus reads them", Args: cobra.NoArgs,
		Long: "Print figures for monitoring in Prometheus' text format. The daemon serves them at /metrics, on its socket and\n" +
			"over TCP (http.listen) to who shows a token of level read.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			page, err := b.quiet.Metrics(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(struct {
				Metrics string `json:"metrics"`
			}{string(page)}, func(w io.Writer) { _, _ = w.Write(page) })
		},
	})
}

func writeStatus(w io.Writer, st *api.Status) {
	fmt.Fprintf(w, "daemon %d, version %s, up %s, restarted %s\n",
		st.DaemonPID, st.Build, output.Elapsed(time.Since(st.Started).Milliseconds()), output.HowMany(st.Restarts, "time", "times"))
	fmt.Fprintf(w, "sessions %d, running %d\n", st.Sessions, st.Running)
	for _, k := range st.Keepers {
		fmt.Fprintf(w, "keeper %s: pid %d, version %s, up %s, %d sessions\n",
			k.Key, k.PID, k.Build, output.Elapsed(time.Since(k.Started).Milliseconds()), k.Sessions)
	}
	fmt.Fprintf(w, "socket %s\nstate  %s\n", st.Socket, st.State)
	if st.HTTP != "" {
		fmt.Fprintf(w, "http   %s\n", output.Printable(st.HTTP))
	}
	writeConfigStatus(w, &st.Config)
	writeRuleStatus(w, &st.Rules)
	for _, n := range st.Notices {
		fmt.Fprintf(w, "notice: %s\n", n)
	}
}

// writeConfigStatus says which configuration the daemon uses, and why not the file.
func writeConfigStatus(w io.Writer, c *api.Configuration) {
	using := map[string]string{"file": "", "kept": " (not taken; the last good one is in effect)", "defaults": " (not there; defaults)"}[c.Using]
	if c.Using == "defaults" && len(c.Problems) > 0 {
		using = " (not taken; the defaults are in effect)"
	}
	fmt.Fprintf(w, "config %s%s\n", c.File, using)
	for _, p := range c.Problems {
		fmt.Fprintf(w, "config: %s\n", p)
	}
}

// writeRuleStatus says which rules are in effect, and why not those of the file.
func writeRuleStatus(w io.Writer, r *api.RuleFile) {
	using := map[string]string{
		"file": "(" + output.HowMany(r.Rules, "rule", "rules") + ")", "kept": "(not taken; the last good one is in effect)",
		"none": "(not there)", "broken": "(not taken, and none ever was in order: all but reading is asked about)",
	}[r.Using]
	if r.File != "" {
		fmt.Fprintf(w, "rules  %s %s\n", r.File, using)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "rules: %s\n", p)
	}
}

// daemonGC is how much garbage, in percent of what is in use, the daemon lets gather: it lives
// for months beside everything else on the machine.
const daemonGC = 50

// daemonServe is the daemon's process, started by the keeper.
func daemonServe() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve in the foreground (started by itself)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			if err := dirs.Make(); err != nil {
				return served(err)
			}
			f, err := paths.OpenLog(dirs.DaemonLog())
			if err != nil {
				return served(fmt.Errorf("daemon log: %w", err))
			}
			defer f.Close()
			log := logs.To(f)
			debug.SetGCPercent(daemonGC)
			err = daemon.Run(cmd.Context(), daemon.Config{
				Dirs: dirs, Build: version(), Log: log,
				KeeperArgv: func(key string, main bool) []string { return companion.KeeperArgv(dirs, key, main) },
				LinkArgv:   remote.LinkArgv,
			})
			if err != nil {
				log.Error("daemon", "err", err)
			}
			return served(err)
		},
	}
}

// served is how the daemon's process ends: its keeper need not try again what a full disk is in the way of.
func served(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return exit.With(launch.NoRoomStatus, err)
	}
	return err
}
