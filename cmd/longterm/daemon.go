//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

func daemonCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "daemon", Short: "Start, stop and look after the daemon",
		Long: "The daemon starts by itself when a verb needs it. Stopping, restarting and upgrading it leaves the\nsessions running: a keeper process holds them.",
	}
	c.AddCommand(
		daemonStart(a), daemonStop(a), daemonRestart(a), daemonStatus(a), daemonUpgrade(a), daemonServe(),
	)
	return c
}

func daemonStart(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "start", Short: "Start the daemon if it does not run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			_, err = b.client.Status(cmd.Context())
			return err
		},
	}
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
				if !anyKeeper(b.dirs) && !anyDaemon(b.dirs) {
					return nil // nothing runs
				}
			}
			st, err := client.Status(cmd.Context())
			if err != nil {
				return fmt.Errorf("nothing to stop: %w", err)
			}
			if err := client.Stop(cmd.Context(), api.Stop{KillSessions: kill}); err != nil {
				return err
			}
			return waitGone(cmd.Context(), st.DaemonPID, func() int {
				ctx, cancel := context.WithTimeout(cmd.Context(), time.Second)
				defer cancel()
				now, err := b.quiet.Status(ctx)
				if err != nil {
					return 0 // it serves nobody any more
				}
				return now.Running
			})
		},
	}
	c.Flags().BoolVar(&kill, "kill-sessions", false, "end all sessions and the keepers too")
	return c
}

func anyKeeper(dirs paths.Dirs) bool {
	return slices.ContainsFunc(dirs.KeeperKeys(), func(key string) bool {
		return keeper.Held(dirs.KeeperStateLock(key)) || keeper.Held(dirs.KeeperLock(key))
	})
}

func anyDaemon(dirs paths.Dirs) bool {
	return keeper.Held(dirs.DaemonStateLock()) || keeper.Held(dirs.DaemonLock())
}

// waitGone waits until a process has ended: as long as the sessions that it ends before itself
// become fewer, and a minute.
func waitGone(ctx context.Context, pid int, sessions func() int) error {
	deadline, asked, last := time.Now().Add(time.Minute), time.Now(), -1
	for alive(pid) {
		if time.Since(asked) > time.Second {
			if n := sessions(); n != last {
				last, deadline = n, time.Now().Add(time.Minute)
			}
			asked = time.Now()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("daemon %d does not end; see its log, or kill it: sessions go on", pid)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// alive reports whether a process runs. One that ended and waits for its parent, or for
// an init that is slow to reap, does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	st, err := sys.ReadStat(pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return true
	case err != nil:
		return !errors.Is(err, sys.ErrGone)
	}
	return st.State != 'Z'
}

func daemonRestart(a *app) *cobra.Command {
	return &cobra.Command{
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
			if err := b.client.Stop(cmd.Context(), api.Stop{Restart: true}); err != nil {
				return err
			}
			if err := waitGone(cmd.Context(), st.DaemonPID, func() int { return 0 }); err != nil {
				return err
			}
			_, err = b.client.Status(cmd.Context())
			return err
		},
	}
}

func daemonUpgrade(a *app) *cobra.Command {
	return &cobra.Command{
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
			st, err := b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			if err := b.client.Upgrade(cmd.Context(), api.Upgrade{Path: exe}); err != nil {
				return err
			}
			if err := waitGone(cmd.Context(), st.DaemonPID, func() int { return 0 }); err != nil {
				return err
			}
			st, err = b.client.Status(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "daemon %d and keeper %d run %s now\n", st.DaemonPID, st.KeeperPID, st.Build)
			return nil
		},
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
				return withKeeper(cmd.Context(), err, b.dirs)
			}
			return a.Print(st, func(w io.Writer) { writeStatus(w, &st) })
		},
	})
}

// withKeeper adds what the keeper knows when there is no daemon to ask.
func withKeeper(ctx context.Context, err error, dirs paths.Dirs) error {
	l, derr := link.Dial(dirs.KeeperSocket(paths.MainKeeper), wire.RoleTool, version(), nil)
	if derr != nil {
		return err
	}
	defer l.Close()
	st, derr := l.Status(ctx)
	if derr != nil {
		return err
	}
	last := ""
	if st.LastError != "" {
		last = "; last: " + st.LastError
	}
	return fmt.Errorf("%w (keeper %d holds %d sessions%s)", err, st.PID, st.Sessions, last)
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
	writeConfigStatus(w, &st.Config)
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
				return err
			}
			f, err := paths.OpenLog(dirs.DaemonLog())
			if err != nil {
				return fmt.Errorf("daemon log: %w", err)
			}
			defer f.Close()
			log := logTo(f)
			debug.SetGCPercent(daemonGC)
			err = daemon.Run(cmd.Context(), daemon.Config{
				Dirs: dirs, Build: version(), Log: log,
				KeeperArgv: func(key string, main bool) []string { return keeperArgv(dirs, key, main) },
			})
			if err != nil {
				log.Error("daemon", "err", err)
			}
			return err
		},
	}
}
