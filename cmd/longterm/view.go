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
	c.Long = `Show sessions in panes on this terminal: those named, or all that run, arranged as they were last.
Ctrl-Space, then ?, lists the keys; docs/viewer.md tells the rest.

With several hosts their sessions are shown together, as HOST/SESSION; -H '' is this host:

  longterm view -H '' -H build -H ann@db1
  longterm view tests build/work
  longterm view --all-hosts`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		h, err := a.viewHosts(cmd.Context(), args, request.GivenOr(cmd, "all-hosts", all, a.viewsAll()))
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
	c.Flags().StringVar(&f.Theme, "theme", "", strings.Join(theme.Names(), ", ")+", or one of the configuration; default: as it was last, or what suits the terminal ($LONGTERM_THEME)")
	c.Flags().StringVar(&f.Prefix, "prefix", "", "key that begins a command, as in C-Space, C-a, F12 (default C-Space; $LONGTERM_PREFIX)")
	c.Flags().StringVar(&f.Keys, "keys", "", strings.Join(keymap.PresetNames(), ", ")+": whose keys (default: the configuration's, longterm)")
	c.Flags().StringVar(&f.Layout, "layout", "", "layout to begin with; default: as it was last")
	c.Flags().BoolVar(&all, "all-hosts", false, "the sessions of this host, of all of hosts.names and of the fleet's hosts (default: the configuration's, false)")
}

// viewDefault is longterm without a verb: the viewer, with a shell to begin with.
func (a *app) viewDefault(cmd *cobra.Command) error {
	if !a.onTerminal() {
		return exit.Usagef("%w; `longterm --help` lists the verbs", termio.ErrNoTerminal)
	}
	h, err := a.viewHosts(cmd.Context(), nil, a.viewsAll())
	if err != nil {
		return err
	}
	defer h.close()
	if len(h.list) == 1 { // of several, some may not answer now
		if err := startFirst(cmd.Context(), h.list[0].Client); err != nil {
			return err
		}
	}
	return a.view(cmd.Context(), h, nil, viewsource.Flags{})
}

// startFirst starts a shell where no session runs.
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
		if err := viewsource.LayoutKept(dirs, f.Layout); err != nil {
			return exit.Usage(err)
		}
	}
	if !a.onTerminal() {
		return termio.ErrNoTerminal
	}
	if i := slices.IndexFunc(h.list, func(o viewsource.Host) bool { return o.Name == "" }); i >= 0 {
		a.passAgentOn(dirs)
		a.renew(ctx, h.list[i].Client)
	}
	return viewsource.Run(ctx, viewsource.Program{Hosts: h.list, Dirs: dirs, Version: version, Stdin: a.stdin, Again: h.again}, o, only)
}

// viewsAll says that the configuration has the viewer show all hosts: one that the environment names comes before it.
func (a *app) viewsAll() bool { return a.host == "" && a.settings().View.AllHosts }

// maxViewHosts bounds the hosts of one viewer: it has a connection to each.
const maxViewHosts = 64

// viewHosts are the hosts whose sessions a viewer shows.
type viewHosts struct {
	list  []viewsource.Host
	again string // the command line that shows them again
	own   []*client.Client
}

func (v *viewHosts) close() {
	for _, c := range v.own {
		c.Close()
	}
}

// viewHosts are those that were named, by themselves or before the names of sessions; all is for those of the
// configuration and of the fleet; else it is one.
func (a *app) viewHosts(ctx context.Context, refs []string, all bool) (*viewHosts, error) {
	v := &viewHosts{again: "longterm"}
	names := a.named
	switch {
	case len(names) > 1 || len(names) == 1 && names[0] != "":
		v.again = "longterm view"
		for _, n := range names {
			v.again += " -H " + cmp.Or(n, "''") // a host's name has no character that a shell minds
		}
	case all && len(names) == 0:
		v.again = "longterm view --all-hosts"
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
		return nil, exit.Usagef("these are %d hosts, and a viewer shows at most %d; name those that you want with -H", len(unique), maxViewHosts)
	}
	for _, name := range unique {
		if err := a.viewHost(v, name, len(unique) == 1); err != nil {
			v.close()
			return nil, err
		}
	}
	return v, nil
}

// viewHost adds one. The only one may ask for a password; of several, each has to be reached without.
func (a *app) viewHost(v *viewHosts, name string, only bool) error {
	if only {
		a.host = name
		b, err := a.connect()
		if err == nil {
			forViewer(b.options.Way, only)
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
		forViewer(o.Way, only)
		c = client.New(o)
		v.own = append(v.own, c)
	}
	v.list = append(v.list, viewsource.Host{Name: name, Client: c})
	return nil
}

// forViewer has a way be one for a viewer, which shows that host only or others, too.
func forViewer(way client.Way, only bool) {
	switch w := way.(type) {
	case *hosts.Way:
		if !only {
			w.Asks, w.Bare = false, nil // the terminal is the viewer's
		}
	case *client.ViaFleet:
		w.Live = true // one that is away now comes back, and a copy is not followed
	}
}

// allHosts are this host, those of the configuration, and those of the fleet that are connected.
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
		if h := &list[i]; !h.Here && h.State == "connected" {
			names = append(names, h.Host)
		}
	}
	return names, nil
}

// only are the ids of sessions that were named, as the viewer knows them; none: all.
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
