//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/ident"
)

func fleetVerb(a *app, c *cobra.Command) {
	c.Long = `Have the sessions of several machines in one place, over NATS JetStream (docs/fleet.md).

On the first machine "fleet init NAME" makes a fleet and "fleet serve" runs its server; "fleet invite" prints a code that
lets one machine in, once, with "fleet join CODE". From then on each machine tells the fleet of its sessions, "fleet ls"
lists those of all, and every verb goes to another machine by "longterm -H HOST VERB" or a session's name HOST/SESSION. A
machine that is cut off works as before, and tells what changed when it is back.`
	for _, own := range []*cobra.Command{a.fleetInit(), a.fleetServe(), a.fleetInvite(), a.fleetJoin(), a.fleetLeave(), fleetSimulate()} {
		c.AddCommand(a.aboutThis(own))
	}
	c.AddCommand(a.fleetStatus(), a.fleetHosts(), a.fleetLs(), a.fleetEvents(), a.fleetSearch(), a.fleetRun(), a.fleetDrain(true),
		a.fleetDrain(false), a.fleetRevoke(), a.fleetRestore())
}

// aboutThis marks a verb below another one that is about the host itself, as verb.there says of a whole verb: what makes a
// machine part of a fleet is in its files. It is for a person to do.
func (a *app) aboutThis(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{thereMark: "yes"}
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.personOnly(cmd.Context(), "changing a machine's part in its fleet"); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return c
}

// fleetDir is where what makes this machine part of a fleet is kept.
func fleetDir() (ident.Dir, error) {
	dirs, err := paths.Default()
	return ident.Dir(dirs.Fleet()), err
}

// reloadFleet has the daemon read what was written, and returns what it makes of it.
func (a *app) reloadFleet(ctx context.Context) (api.Fleet, error) {
	return a.changeFleet(ctx, api.FleetAct{Act: "reload"})
}

func (a *app) changeFleet(ctx context.Context, act api.FleetAct) (api.Fleet, error) {
	b, err := a.connect()
	if err != nil {
		return api.Fleet{}, err
	}
	return b.client.ChangeFleet(ctx, act)
}

