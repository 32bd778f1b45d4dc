//go:build unix

package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/listing"
)

// hostRow is a row of `hosts`.
type hostRow struct {
	Host        string    `json:"host"`
	State       string    `json:"state" doc:"connected, idle, or new: never connected"`
	Version     string    `json:"version,omitempty"`
	System      string    `json:"system,omitempty"`
	Name        string    `json:"name,omitempty" doc:"the host's own name"`
	User        string    `json:"user,omitempty"`
	Since       time.Time `json:"since,omitzero" doc:"start of the newest connection"`
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
				fmt.Fprintln(w, "no remote hosts; connect to one with `longterm -H USER@HOST ls`")
				return
			}
			writeHosts(w, rows, a.TableLook())
		})
	}
	c.Long = `List remote hosts: those of hosts.names in the configuration, and those that longterm was connected to.
Verbs reach a host by -H; see ` + "`longterm help hosts`" + `.

  longterm -H ann@build ls       # list the sessions on a host
  longterm hosts install build   # install longterm there`
	c.AddCommand(a.hostsInstall(), a.hostsDisconnect())
}

func writeHosts(w io.Writer, list []hostRow, look listing.TableFormat) {
	columns := []listing.Column{
		{Head: "HOST", ShrinkTo: 8, Style: listing.AsBold}, {Head: "STATE", Style: listing.StateStyle}, {Head: "VERSION", ShrinkTo: 8}, {Head: "SYSTEM", ShrinkTo: 8}, {Head: "NAME", ShrinkTo: 8},
	}
	rows := make([][]string, 0, len(list))
	for i := range list {
		r := &list[i]
		rows = append(rows, []string{r.Host, r.State, output.Printable(r.Version), output.Printable(r.System), output.Printable(r.Name)})
	}
	_ = listing.WriteTable(w, columns, rows, look) // fails only if the reader has closed the output
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
	for _, f := range hosts.KnownHosts(h.Dirs.Hosts()) {
		w := hosts.RemoteHost{Target: hosts.Target(f.Target), SSH: hosts.SSH{Dir: h.Dirs.Hosts()}}
		r := hostRow{
			Host: f.Target, State: "idle", Version: f.Hello.Version, System: f.Hello.System, Name: f.Hello.Host,
			User: f.Hello.User, Since: f.Since, Connections: f.Connections,
		}
		if w.IsLinked() {
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
		Use: "install HOST", Short: "Install longterm on a host", Args: cobra.ExactArgs(1),
		Long: `Copy longterm to ~/.local/bin on a host, and verify the copy by its SHA-256.

  longterm hosts install ann@build

The build for the host's system is longterm-OS-ARCH in --release-dir or beside this program, or this program if
the system is the same. A daemon that runs on the host keeps its version until
` + "`longterm -H HOST daemon upgrade`" + `.`,
	}
	dir := c.Flags().String("release-dir", "", "`DIR` with builds named longterm-OS-ARCH")
	a.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.hosts()
		if err != nil {
			return err
		}
		h.Releases = *dir
		done, err := h.InstallOn(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.Print(done, func(io.Writer) {}) // Put has printed the result
	}
	return c
}

func (a *app) hostsDisconnect() *cobra.Command {
	c := &cobra.Command{Use: "disconnect HOST", Short: "Close the connection to a host", Args: cobra.ExactArgs(1)}
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
		there, err := w.Disconnect(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(map[string]bool{"was_connected": there}, func(out io.Writer) {
			if !there {
				fmt.Fprintf(out, "%s: not connected\n", args[0])
			}
		})
	}
	return c
}
