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
	c.Long = `Control the daemon, which starts automatically when a verb needs it. Sessions keep running while it is stopped,
restarted or upgraded: a keeper process holds them.

  longterm daemon status
  longterm daemon upgrade      # after an update of longterm`

	c.AddCommand(
		daemonStart(a), daemonStop(a), daemonRestart(a), daemonStatus(a), daemonUpgrade(a), daemonMetrics(a), daemonServe(),
	)
}

func daemonStart(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "start", Short: "Start the daemon if it is not running", Args: cobra.NoArgs,
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
		Use: "stop", Short: "Stop the daemon and keep sessions running", Args: cobra.NoArgs,
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
			return processes.WaitExit(cmd.Context(), st.DaemonPID, func() int {
				ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
				defer cancel()
				now, err := b.quiet.Status(ctx)
				if err != nil {
					return 0 // the daemon has stopped serving
				}
				return now.Running
			})
		},
	}
	c.Flags().BoolVar(&kill, "kill-sessions", false, "end all sessions and keepers too")
	return a.Done(c)
}

func daemonRestart(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "restart", Short: "Restart the daemon and keep sessions running", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			st, err := b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			// If another caller replaced the daemon at the same time, the result is the same.
			if err := b.client.Stop(cmd.Context(), api.Stop{Restart: true}); err != nil && !client.IsDisconnected(err) {
				return err
			}
			if err := processes.WaitExit(cmd.Context(), st.DaemonPID, func() int { return 0 }); err != nil {
				return err
			}
			_, err = b.client.Status(cmd.Context())
			return err
		},
	})
}

func daemonUpgrade(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "upgrade", Short: "Switch daemon and keepers to this executable", Args: cobra.NoArgs,
		Long: "Replace the daemon and the keepers by this executable, after an update of longterm. Sessions keep running.\n\n  longterm daemon upgrade",
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			unlock, err := b.client.LockUpgrade(cmd.Context())
			if err != nil {
				return err
			}
			defer unlock()
			stop := a.Working("replacing daemon and keepers")
			err = upgrade(cmd.Context(), b.client, exe)
			stop()
			if err != nil {
				return err
			}
			st, err := b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(st, func(w io.Writer) {
				fmt.Fprintf(w, "daemon %d and keeper %d: running %s\n", st.DaemonPID, st.KeeperPID, st.Build)
			})
		},
	})
}

// upgradeTries limits the attempts of an upgrade that another caller's restart of the daemon interrupts.
const upgradeTries = 10

// upgrade replaces keepers and daemon by the executable exe, and waits until the previous daemon has exited.
func upgrade(ctx context.Context, c *client.Client, exe string) error {
	for try := 1; ; try++ {
		st, err := c.Status(ctx)
		if err != nil {
			return err
		}
		err = c.Upgrade(ctx, api.Upgrade{Path: exe})
		again := client.IsDisconnected(err) && try < upgradeTries
		if err != nil && !again {
			return err
		}
		if err := processes.WaitExit(ctx, st.DaemonPID, func() int { return 0 }); err != nil || !again {
			return err
		}
	}
}

func daemonStatus(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "status", Short: "Show the state of daemon and keepers", Args: cobra.NoArgs,
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
		Use: "metrics", Short: "Print metrics in Prometheus' text format", Args: cobra.NoArgs,
		Long: "Print metrics for monitoring, in Prometheus' text format. The daemon also serves them at /metrics, on its socket\n" +
			"and over TCP (http.listen) to clients with a token of level read.\n\n" +
			"  longterm daemon metrics | grep longterm_sessions",
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
		st.DaemonPID, st.Build, output.Elapsed(time.Since(st.Started).Milliseconds()), output.CountNoun(st.Restarts, "time", "times"))
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

// writeConfigStatus prints the configuration that the daemon uses, and the file's mistakes if it was rejected.
func writeConfigStatus(w io.Writer, c *api.Configuration) {
	using := map[string]string{"file": "", "kept": " (rejected; using the last valid version)", "defaults": " (not found; using the defaults)"}[c.Using]
	if c.Using == "defaults" && len(c.Problems) > 0 {
		using = " (rejected; using the defaults)"
	}
	fmt.Fprintf(w, "config %s%s\n", c.File, using)
	for _, p := range c.Problems {
		fmt.Fprintf(w, "config: %s\n", p)
	}
}

// writeRuleStatus prints the rules in effect, and the file's mistakes if it was rejected.
func writeRuleStatus(w io.Writer, r *api.RuleFile) {
	using := map[string]string{
		"file": "(" + output.CountNoun(r.Rules, "rule", "rules") + ")", "kept": "(rejected; using the last valid version)",
		"none": "(not found)", "broken": "(rejected, no valid version yet: all but reading needs approval)",
	}[r.Using]
	if r.File != "" {
		fmt.Fprintf(w, "rules  %s %s\n", r.File, using)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(w, "rules: %s\n", p)
	}
}

// daemonGC is the daemon's GC percentage. It is below the default because the daemon runs for months beside other
// programs.
const daemonGC = 50

// daemonServe returns the hidden verb that runs the daemon; the keeper starts it.
func daemonServe() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Short: "Serve in the foreground (started by itself)", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			if err := dirs.Make(); err != nil {
				return daemonError(err)
			}
			f, err := paths.OpenLog(dirs.DaemonLog())
			if err != nil {
				return daemonError(fmt.Errorf("daemon log: %w", err))
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
			return daemonError(err)
		},
	}
}

// daemonError returns err with launch.DiskFullStatus for a full disk: the keeper must not restart the daemon then.
func daemonError(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return exit.With(launch.DiskFullStatus, err)
	}
	return err
}