func (a *app) fleetInit() *cobra.Command {
	var o fleets.Init
	c := &cobra.Command{Use: "init [NAME]", Short: "Make a fleet, on the machine that its members are let in from", Args: cobra.MaximumNArgs(1)}
	c.Long = `Make a fleet of this name ("fleet" without one): its certificate authority, whose key stays here, and certificates for
this machine, as a host and as a server. With --nats an existing NATS (with JetStream) is the server instead, reached with
--creds or a user and a password in the URL; what its members may do there is its administrator's to say. What a fleet
keeps there is made where it is not there yet.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		o.Fleet = "fleet"
		if len(args) > 0 {
			o.Fleet = args[0]
		}
		if err := o.Make(cmd.Context(), dir); err != nil {
			if e := (*api.Error)(nil); errors.As(err, &e) {
				return e
			}
			return exit.Usage(err)
		}
		st, err := a.reloadFleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) {
			fmt.Fprintf(w, "the fleet %s is made; this machine is its host %s\n", st.Fleet, st.Host)
			if len(o.NATS) == 0 {
				fmt.Fprintln(w, "next: keep its server running with `longterm fleet serve`, or in a session: `longterm new -n fleet-server -- longterm fleet serve`")
			}
			fmt.Fprintln(w, "then: `longterm fleet invite` lets another machine in")
		})
	}
	f := c.Flags()
	f.StringVar(&o.Host, "name", "", "this machine's name in the fleet (default: that of the system)")
	f.StringSliceVar(&o.Reach, "address", nil, "where other machines reach the server, HOST:PORT (default: an address of this machine, port 7722)")
	f.StringSliceVar(&o.NATS, "nats", nil, "use an existing NATS at this URL, in which a user and a password may stand")
	f.StringVar(&o.Outside.Creds, "creds", "", "with --nats: file of credentials, or of the seed of an NKey")
	f.StringVar(&o.Outside.CA, "tls-ca", "", "with --nats: file of certificates by which its TLS is known, where the system does not know it")
	f.StringSliceVar(&o.Labels, "label", nil, "NAME=VALUE that this machine has, for fleet run --on")
	return a.JSONFlag(c)
}

func (a *app) fleetServe() *cobra.Command {
	var o fleets.Serve
	c := &cobra.Command{Use: "serve", Short: "Run the fleet's server, until it is interrupted", Args: cobra.NoArgs}
	c.Long = `Run the fleet's server, on the machine where the fleet was made or on one that joined with a code of "fleet invite
--server". Three of them with --cluster and each other's addresses (--route) make a cluster, which goes on when one is lost.
What it keeps (the registry and the newest events) is in the state directory. The server is a program of its own,
longterm-fleetd, which is looked for beside this one and in PATH.`
	c.RunE = func(*cobra.Command, []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		o.JSON = a.JSON
		return o.Run(dir)
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "0.0.0.0:7722", "address for members, HOST:PORT")
	f.StringVar(&o.Advertise, "advertise", "", "address where members reach this server, HOST:PORT, if they do not where it listens")
	f.StringVar(&o.Cluster, "cluster", "", "address for the other servers of a cluster, HOST:PORT")
	f.StringSliceVar(&o.Routes, "route", nil, "cluster address of another server, HOST:PORT")
	f.StringVar(&o.Dir, "dir", "", "directory for what is kept (default: in the state directory)")
	return a.JSONFlag(c)
}

func (a *app) fleetInvite() *cobra.Command {
	var o fleets.Invite
	c := &cobra.Command{Use: "invite", Short: "Print a code with which one machine joins, once", Args: cobra.NoArgs}
	c.Long = `Print a code with which one machine joins the fleet, once and within --for. What it will be allowed on the other hosts is
said here: everything, or what --may names. Whoever has the code can use it: hand it over as you would a password.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		if _, err := access.ParseRights(o.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		v, err := o.Make(dir)
		if err != nil {
			return exit.Usage(err)
		}
		return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, v.Code) })
	}
	f := c.Flags()
	f.StringSliceVar(&o.May, "may", access.Everything.Names(), "what the machine may do on others: look, type, approve, manage")
	f.StringVar(&o.Name, "name", "", "for a machine of this name only")
	f.DurationVar(&o.For, "for", time.Hour, "how long the code is good")
	f.BoolVar(&o.Server, "server", false, "for another server of the fleet, not a host")
	f.BoolVar(&o.Masked, "masked", false, "secrets in output are masked for it")
	return a.JSONFlag(c)
}

func (a *app) fleetJoin() *cobra.Command {
	var o fleets.Join
	c := &cobra.Command{Use: "join CODE", Short: "Make this machine a host of a fleet", Args: cobra.ExactArgs(1)}
	c.Long = `Make this machine a host of a fleet, with a code of "longterm fleet invite"; - reads the code from standard input, which
keeps it out of the list of processes. The machine's key is made here and stays here.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		code := args[0]
		if code == "-" {
			b, err := io.ReadAll(io.LimitReader(a.stdin, 8192))
			if err != nil {
				return err
			}
			code = string(b)
		}
		kind, err := o.Join(cmd.Context(), dir, strings.TrimSpace(code))
		if errors.Is(err, ident.ErrTaken) {
			return api.Errorf(api.CodeNameTaken, "the fleet was not joined: %v, and a machine that left or is gone still has its name", err).
				WithHint("where the fleet was made, `longterm fleet revoke %s` frees it; or join as another with --name. The code is still good", o.Name)
		}
		if err != nil {
			return api.Errorf(api.CodeUnavailable, "the fleet was not joined: %v", err).WithHint("`longterm fleet invite`, where the fleet was made, prints a new code")
		}
		if kind == ident.Server {
			return a.Print(api.Fleet{Host: o.Name}, func(w io.Writer) {
				fmt.Fprintf(w, "this machine is the server %s of the fleet; next: longterm fleet serve --cluster 0.0.0.0:7723 --route HOST:7723\n", o.Name)
			})
		}
		st, err := a.reloadFleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) {
			fmt.Fprintf(w, "this machine is the host %s of the fleet %s; `longterm fleet ls` lists the sessions of all\n", st.Host, st.Fleet)
		})
	}
	f := c.Flags()
	f.StringVar(&o.Name, "name", "", "this machine's name in the fleet (default: that of the system)")
	f.StringSliceVar(&o.NATS, "nats", nil, "of a fleet that uses an existing NATS: its URL with a user and a password (default: the code's)")
	f.StringVar(&o.Outside.Creds, "creds", "", "of such a fleet: file of credentials, or of the seed of an NKey")
	f.StringVar(&o.Outside.CA, "tls-ca", "", "of such a fleet: file of certificates by which its NATS's TLS is known")
	f.StringSliceVar(&o.Labels, "label", nil, "NAME=VALUE that this machine has, for fleet run --on")
	return a.JSONFlag(c)
}

func (a *app) fleetLeave() *cobra.Command {
	var force bool
	c := &cobra.Command{Use: "leave", Short: "Be no part of the fleet any more", Args: cobra.NoArgs}
	c.Long = `Remove this machine's certificate and key, and be no part of the fleet any more. What the fleet knows of this machine stays
until "longterm fleet revoke NAME" where the fleet was made. There, --force gives the whole fleet up: nobody can be let in
any more.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		if _, err := dir.Authority(); err == nil && !force {
			return exit.Usagef("the fleet was made here, and here is the only key that lets machines in; --force gives it up")
		}
		if err := dir.Leave(); err != nil {
			return err
		}
		st, err := a.reloadFleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) { fmt.Fprintln(w, "this machine belongs to no fleet") })
	}
	c.Flags().BoolVar(&force, "force", false, "where the fleet was made: give it up")
	return a.JSONFlag(c)
}

