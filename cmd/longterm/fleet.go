//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/fleets"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet/ident"
)

func fleetVerb(a *app, c *cobra.Command) {
	c.Long = `Have the sessions of several machines in one place, over NATS JetStream (docs/fleet.md).

On the first machine "fleet init NAME" makes a fleet and "fleet serve" runs its server; "fleet invite" prints a code that
lets one machine in, once, with "fleet join CODE". From then on each machine tells the fleet of its sessions, "fleet ls"
lists those of all, and every verb goes to another machine by "longterm -H HOST VERB" or a session's name HOST/SESSION. A
machine that is cut off works as before, and tells what changed when it is back.`
	c.AddCommand(a.fleetInit(), a.fleetServe(), a.fleetInvite(), a.fleetJoin(), a.fleetLeave(), a.fleetStatus(), a.fleetHosts(),
		a.fleetLs(), a.fleetEvents(), a.fleetSearch(), a.fleetRun(), a.fleetDrain(true), a.fleetDrain(false), a.fleetRevoke())
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
--creds; what its members may do there is its administrator's to say.`
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
	f.StringSliceVar(&o.NATS, "nats", nil, "use an existing NATS at this URL")
	f.StringVar(&o.Creds, "creds", "", "with --nats: file of credentials")
	f.StringSliceVar(&o.Labels, "label", nil, "NAME=VALUE that this machine has, for fleet run --on")
	return a.JSONFlag(c)
}

func (a *app) fleetServe() *cobra.Command {
	var o fleets.Serve
	c := &cobra.Command{Use: "serve", Short: "Run the fleet's server, until it is interrupted", Args: cobra.NoArgs}
	c.Long = `Run the fleet's server, on the machine where the fleet was made or on one that joined with a code of "fleet invite
--server". Three of them with --cluster and each other's addresses (--route) make a cluster, which goes on when one is lost.
What it keeps (the registry and the newest events) is in the state directory.`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		level := slog.LevelWarn
		if os.Getenv("LONGTERM_DEBUG") != "" {
			level = slog.LevelDebug
		}
		o.Log = slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
		return o.Run(cmd.Context(), dir, func(v fleets.Served) error {
			return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, "serving the fleet", v.Fleet, "at", v.Address) })
		})
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "0.0.0.0:7722", "address for members, HOST:PORT")
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
	f.StringVar(&o.Creds, "creds", "", "file of credentials, of a fleet that uses an existing NATS")
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
		r.Name, r.JSON = args[0], a.JSON
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
