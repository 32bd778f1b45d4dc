//go:build unix

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/hosts"
)

// hostRow is a host as `hosts` lists it.
type hostRow struct {
	Host        string    `json:"host"`
	State       string    `json:"state" doc:"connected, idle, or new: there never was a connection"`
	Version     string    `json:"version,omitempty"`
	System      string    `json:"system,omitempty"`
	Name        string    `json:"name,omitempty" doc:"as it calls itself"`
	User        string    `json:"user,omitempty"`
	Since       time.Time `json:"since,omitzero" doc:"of the newest connection"`
	Connections int       `json:"connections,omitempty"`
}

func hostsVerb(a *app, c *cobra.Command) {
	c.RunE = func(*cobra.Command, []string) error {
		rows, err := a.hostRows()
		if err != nil {
			return err
		}
		return a.Print(rows, func(w io.Writer) {
			if len(rows) == 0 {
				fmt.Fprintln(w, "no other hosts; `longterm -H USER@HOST ls` goes to one")
				return
			}
			tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "HOST\tSTATE\tVERSION\tSYSTEM\tNAME")
			for _, r := range rows {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.Host, r.State, output.Printable(r.Version), output.Printable(r.System), output.Printable(r.Name))
			}
			_ = tw.Flush()
		})
	}
	c.Long = `List other hosts: those of hosts.names of the configuration, and those there was a connection to. docs/hosts.md
tells the rest.`
	c.AddCommand(a.hostsInstall(), a.hostsDisconnect())
}

func (a *app) hostRows() ([]hostRow, error) {
	h, err := a.hosts()
	if err != nil {
		return nil, err
	}
	rows, at := []hostRow{}, map[string]int{}
	for _, name := range h.Settings.Hosts.Names {
		at[name] = len(rows)
		rows = append(rows, hostRow{Host: name, State: "new"})
	}
	for _, f := range hosts.Known(h.Dirs.Hosts()) {
		w := hosts.Way{Target: hosts.Target(f.Target), SSH: hosts.SSH{Dir: h.Dirs.Hosts()}}
		r := hostRow{
			Host: f.Target, State: "idle", Version: f.Hello.Version, System: f.Hello.System, Name: f.Hello.Host,
			User: f.Hello.User, Since: f.Since, Connections: f.Connections,
		}
		if w.Runs() {
			r.State = "connected"
		}
		if i, ok := at[f.Target]; ok {
			rows[i] = r
		} else {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func (a *app) hostsInstall() *cobra.Command {
	c := &cobra.Command{
		Use: "install HOST", Short: "Copy longterm to a host, into ~/.local/bin, checked by its SHA-256", Args: cobra.ExactArgs(1),
		Long: `Copy longterm to a host, into ~/.local/bin, checked by its SHA-256. The build for its system is
longterm-OS-ARCH in --release-dir, or beside this program; or this program, where the system is the same. A daemon
that runs there goes on with the version it has until ` + "`longterm -H HOST daemon upgrade`" + `.`,
	}
	dir := c.Flags().String("release-dir", "", "directory of builds, longterm-OS-ARCH each")
	a.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.hosts()
		if err != nil {
			return err
		}
		h.Releases = *dir
		done, err := h.Put(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.Print(done, func(io.Writer) {}) // said by who copies
	}
	return c
}

func (a *app) hostsDisconnect() *cobra.Command {
	c := &cobra.Command{Use: "disconnect HOST", Short: "End the connection to a host; its sessions go on", Args: cobra.ExactArgs(1)}
	a.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.hosts()
		if err != nil {
			return err
		}
		w, err := h.Way(args[0])
		if err != nil {
			return exit.Usage(err)
		}
		there, err := w.Leave(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(map[string]bool{"was_connected": there}, func(out io.Writer) {
			if !there {
				fmt.Fprintf(out, "there was no connection to %s\n", args[0])
			}
		})
	}
	return c
}
