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
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

func fleetVerb(a *app, c *cobra.Command) {
	c.Long = `Use the sessions of several machines from any of them, over NATS JetStream (` + "`longterm help fleet`" + `).

  longterm fleet init home           # first machine: create the fleet
  longterm fleet serve               # first machine: run its server
  longterm fleet invite              # print a one-time code for another machine
  longterm fleet join CODE           # other machine: join the fleet
  longterm fleet ls                  # any machine: list all sessions

Every verb then reaches another machine by ` + "`longterm -H HOST VERB`" + ` or by a session's name HOST/SESSION. A machine
without connection works as before, and publishes its changes when it is connected again.`
	for _, own := range []*cobra.Command{a.fleetInit(), a.fleetServe(), a.fleetInvite(), a.fleetJoin(), a.fleetLeave(), fleetSimulate()} {
		c.AddCommand(a.aboutThis(own))
	}
	c.AddCommand(a.fleetStatus(), a.fleetHosts(), a.fleetLs(), a.fleetEvents(), a.fleetSearch(), a.fleetRun(), a.fleetDrain(true),
		a.fleetDrain(false), a.fleetRevoke(), a.fleetRestore())
}

// aboutThis marks a subcommand that concerns the host itself, as verb.there does for a whole verb: a machine's
// membership is in its files. Agents may not call it.
func (a *app) aboutThis(c *cobra.Command) *cobra.Command {
	c.Annotations = map[string]string{remoteMark: "yes"}
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.requireUser(cmd.Context(), "changing a machine's membership in its fleet"); err != nil {
			return err
		}
		return run(cmd, args)
	}
	return c
}

// fleetDir returns the directory of this machine's fleet certificates and settings.
func fleetDir() (certs.Dir, error) {
	dirs, err := paths.Default()
	return certs.Dir(dirs.Fleet()), err
}

// reloadFleet makes the daemon read the changed files, and returns the resulting state.
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
	c := &cobra.Command{Use: "init [NAME]", Short: "Create a fleet on this machine", Args: cobra.MaximumNArgs(1)}
	c.Long = `Create a fleet named NAME ("fleet" by default) on this machine: a certificate authority, whose key stays here,
and certificates for this machine as host and server. Other machines are invited from here.

  longterm fleet init home

With --nats an existing NATS with JetStream is the server. Use --creds, or a user and password in the URL. Its
administrator sets the members' permissions there. Missing streams and buckets are created.`
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
			fmt.Fprintf(w, "fleet %s created; this machine is host %s\n", st.Fleet, st.Host)
			if len(o.NATS) == 0 {
				fmt.Fprintln(w, "next: run its server with `longterm fleet serve`, or in a session with `longterm new -n fleet-server -- longterm fleet serve`")
			}
			fmt.Fprintln(w, "then: invite other machines with `longterm fleet invite`")
		})
	}
	f := c.Flags()
	f.StringVar(&o.Host, "name", "", "`NAME` of this machine in the fleet (default: the host name)")
	f.StringSliceVar(&o.Reach, "address", nil, "`HOST:PORT` where other machines reach the server (default: an address of this machine, port 7722)")
	f.StringSliceVar(&o.NATS, "nats", nil, "`URL` of an existing NATS, with user and password if needed")
	f.StringVar(&o.Outside.Creds, "creds", "", "with --nats: `FILE` with credentials or an NKey seed")
	f.StringVar(&o.Outside.CA, "tls-ca", "", "with --nats: `FILE` with CA certificates for its TLS, if not known to the system")
	f.StringSliceVar(&o.Labels, "label", nil, "label `NAME=VALUE` of this machine, for fleet run --on")
	return a.JSONFlag(c)
}