func (a *app) fleetStatus() *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "Describe this machine's part in its fleet", Args: cobra.NoArgs}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		st, err := b.client.Fleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) { fleets.WriteStatus(w, &st) })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetHosts() *cobra.Command {
	c := &cobra.Command{Use: "hosts", Short: "List the hosts of the fleet", Args: cobra.NoArgs}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.FleetHosts(cmd.Context(), "")
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { fleets.WriteHosts(w, list) })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetLs() *cobra.Command {
	c := &cobra.Command{Use: "ls [HOST]", Short: "List the sessions of all hosts, or of one; those of hosts that are away as last known", Args: cobra.MaximumNArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.FleetSessions(cmd.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { fleets.WriteSessions(w, list) })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetEvents() *cobra.Command {
	var r fleets.Reader
	c := &cobra.Command{Use: "events READER", Short: "Print what ended on all hosts since it was last acknowledged", Args: cobra.ExactArgs(1)}
	c.Long = `Print the jobs, commands and sessions that ended, and questions and approvals that wait for a person, on all hosts of the
fleet, each once for a reader: what was printed is acknowledged, and the fleet remembers up to where. A new reader begins
with what comes. Without --follow it prints what there is and ends.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		r.Name, r.JSON, r.Warn = args[0], a.JSON, a.Stderr
		return r.Run(cmd.Context(), b.client, a.Stdout)
	}
	c.Flags().BoolVarP(&r.Follow, "follow", "f", false, "go on with what comes")
	return a.JSONFlag(c)
}

func (a *app) fleetDrain(on bool) *cobra.Command {
	c := &cobra.Command{Use: "drain", Short: "Have fleet run start nothing more on this machine", Args: cobra.NoArgs}
	if !on {
		c.Use, c.Short = "undrain", "Have fleet run start sessions on this machine again"
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		st, err := a.changeFleet(cmd.Context(), api.FleetAct{Act: c.Name()})
		if err != nil {
			return err
		}
		return a.Print(st, nil)
	}
	return a.JSONFlag(c)
}

func (a *app) fleetRevoke() *cobra.Command {
	c := &cobra.Command{Use: "revoke NAME", Short: "Take a member's certificate back, and end what is under way with it", Args: cobra.ExactArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		st, err := a.changeFleet(cmd.Context(), api.FleetAct{Act: "revoke", Name: args[0]})
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) { fmt.Fprintln(w, args[0], "is no member of the fleet any more") })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetRestore() *cobra.Command {
	c := &cobra.Command{Use: "restore HOST", Short: "Have the histories of a host that is gone on this machine, from the fleet's copies", Args: cobra.ExactArgs(1)}
	c.Long = `Have the sessions of a host that is gone on this machine, as sessions that ended, from what the fleet has copied: every verb
that reads works on them, and "longterm restore" starts one again. What the copies do not have is counted. Sessions that are
here already are passed over, so that a restore that was interrupted goes on. A name that is taken here gets the beginning
of the session's id; the label fleet-host=HOST says where each comes from. Exit status 1 when one could not be restored.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		st, err := a.changeFleet(cmd.Context(), api.FleetAct{Act: "restore", Name: args[0]})
		if err != nil {
			return err
		}
		if err := a.Print(st.Restored, func(w io.Writer) { fleets.WriteRestored(w, st.Restored) }); err != nil {
			return err
		}
		if slices.ContainsFunc(st.Restored.Sessions, func(s api.RestoredSession) bool { return s.Error != "" }) {
			return exit.Silent(api.ExitFailure)
		}
		return nil
	}
	return a.JSONFlag(c)
}

// onFleet are the hosts of the fleet, and what makes clients of them.
func (a *app) onFleet(ctx context.Context) ([]api.FleetHost, fleets.Clients, error) {
	if err := a.personOnly(ctx, "reaching other machines"); err != nil {
		return nil, nil, err
	}
	b, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	list, err := b.client.FleetHosts(ctx, "")
	return list, func(h api.FleetHost, onCopy func(api.FleetCopy)) *client.Client {
		o := b.options
		o.Way, o.KeeperArgv, o.OnApproval, o.OnCopy = &client.ViaFleet{Local: b.client, Host: h.Host, Here: h.Here, Away: h.State == "away"}, nil, nil, onCopy
		return client.New(o)
	}, err
}

func (a *app) fleetSearch() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{Use: "search QUERY…", Short: "Search the output of the sessions of all hosts", Args: cobra.MinimumNArgs(1)}
	c.Long = `Search what the sessions of all hosts printed, as "longterm search" does on one. Hits are printed as hosts answer; of a
host that is away the fleet's copy is searched, which is said at the end, on standard error; a host that does not answer and
has no copy is named there. Exit status 1 when nothing is found. With --json each hit is a line,
and the last line says how many hosts answered, and which did not.`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		q, err := f.query(args)
		if err != nil {
			return err
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
		for i := range found.Copies {
			fmt.Fprintf(a.Stderr, "longterm: %s\n", fleets.CopyText(&found.Copies[i]))
		}
		for _, b := range found.Behind {
			fmt.Fprintf(a.Stderr, "longterm: %s: %s\n", b.Host, output.Printable(b.Note))
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
	f.bind(c)
	c.Flags().IntVar(&f.q.Limit, "limit", 50, "at most this many of each host")
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
			return fleets.RunEach(cmd.Context(), &a.Printer, fits, of, api.Run{NewSession: n})
		}
		s, err := of(fits[0], nil).NewSession(cmd.Context(), n)
		if err != nil {
			return err
		}
		return a.Print(fleets.Ran{Host: fits[0].Host, Session: s.ID, Name: s.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s/%s\n", fits[0].Host, s.Name) })
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

// viaFleet is the way to a host of this machine's fleet; nil: it is none of its.
func (a *app) viaFleet(ctx context.Context, o client.Options, name string) (client.Way, error) {
	dir, err := fleetDir()
	if err != nil || fleet.CheckName(name) != nil {
		return nil, err
	}
	if ctx == nil { // no verb was placed: something completes
		ctx = context.Background()
	}
	if _, err := dir.Settings(); err != nil {
		return nil, nil
	}
	o.KeeperArgv = func() []string { return companion.KeeperArgv(o.Dirs, paths.MainKeeper, true) }
	local := client.New(o)
	list, err := local.FleetHosts(ctx, name)
	if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodeNoFleet || err == nil && len(list) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &client.ViaFleet{Local: local, Host: name, Here: list[0].Here, Away: list[0].State == "away"}, nil
}

func fleetSimulate() *cobra.Command {
	c := &cobra.Command{Use: "simulate [OPTIONS]", Short: "Have simulated hosts in the fleet, for measuring without machines"}
	c.Long = `Have simulated hosts in the fleet until it is interrupted. ltbench does this (see "longterm bench --help").`
	passOn(c, "simulate")
	return c
}
