//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet"
)

// onFleet are the hosts of the fleet, and what makes clients of them.
func (a *app) onFleet(ctx context.Context) ([]api.FleetHost, fleets.Clients, error) {
	b, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	list, err := b.client.FleetHosts(ctx, "")
	return list, func(host string) *client.Client {
		o := b.options
		o.Way, o.KeeperArgv, o.OnApproval = client.ViaFleet{Local: b.client, Host: host}, nil, nil
		return client.New(o)
	}, err
}

func (a *app) fleetSearch() *cobra.Command {
	var q client.SearchQuery
	var regex, words bool
	c := &cobra.Command{Use: "search QUERY…", Short: "Search the output of the sessions of all hosts", Args: cobra.MinimumNArgs(1)}
	c.Long = `Search what the sessions of all hosts printed, as "longterm search" does on one. Hits are printed as hosts answer; a host
that does not is named at the end, on standard error. Exit status 1 when nothing is found. With --json each hit is a line,
and the last line says how many hosts answered, and which did not.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case regex && words:
			return exit.Usagef("--regex and --word do not go together")
		case regex:
			q.Regexp = strings.Join(args, " ")
		case words:
			q.Words = args
		default:
			q.Text = strings.Join(args, " ")
		}
		hosts, of, err := a.onFleet(cmd.Context())
		if err != nil {
			return err
		}
		found, err := fleets.Search(cmd.Context(), hosts, of, q, a.writeFleetHits)
		if err != nil {
			return err
		}
		if a.JSON {
			if err := json.NewEncoder(a.Stdout).Encode(found); err != nil {
				return err
			}
		}
		for _, m := range found.Missing {
			fmt.Fprintf(a.Stderr, "longterm: %s did not answer: %s\n", m.Host, output.Printable(m.Why))
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		if found.Hits == 0 {
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	f := c.Flags()
	f.BoolVarP(&regex, "regex", "E", false, "QUERY is a regular expression (RE2)")
	f.BoolVarP(&words, "word", "w", false, "QUERY is words, each of which occurs as a whole word")
	f.BoolVar(&q.CaseSensitive, "case", false, "match case")
	f.StringVar(&q.Since, "since", "", "printed at this time or later: 15:04, 2026-01-31, -2h")
	f.StringVar(&q.Until, "until", "", "printed before this time")
	f.IntVar(&q.Limit, "limit", 50, "at most this many of each host")
	return a.JSONFlag(c)
}

func (a *app) writeFleetHits(hits []fleets.Hit) error {
	for i := range hits {
		h := &hits[i]
		var err error
		if a.JSON {
			err = json.NewEncoder(a.Stdout).Encode(h)
		} else {
			_, err = fmt.Fprintf(a.Stdout, "%s/%s:%d  %s  %s\n", h.Host, output.Printable(h.Name), h.From, h.Time.Local().Format("2006-01-02 15:04:05"), output.Printable(h.Text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ran is what was run on a host.
type ran struct {
	Host    string      `json:"host"`
	Session string      `json:"session,omitempty"`
	Name    string      `json:"name,omitempty"`
	Result  *api.Result `json:"result,omitempty"`
	Error   string      `json:"error,omitempty"`
}

func (a *app) fleetRun() *cobra.Command {
	var want fleets.Want
	var name, cwd string
	var labels []string
	var each bool
	c := &cobra.Command{Use: "run [flags] -- CMD…", Short: "Start a session on the host that has the most room, or run a command on each", Args: cobra.MinimumNArgs(1)}
	c.Long = `Start CMD in a session on one host of the fleet, and print HOST/NAME, by which any verb finds it: on the host with the
most room (processors that nobody wants, memory that is free), of those that have the labels --on; on --near if that may
take it. Drained hosts take nothing. The session has the environment and home directory of its host.

With --each-host CMD is run on every such host, and what it printed is printed with the host's name. The exit status is 1
if it failed anywhere.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		hosts, of, err := a.onFleet(cmd.Context())
		if err != nil {
			return err
		}
		fits, err := want.Fits(hosts)
		if err != nil {
			return err
		}
		n := api.NewSession{Name: name, Argv: args, Cwd: cwd, Labels: map[string]string{}}
		for _, l := range labels {
			key, value, ok := strings.Cut(l, "=")
			if !ok {
				return exit.Usagef("--label %q: give NAME=VALUE", l)
			}
			n.Labels[key] = value
		}
		if each {
			return a.onEachHost(cmd.Context(), fits, of, n)
		}
		s, err := of(fits[0].Host).NewSession(cmd.Context(), n)
		if err != nil {
			return err
		}
		return a.Print(ran{Host: fits[0].Host, Session: s.ID, Name: s.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s/%s\n", fits[0].Host, s.Name) })
	}
	f := c.Flags()
	f.StringSliceVar(&want.On, "on", nil, "only on hosts with this label, NAME or NAME=VALUE")
	f.StringVar(&want.Near, "near", "", "on this host, if it takes sessions")
	f.BoolVar(&each, "each-host", false, "run it on every host, wait, and print what each printed")
	f.StringVarP(&name, "name", "n", "", "name of the session (default: from the command)")
	f.StringVar(&cwd, "cwd", "", "working directory there (default: the home directory)")
	f.StringArrayVar(&labels, "label", nil, "NAME=VALUE to label the session with, repeatable")
	f.SetInterspersed(false)
	return a.JSONFlag(c)
}

// onEachHost runs a command on hosts, and prints each one's answer as it comes.
func (a *app) onEachHost(ctx context.Context, hosts []api.FleetHost, of fleets.Clients, n api.NewSession) error {
	var mu sync.Mutex
	failed := false
	show := func(r ran) {
		mu.Lock()
		defer mu.Unlock()
		bad := r.Error != "" || r.Result.ExitCode == nil || *r.Result.ExitCode != 0
		failed = failed || bad
		if a.JSON {
			_ = json.NewEncoder(a.Stdout).Encode(r)
			return
		}
		if r.Error != "" {
			fmt.Fprintf(a.Stderr, "%s: %s\n", r.Host, output.Printable(r.Error))
			return
		}
		for line := range strings.Lines(r.Result.Output) {
			fmt.Fprintf(a.Stdout, "%s: %s\n", r.Host, output.Printable(strings.TrimRight(line, "\r\n")))
		}
		if bad {
			fmt.Fprintf(a.Stderr, "%s: %s\n", r.Host, r.Result.Message)
		}
	}
	fleets.Each(ctx, hosts, func(ctx context.Context, h api.FleetHost) error {
		c := of(h.Host)
		defer c.Close()
		got, err := c.Run(ctx, api.Run{NewSession: n})
		if err != nil {
			show(ran{Host: h.Host, Error: fleets.Why(err)})
			return nil
		}
		show(ran{Host: h.Host, Result: &got})
		return nil
	})
	if failed {
		return exit.Silent(api.ExitFailure)
	}
	return nil
}

// viaFleet is the way to a host of this machine's fleet; nil: it is none of its.
func (a *app) viaFleet(o client.Options, name string) client.Way {
	dir, err := fleetDir()
	if err != nil || fleet.CheckName(name) != nil {
		return nil
	}
	if _, err := dir.Settings(); err != nil {
		return nil
	}
	o.KeeperArgv = func() []string { return keeperArgv(o.Dirs, paths.MainKeeper, true) }
	local := client.New(o)
	if list, err := local.FleetHosts(context.Background(), name); err != nil || len(list) == 0 {
		return nil
	}
	return client.ViaFleet{Local: local, Host: name}
}
