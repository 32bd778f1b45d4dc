//go:build unix

package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/viewsource"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
)

func viewVerb(a *app, c *cobra.Command) {
	f, all := viewsource.Flags{}, false
	c.Long = `Open the viewer on this terminal, with the named sessions in panes, or all running ones in their last layout.
Press Ctrl-Space, then ?, for the keys; see ` + "`longterm help viewer`" + `.

  longterm view work tests

With several hosts their sessions are shown together, as HOST/SESSION; -H '' is this host:

  longterm view -H '' -H build -H ann@db1
  longterm view tests build/work
  longterm view --all-hosts`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.viewHosts(cmd.Context(), args, request.FlagOr(cmd, "all-hosts", all, a.viewsAll()))
		if err != nil {
			return err
		}
		defer h.close()
		only, err := h.only(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.view(cmd.Context(), h, only, f)
	}
	c.Flags().StringVar(&f.Theme, "theme", "", "`NAME` of the theme: "+strings.Join(theme.Names(), ", ")+", or one of the configuration (default: the last one, or one that suits the terminal; $LONGTERM_THEME)")
	c.Flags().StringVar(&f.Prefix, "prefix", "", "`KEY` that starts a command, such as C-Space, C-a, F12 (default C-Space; $LONGTERM_PREFIX)")
	c.Flags().StringVar(&f.Keys, "keys", "", "`PRESET` of keys: "+strings.Join(keymap.PresetNames(), ", ")+" (default: view.keys, longterm)")
	c.Flags().StringVar(&f.Layout, "layout", "", "`NAME` of the first layout (default: the last one)")
	c.Flags().BoolVar(&all, "all-hosts", false, "sessions of this host, of all of hosts.names and of the fleet (default: view.all_hosts, false)")
}

// viewDefault opens the viewer for longterm without a verb, and starts a shell if no session runs.
func (a *app) viewDefault(cmd *cobra.Command) error {
	if !a.onTerminal() {
		return exit.Usagef("%w; see `longterm --help` for the verbs", termio.ErrNoTerminal)
	}
	h, err := a.viewHosts(cmd.Context(), nil, a.viewsAll())
	if err != nil {
		return err
	}
	defer h.close()
	if len(h.list) == 1 { // with several hosts, some may not answer now
		if err := startFirst(cmd.Context(), h.list[0].Client); err != nil {
			return err
		}
	}
	return a.view(cmd.Context(), h, nil, viewsource.Flags{})
}

// startFirst starts a shell if no session runs.
func startFirst(ctx context.Context, c *client.Client) error {
	list, err := c.List(ctx)
	if err != nil || slices.ContainsFunc(list, func(s api.Session) bool { return s.State == "running" }) {
		return err
	}
	n, err := viewsource.ShellHere()
	if err == nil {
		_, err = c.NewSession(ctx, n)
	}
	return err
}