func (a *app) fleetServe() *cobra.Command {
	var o fleets.Serve
	c := &cobra.Command{Use: "serve", Short: "Run the fleet's server until interrupted", Args: cobra.NoArgs}
	c.Long = `Run the fleet's server, on the machine that created the fleet or on one that joined with a code of
` + "`longterm fleet invite --server`" + `.

  longterm fleet serve
  longterm fleet serve --cluster 0.0.0.0:7723 --route HOST:7723

Three servers with --cluster and each other's addresses (--route) form a cluster that survives the loss of one.
The registry and the newest events are stored in the state directory. The server is a separate program,
longterm-fleetd, which must be beside this program or in PATH.`
	c.RunE = func(*cobra.Command, []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		o.JSON = a.JSON
		return o.Run(dir)
	}
	f := c.Flags()
	f.StringVar(&o.Listen, "listen", "0.0.0.0:7722", "`HOST:PORT` to listen on for members")
	f.StringVar(&o.Advertise, "advertise", "", "`HOST:PORT` where members reach this server, if it differs from --listen")
	f.StringVar(&o.Cluster, "cluster", "", "`HOST:PORT` to listen on for other servers of a cluster")
	f.StringSliceVar(&o.Routes, "route", nil, "cluster `HOST:PORT` of another server")
	f.StringVar(&o.Dir, "dir", "", "`DIR` for the server's data (default: in the state directory)")
	return a.JSONFlag(c)
}

func (a *app) fleetInvite() *cobra.Command {
	var o fleets.Invite
	c := &cobra.Command{Use: "invite", Short: "Print a one-time code for a machine to join", Args: cobra.NoArgs}
	c.Long = `Print a code with which one machine can join the fleet, once and within --for. --may limits what the new member
may do on other hosts. Treat the code like a password: any machine that has it can join.

  longterm fleet invite --may look,type --for 10m`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		if _, err := apitoken.ParseRights(o.May); err != nil {
			return exit.Usagef("--may %w", err)
		}
		v, err := o.Make(dir)
		if err != nil {
			return exit.Usage(err)
		}
		return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, v.Code) })
	}
	f := c.Flags()
	f.StringSliceVar(&o.May, "may", apitoken.Everything.Names(), "`RIGHTS` of the machine on other hosts: look, type, approve, manage")
	f.StringVar(&o.Name, "name", "", "only `NAME` that the machine may use (default: any)")
	f.DurationVar(&o.For, "for", time.Hour, "validity of the code")
	f.BoolVar(&o.Server, "server", false, "code for another server of the fleet, not for a host")
	f.BoolVar(&o.Masked, "masked", false, "redacted secrets in output for the machine")
	return a.JSONFlag(c)
}

func (a *app) fleetJoin() *cobra.Command {
	var o fleets.Join
	c := &cobra.Command{Use: "join CODE", Short: "Make this machine a host of a fleet", Args: cobra.ExactArgs(1)}
	c.Long = `Join a fleet with a code of ` + "`longterm fleet invite`" + `. With - the code is read from standard input, which keeps it
out of the process list. The machine's key is created here and never leaves it.

  longterm fleet join - < code`
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
		if errors.Is(err, certs.ErrNameTaken) {
			return api.Errorf(api.CodeNameTaken, "fleet not joined: %v (also by a machine that left or is lost)", err).
				WithHint("free the name with `longterm fleet revoke %s` on the machine that created the fleet, or use --name; the code stays valid", o.Name)
		}
		if err != nil {
			return api.Errorf(api.CodeUnavailable, "fleet not joined: %v", err).WithHint("create a new code with `longterm fleet invite` on the machine that created the fleet")
		}
		if kind == certs.Server {
			return a.Print(api.Fleet{Host: o.Name}, func(w io.Writer) {
				fmt.Fprintf(w, "this machine is server %s of the fleet; next: longterm fleet serve --cluster 0.0.0.0:7723 --route HOST:7723\n", o.Name)
			})
		}
		st, err := a.reloadFleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) {
			fmt.Fprintf(w, "this machine is host %s of fleet %s; see `longterm fleet ls`\n", st.Host, st.Fleet)
		})
	}
	f := c.Flags()
	f.StringVar(&o.Name, "name", "", "`NAME` of this machine in the fleet (default: the host name)")
	f.StringSliceVar(&o.NATS, "nats", nil, "`URL` of the fleet's existing NATS, with user and password (default: from the code)")
	f.StringVar(&o.Outside.Creds, "creds", "", "with an existing NATS: `FILE` with credentials or an NKey seed")
	f.StringVar(&o.Outside.CA, "tls-ca", "", "with an existing NATS: `FILE` with CA certificates for its TLS")
	f.StringSliceVar(&o.Labels, "label", nil, "label `NAME=VALUE` of this machine, for fleet run --on")
	return a.JSONFlag(c)
}

