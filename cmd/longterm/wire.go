//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/remote"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/waitrun"
	"github.com/longterm-dev/longterm/cmd/internal/worktree"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// backend holds the clients with which verbs reach the daemon.
type backend struct {
	dirs   paths.Dirs
	client *client.Client // may start the daemon, if the verb may
	quiet  *client.Client // never starts the daemon

	options client.Options // options of client
}

func (b *backend) close() {
	b.client.Close()
	b.quiet.Close()
}

// connect creates the backend, once. It sends no request yet.
func (a *app) connect() (*backend, error) {
	if a.backend != nil {
		return a.backend, nil
	}
	dirs, err := paths.Default()
	if err != nil {
		return nil, err
	}
	label := cmp.Or(a.agent, os.Getenv(identity.Env))
	if err := identity.CheckLabel(label); err != nil {
		return nil, exit.Usage(err)
	}
	o := client.Options{Dirs: dirs, Build: version, Agent: label, OnApproval: a.reportPending, OnReplica: a.reportReplica, OnUnresponsive: a.reportSilent, IsOneCommand: true}
	if a.waits {
		o.OnOutage = a.reportUnreachable
	}
	if a.host != "" {
		if err := a.onHost(&o, a.host); err != nil {
			return nil, err
		}
	}
	quiet := client.New(o)
	if a.starts && a.host == "" {
		o.KeeperArgv = func() []string { return companion.KeeperArgv(dirs, paths.MainKeeper, true) }
	}
	first := o
	if a.host == "" {
		first.Prefetched = prefetchedRequest()
	}
	a.backend = &backend{dirs, client.New(first), quiet, o}
	return a.backend, nil
}

// prefetchedRequest returns the request that the fast path sent before the program was initialised and left to the verb, or
// nil.
func prefetchedRequest() *client.PrefetchedRequest {
	r := &fastpath.Sent
	if r.Conn == nil {
		return nil
	}
	conn, err := net.FileConn(r.Conn) // duplicates the descriptor
	_ = r.Conn.Close()
	if r.Conn = nil; err != nil {
		return &client.PrefetchedRequest{Method: r.Method, URI: r.URI, Response: io.NopCloser(strings.NewReader(r.Got))}
	}
	return &client.PrefetchedRequest{Method: r.Method, URI: r.URI, Conn: conn, Response: struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(r.Got), conn), conn}}
}

// hosts returns the factory of ways to remote hosts.
func (a *app) hosts() (*remote.Hosts, error) {
	dirs, err := paths.Default()
	if err != nil {
		return nil, err
	}
	return &remote.Hosts{Printer: &a.Printer, Stdin: a.stdin, Dirs: dirs, Settings: a.settings(), Install: a.install}, nil
}

// onHost directs a client's requests to the daemon of a remote host.
func (a *app) onHost(o *client.Options, name string) error {
	if w, err := a.viaFleet(a.ctx, *o, name); err != nil || w != nil {
		o.Remote, o.KeeperArgv = w, nil
		return err
	}
	h, err := a.hosts()
	if err != nil {
		return err
	}
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	o.Remote, o.From, o.KeeperArgv = w, hosts.ClientLabel(), nil
	return nil
}

// remoteMark is the annotation of subcommands that concern the host itself.
const remoteMark = "there"

// selectHost selects the host that a verb concerns before the verb runs. A verb about the host itself (verb.there) runs on
// that host instead of here.
func (a *app) selectHost(v *verb, cmd *cobra.Command, args []string) error {
	a.ctx = cmd.Context()
	if !a.given && !cmd.Root().PersistentFlags().Changed("host") {
		a.host = os.Getenv(remote.Env)
	}
	if v.hosts {
		return nil
	}
	a.waits = v.waits
	if len(a.named) > 1 {
		return exit.Usagef("one host at a time; see several with `longterm view`: %s", strings.Join(a.named, ", "))
	}
	if a.host != "" && (v.there || cmd.Annotations[remoteMark] != "") && !cmd.Hidden {
		dirs, err := paths.Default()
		if err != nil {
			return err
		}
		if w, err := a.viaFleet(cmd.Context(), client.Options{Dirs: dirs, Build: version}, a.host); err != nil {
			return err
		} else if w != nil {
			return exit.Usagef("%s concerns files and programs of its host; use `longterm -H %[2]s run -- longterm %[3]s`",
				strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), a.host, shellquote.Line(remote.WithoutHost(a.args)))
		}
		h, err := a.hosts()
		if err != nil {
			return err
		}
		return h.RunVerb(cmd.Context(), a.host, remote.WithoutHost(a.args))
	}
	if !v.session {
		return nil
	}
	last := min(1, len(args))
	if strings.Contains(strings.Fields(v.args + " ")[0], "…") { // all arguments are sessions
		last = len(args)
	}
	return a.takeHosts(args[:last], strings.Contains(v.args, "FILE"))
}

// takeHosts removes the host from session names in refs, and sets a.host. files reports that an argument may be a file
// instead.
func (a *app) takeHosts(refs []string, files bool) error {
	first := "" // first session name with a host
	for i, ref := range refs {
		host, session, ok := hosts.Split(ref)
		if !ok && first != "" {
			return exit.Usagef("%s is a session of %s, but %s of this host; use sessions of one host", first, a.host, ref)
		}
		if !ok {
			continue
		}
		if _, err := os.Stat(ref); err == nil && files {
			continue
		}
		if a.host != "" && a.host != host {
			return exit.Usagef("%s is a session of %s, not of %s; use sessions of one host", ref, host, a.host)
		}
		if i > 0 && a.host == "" {
			return exit.Usagef("%s is a session of %s, but %s of this host; use sessions of one host", ref, host, refs[0])
		}
		if a.host == "" {
			first = ref
		}
		a.host, refs[i] = host, session
	}
	return nil
}