func (a *app) onTerminal() bool {
	return term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

func (a *app) view(ctx context.Context, h *viewHosts, only []string, f viewsource.Flags) error {
	o, err := viewsource.NewOptions(f, a.settings(), readConfig)
	if err != nil {
		return exit.Usage(err)
	}
	dirs, err := paths.Default()
	if err != nil {
		return err
	}
	if f.Layout != "" {
		if err := viewsource.CheckLayoutExists(dirs, f.Layout); err != nil {
			return exit.Usage(err)
		}
	}
	if !a.onTerminal() {
		return termio.ErrNoTerminal
	}
	if i := slices.IndexFunc(h.list, func(o viewsource.Host) bool { return o.Name == "" }); i >= 0 {
		a.forwardSSHAgent(dirs)
		a.renew(ctx, h.list[i].Client)
	}
	return viewsource.Run(ctx, viewsource.Program{Hosts: h.list, Dirs: dirs, Version: version, Stdin: a.stdin, ReopenCommand: h.reopenCommand}, o, only)
}

// viewsAll reports whether the configuration selects all hosts. A host of the command line or the environment takes
// precedence.
func (a *app) viewsAll() bool { return a.host == "" && a.settings().View.AllHosts }

// maxViewHosts limits the hosts of one viewer, which has a connection to each.
const maxViewHosts = 64

// viewHosts holds the hosts whose sessions a viewer shows.
type viewHosts struct {
	list          []viewsource.Host
	reopenCommand string           // command line that opens the same hosts again
	clients       []*client.Client // clients to close at the end
}

func (v *viewHosts) close() {
	for _, c := range v.clients {
		c.Close()
	}
}

// viewHosts returns the named hosts: by -H, or in the names of sessions. all selects this host, those of the
// configuration and those of the fleet. Otherwise there is one host.
func (a *app) viewHosts(ctx context.Context, refs []string, all bool) (*viewHosts, error) {
	v := &viewHosts{reopenCommand: "longterm"}
	names := a.named
	switch {
	case len(names) > 1 || len(names) == 1 && names[0] != "":
		v.reopenCommand = "longterm view"
		for _, n := range names {
			v.reopenCommand += " -H " + cmp.Or(n, "''") // host names need no quotes
		}
	case all && len(names) == 0:
		v.reopenCommand = "longterm view --all-hosts"
		var err error
		if names, err = a.allHosts(ctx); err != nil {
			return nil, err
		}
	case len(names) == 0 && a.host != "":
		names = []string{a.host}
	}
	for _, ref := range refs {
		host, _, _ := hosts.Split(ref)
		if _, _, far := hosts.Split(ref); far || len(a.named) == 0 && a.host == "" {
			names = append(slices.Clone(names), host)
		}
	}
	var unique []string
	for _, n := range names {
		if !slices.Contains(unique, n) {
			unique = append(unique, n)
		}
	}
	if len(unique) == 0 {
		unique = []string{""}
	}
	if len(unique) > maxViewHosts {
		return nil, exit.Usagef("%d hosts: too many for one viewer (maximum %d); select hosts with -H", len(unique), maxViewHosts)
	}
	for _, name := range unique {
		if err := a.viewHost(v, name, len(unique) == 1); err != nil {
			v.close()
			return nil, err
		}
	}
	return v, nil
}

// viewHost adds a host. The only host may ask for a password; with several, none may.
func (a *app) viewHost(v *viewHosts, name string, only bool) error {
	if only {
		a.host = name
		b, err := a.connect()
		if err == nil {
			forViewer(b.options.Remote, only)
			v.list = append(v.list, viewsource.Host{Name: name, Client: b.client})
		}
		return err
	}
	a.host = ""
	b, err := a.connect()
	if err != nil {
		return err
	}
	c := b.client
	if name != "" {
		o := b.options
		if err := a.onHost(&o, name); err != nil {
			return err
		}
		forViewer(o.Remote, only)
		c = client.New(o)
		v.clients = append(v.clients, c)
	}
	v.list = append(v.list, viewsource.Host{Name: name, Client: c})
	return nil
}

// forViewer adapts a way to a viewer that shows this host only, or several.
func forViewer(way client.RemoteHost, only bool) {
	switch w := way.(type) {
	case *hosts.RemoteHost:
		if !only {
			w.Prompts, w.InstallMissing = false, nil // the terminal belongs to the viewer
		}
	case *client.ViaFleet:
		w.NeedsLive = true // the viewer waits for the host to return instead of following its replica
	}
}

// allHosts returns this host, those of the configuration, and the connected hosts of the fleet.
func (a *app) allHosts(ctx context.Context) ([]string, error) {
	names := append([]string{""}, a.settings().Hosts.Names...)
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	list, err := b.client.FleetHosts(ctx, "")
	var e *api.Error
	if err != nil && !errors.As(err, &e) {
		return nil, err
	}
	for i := range list {
		if h := &list[i]; !h.IsLocal && h.State == "connected" {
			names = append(names, h.Host)
		}
	}
	return names, nil
}

// only returns the ids of the named sessions, as the viewer uses them. An empty list means all.
func (v *viewHosts) only(ctx context.Context, refs []string) (ids []string, err error) {
	for _, ref := range refs {
		host, session, far := hosts.Split(ref)
		i := slices.IndexFunc(v.list, func(h viewsource.Host) bool { return h.Name == host })
		if !far || i < 0 {
			i = 0
			if n := slices.IndexFunc(v.list, func(h viewsource.Host) bool { return h.Name == "" }); n >= 0 {
				i = n
			}
		}
		info, err := v.list[i].Client.Session(session).Info(ctx)
		if err != nil {
			return nil, err
		}
		if len(v.list) > 1 && v.list[i].Name != "" {
			info.ID = v.list[i].Name + "/" + info.ID
		}
		ids = append(ids, info.ID)
	}
	return ids, nil
}