func (a *app) fleetLeave() *cobra.Command {
	var force bool
	c := &cobra.Command{Use: "leave", Short: "Leave the fleet", Args: cobra.NoArgs}
	c.Long = `Remove this machine's certificate and key, and leave the fleet. The fleet's data about this machine is kept until
` + "`longterm fleet revoke NAME`" + ` on the machine that created the fleet. On that machine --force is required: no
machine can join the fleet afterwards.

  longterm fleet leave`
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := fleetDir()
		if err != nil {
			return err
		}
		if _, err := dir.Authority(); err == nil && !force {
			return exit.Usagef("this machine created the fleet and has the only key to invite machines; --force abandons the fleet")
		}
		if err := dir.Leave(); err != nil {
			return err
		}
		st, err := a.reloadFleet(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) { fmt.Fprintln(w, "this machine is not in a fleet") })
	}
	c.Flags().BoolVar(&force, "force", false, "leave even from the machine that created the fleet")
	return a.JSONFlag(c)
}

func (a *app) fleetStatus() *cobra.Command {
	c := &cobra.Command{Use: "status", Short: "Show this machine's membership in its fleet", Args: cobra.NoArgs}
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
		return a.Print(list, func(w io.Writer) { fleets.WriteHosts(w, list, a.TableLook()) })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetLs() *cobra.Command {
	c := &cobra.Command{Use: "ls [HOST]", Short: "List sessions of all hosts of the fleet", Args: cobra.MaximumNArgs(1)}
	c.Long = "List the sessions of all hosts, or of HOST. Sessions of an unreachable host are listed in their last known state.\n\n" +
		"  longterm fleet ls build-1"
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		list, err := b.client.FleetSessions(cmd.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		return a.Print(list, func(w io.Writer) { fleets.WriteSessions(w, list, a.TableLook()) })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetEvents() *cobra.Command {
	var r fleets.Reader
	c := &cobra.Command{Use: "events READER", Short: "Print unacknowledged completions of all hosts", Args: cobra.ExactArgs(1)}
	c.Long = `Print completions of all hosts of the fleet: jobs, commands and sessions that ended, and requests for input or
approval. READER is a name; each reader receives each completion once, because printing acknowledges it. A new
reader starts with new completions. Without --follow the command ends after the pending ones.

  longterm fleet events ci --follow`
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := a.connect()
		if err != nil {
			return err
		}
		r.Name, r.JSON, r.Warn = args[0], a.JSON, a.Stderr
		return r.Run(cmd.Context(), b.client, a.Stdout)
	}
	c.Flags().BoolVarP(&r.Follow, "follow", "f", false, "new completions too, until interrupted")
	return a.JSONFlag(c)
}

func (a *app) fleetDrain(on bool) *cobra.Command {
	c := &cobra.Command{Use: "drain", Short: "Stop fleet run from using this machine", Args: cobra.NoArgs}
	if !on {
		c.Use, c.Short = "undrain", "Let fleet run use this machine again"
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
	c := &cobra.Command{Use: "revoke NAME", Short: "Revoke a member's certificate and disconnect it", Args: cobra.ExactArgs(1)}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		st, err := a.changeFleet(cmd.Context(), api.FleetAct{Act: "revoke", Name: args[0]})
		if err != nil {
			return err
		}
		return a.Print(st, func(w io.Writer) { fmt.Fprintln(w, args[0], "is no longer a member of the fleet") })
	}
	return a.JSONFlag(c)
}

func (a *app) fleetRestore() *cobra.Command {
	c := &cobra.Command{Use: "restore HOST", Short: "Restore a lost host's sessions from its replica", Args: cobra.ExactArgs(1)}
	c.Long = `Import the sessions of a lost host into this machine as ended sessions, from the fleet's replica. All reading verbs
work on them, and ` + "`longterm restore`" + ` starts one again.

  longterm fleet restore build-1

Sessions that are already here are skipped, so an interrupted restore can be repeated. The result counts what
the replica lacks. If a name is taken, the session is named by the start of its id; the label fleet-host=HOST
records its origin. The exit status is 1 if a session could not be restored.`
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

// onFleet returns the hosts of the fleet and a function that creates their clients.
func (a *app) onFleet(ctx context.Context) ([]api.FleetHost, fleets.ClientFactory, error) {
	if err := a.requireUser(ctx, "reaching other machines"); err != nil {
		return nil, nil, err
	}
	b, err := a.connect()
	if err != nil {
		return nil, nil, err
	}
	list, err := b.client.FleetHosts(ctx, "")
	return list, func(h api.FleetHost, onCopy func(api.FleetCopy)) *client.Client {
		o := b.options
		o.Remote, o.KeeperArgv, o.OnApproval, o.OnReplica = &client.ViaFleet{Local: b.client, Host: h.Host, IsLocal: h.IsLocal, IsUnreachable: h.State == "away"}, nil, nil, onCopy
		return client.New(o)
	}, err
}

func (a *app) fleetSearch() *cobra.Command {
	var f searchFlags
	c := &cobra.Command{Use: "search QUERY…", Short: "Search the output of all hosts' sessions", Args: cobra.MinimumNArgs(1)}
	c.Long = `Search the output of sessions on all hosts, as ` + "`longterm search`" + ` does on one. Hits are printed as hosts answer.

  longterm fleet search 'connection refused'

For an unreachable host its replica is searched. Standard error lists replicas that were used, and hosts that
neither answered nor have a replica. The exit status is 1 if nothing is found. With --json each hit is a line, and
the last line has the number of hosts that answered and those that did not.`
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
		for i := range found.Replicas {
			fmt.Fprintf(a.Stderr, "longterm: %s\n", fleets.CopyText(&found.Replicas[i]))
		}
		for _, b := range found.Behind {
			fmt.Fprintf(a.Stderr, "longterm: %s: %s\n", b.Host, output.Printable(b.Note))
		}
		for _, m := range found.Missing {
			fmt.Fprintf(a.Stderr, "longterm: %s: no answer: %s\n", m.Host, output.Printable(m.Why))
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
	c.Flags().IntVar(&f.q.Limit, "limit", 50, "maximum `NUMBER` of hits per host")
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
	c := &cobra.Command{Use: "run [flags] -- CMD…", Short: "Start a session on the host with the most capacity", Args: cobra.MinimumNArgs(1)}
	c.Long = `Start CMD in a session on one host of the fleet, and print its name HOST/NAME, which every verb accepts.

  longterm fleet run --on gpu -- make train
  longterm fleet run --each-host -- uptime

The session runs on the host with the most idle processors and free memory. --on allows only hosts with these
labels; --near names a host that is preferred if it accepts sessions. Drained hosts accept none. The session has
its host's environment and home directory.

With --each-host CMD runs on every such host, and its output is printed with the host's name. The exit status is
1 if CMD failed on any host.`
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
				return exit.Usagef("--label %q: not NAME=VALUE", l)
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
		return a.Print(fleets.HostResult{Host: fits[0].Host, Session: s.ID, Name: s.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s/%s\n", fits[0].Host, s.Name) })
	}
	f := c.Flags()
	f.StringSliceVar(&want.On, "on", nil, "required host `LABEL`: NAME or NAME=VALUE")
	f.StringVar(&want.Near, "near", "", "preferred `HOST`, if it accepts sessions")
	f.BoolVar(&each, "each-host", false, "run on every host and print each host's output")
	f.StringVarP(&name, "name", "n", "", "`NAME` of the session (default: from the command)")
	f.StringVar(&cwd, "cwd", "", "working `DIR` on the host (default: the home directory)")
	f.StringArrayVar(&labels, "label", nil, "label `NAME=VALUE` of the session, repeatable")
	f.SetInterspersed(false)
	return a.JSONFlag(c)
}

// viaFleet returns the way to a host of this machine's fleet, or nil if the fleet has no such host.
func (a *app) viaFleet(ctx context.Context, o client.Options, name string) (client.RemoteHost, error) {
	dir, err := fleetDir()
	if err != nil || fleet.CheckName(name) != nil {
		return nil, err
	}
	if ctx == nil { // no verb was called: this is a completion
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
	return &client.ViaFleet{Local: local, Host: name, IsLocal: list[0].IsLocal, IsUnreachable: list[0].State == "away"}, nil
}

func fleetSimulate() *cobra.Command {
	c := &cobra.Command{Use: "simulate [OPTIONS]", Short: "Add simulated hosts to the fleet, for measurements"}
	c.Long = "Add simulated hosts to the fleet until interrupted. The program ltbench does this (see `longterm bench --help`)."
	passOn(c, "simulate")
	return c
}