// leading removes host flags in front of the verb. It works for every verb: some have their own --host flag.
func (a *app) leading(args []string) []string {
	for len(args) > 0 {
		switch arg := args[0]; {
		case (arg == "-H" || arg == "--host") && len(args) > 1:
			a.name(args[1])
			args = args[2:]
		case strings.HasPrefix(arg, "--host="):
			a.name(arg[len("--host="):])
			args = args[1:]
		case len(arg) > 2 && strings.HasPrefix(arg, "-H"):
			a.name(arg[len("-H"):])
			args = args[1:]
		case arg == "--install":
			a.install, args = true, args[1:]
		default:
			return args
		}
	}
	return args
}

// name records a host of the command line.
func (a *app) name(host string) {
	a.host, a.given, a.named = host, true, append(a.named, host)
}

// hostFlag is the value of --host.
type hostFlag struct{ *app }

func (h hostFlag) Set(host string) error {
	h.name(host)
	return nil
}

func (h hostFlag) Type() string { return "string" }

func (h hostFlag) String() string {
	if h.app == nil {
		return ""
	}
	return h.host
}

// hostFlags adds the flags that every verb has.
func hostFlags(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.VarP(hostFlag{a}, "host", "H", "remote `HOST` to use, over ssh: USER@HOST, or a name of ~/.ssh/config ($LONGTERM_HOST)")
	f.BoolVar(&a.install, "install", a.install, "with --host: install longterm there without a question if it is missing")
}

// reportUnreachable prints that a remote host is unreachable and the request will be retried.
func (a *app) reportUnreachable(why error) {
	if a.JSON {
		line, _ := json.Marshal(map[string]string{"unreachable": why.Error()})
		fmt.Fprintf(a.Stderr, "%s\n", line)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %v; retrying\n", why)
}

// reportSilent reports that the daemon does not respond.
func (a *app) reportSilent(s client.UnresponsiveError) {
	if a.JSON {
		line, _ := json.Marshal(map[string]string{"silent": s.String()})
		fmt.Fprintf(a.Stderr, "%s\n", line)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %v; still waiting\n", s)
}

// reportPending reports that a request waits for approval.
func (a *app) reportPending(id string) {
	if a.JSON {
		fmt.Fprintf(a.Stderr, "{\"waiting_for_approval\":%q}\n", id)
		return
	}
	fmt.Fprintln(a.Stderr, waitrun.Waits(a.host, id))
}

// reportReplica reports that the output comes from a replica, once per state of the replica.
func (a *app) reportReplica(c api.FleetCopy) {
	if a.Copy != nil && *a.Copy == c {
		return
	}
	a.Copy = &c
	if a.JSON {
		b, _ := json.Marshal(c) // marshals strings, numbers and a time: no error
		fmt.Fprintf(a.Stderr, "{\"copy\":%s}\n", b)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %s\n", fleets.CopyText(&c))
}

// session returns a client for one session, by id, name or prefix.
func (a *app) session(ref string) (*client.Session, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	return b.client.Session(ref), nil
}

// isInteractive reports whether a user sits at the terminal: input and output are terminals, and the output is not JSON.
func (a *app) isInteractive() bool {
	return !a.JSON && termio.IsTerminal(a.stdin) && termio.IsTerminal(a.Stdout)
}

// worktrees returns what verbs do with the git worktrees of sessions.
func (a *app) worktrees() *worktree.Sessions {
	return &worktree.Sessions{Host: a.host, Agent: cmp.Or(a.agent, os.Getenv(identity.Env)), Stderr: a.Stderr}
}

// input returns the source of files that verbs read.
func (a *app) input() request.Input { return request.Input{Stdin: a.stdin, Stderr: a.Stderr} }

// caller returns the waitrun.Caller of verbs that wait for the end of a command.
func (a *app) caller(b *backend) *waitrun.Caller {
	return &waitrun.Caller{Printer: &a.Printer, Stdin: a.stdin, Client: b.client, Host: a.host, OnApproval: a.reportPending}
}

// identifySelf returns how the daemon identifies this process, or the zero Caller if no daemon runs.
func (a *app) identifySelf(ctx context.Context) api.Caller {
	b, err := a.connect()
	if err != nil {
		return api.Caller{}
	}
	st, err := b.quiet.Status(ctx)
	if err != nil {
		return api.Caller{}
	}
	return st.Caller
}

// applyTimeout is the timeout for the daemon to apply a changed file, which it checks every second.
const applyTimeout = 3 * time.Second

// awaitConfig waits until the daemon, if it reads this file, has applied the change. A caller that made rules stricter
// can rely on them afterwards.
func (a *app) awaitConfig(ctx context.Context, path string, written time.Time) {
	b, err := a.connect()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st, err := b.quiet.Status(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Fprintln(a.Stderr, "longterm: not applied yet; see `longterm daemon status`")
			return
		case err != nil || st.Config.File != path || st.Config.Loaded.After(written):
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// completeSession completes the first argument with names of sessions. It does not start the daemon.
func (a *app) completeSession(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	b, err := a.connect()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	list, err := b.quiet.List(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range list {
		if strings.HasPrefix(s.Name, toComplete) {
			names = append(names, s.Name+"\t"+output.StateText(&s)+" "+output.Printable(output.Shorten(s.Command, 40)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// onSession returns the function of a verb whose first argument is a session.
func (a *app) onSession(do func(*cobra.Command, *client.Session, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.session(args[0])
		if err != nil {
			return err
		}
		return do(cmd, s, args[1:])
	}
}
