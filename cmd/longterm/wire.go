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
	"github.com/longterm-dev/longterm/cmd/internal/fleets"
	"github.com/longterm-dev/longterm/cmd/internal/foreground"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/remote"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/paths"
)

// backend is how the verbs reach the daemon.
type backend struct {
	dirs   paths.Dirs
	client *client.Client // starts the daemon where the verb may
	quiet  *client.Client // never starts anything

	options client.Options // of client
}

func (b *backend) close() {
	b.client.Close()
	b.quiet.Close()
}

// connect makes the backend; nothing is contacted yet.
func (a *app) connect() (*backend, error) {
	if a.backend != nil {
		return a.backend, nil
	}
	dirs, err := paths.Default()
	if err != nil {
		return nil, err
	}
	label := cmp.Or(a.agent, os.Getenv(actor.Env))
	if err := actor.CheckLabel(label); err != nil {
		return nil, exit.Usage(err)
	}
	o := client.Options{Dirs: dirs, Build: version, Agent: label, OnApproval: a.tellWaiting, OnCopy: a.tellCopy, OnSilent: a.tellSilent, OneVerb: true}
	if a.waits {
		o.OnAway = a.tellAway
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
		first.Begun = begun()
	}
	a.backend = &backend{dirs, client.New(first), quiet, o}
	return a.backend, nil
}

// begun is what was asked before the program was initialised and is left to the verb; nil: nothing.
func begun() *client.Begun {
	r := &shortcut.Begun
	if r.Conn == nil {
		return nil
	}
	conn, err := net.FileConn(r.Conn) // a copy
	_ = r.Conn.Close()
	if r.Conn = nil; err != nil {
		return &client.Begun{Method: r.Method, URI: r.URI, Answer: io.NopCloser(strings.NewReader(r.Got))}
	}
	return &client.Begun{Method: r.Method, URI: r.URI, Conn: conn, Answer: struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(r.Got), conn), conn}}
}

// hosts is what makes ways to other hosts.
func (a *app) hosts() (*remote.Hosts, error) {
	dirs, err := paths.Default()
	if err != nil {
		return nil, err
	}
	return &remote.Hosts{Printer: &a.Printer, Stdin: a.stdin, Dirs: dirs, Settings: a.settings(), Install: a.install}, nil
}

// onHost has what a client asks for be asked of the daemon of another host.
func (a *app) onHost(o *client.Options, name string) error {
	if w, err := a.viaFleet(a.ctx, *o, name); err != nil || w != nil {
		o.Way, o.KeeperArgv = w, nil
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
	o.Way, o.From, o.KeeperArgv = w, hosts.As(), nil
	return nil
}

// thereMark is the annotation of verbs below others that are about the host itself.
const thereMark = "there"

// place is what holds for a verb before it begins: which host it is about. A verb whose subject is the host itself
// is run there, and done here.
func (a *app) place(v *verb, cmd *cobra.Command, args []string) error {
	a.ctx = cmd.Context()
	if !a.given && !cmd.Root().PersistentFlags().Changed("host") {
		a.host = os.Getenv(remote.Env)
	}
	if v.hosts {
		return nil
	}
	a.waits = v.waits
	if len(a.named) > 1 {
		return exit.Usagef("this is about one host at a time; `longterm view` shows several: %s", strings.Join(a.named, ", "))
	}
	if a.host != "" && (v.there || cmd.Annotations[thereMark] != "") && !cmd.Hidden {
		dirs, err := paths.Default()
		if err != nil {
			return err
		}
		if w, err := a.viaFleet(cmd.Context(), client.Options{Dirs: dirs, Build: version}, a.host); err != nil {
			return err
		} else if w != nil {
			return exit.Usagef("%s is about the files and programs of its host, and runs there: longterm -H %s run -- longterm %s",
				strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), a.host, strings.Join(remote.WithoutHost(a.args), " "))
		}
		h, err := a.hosts()
		if err != nil {
			return err
		}
		return h.There(cmd.Context(), a.host, remote.WithoutHost(a.args))
	}
	if !v.session {
		return nil
	}
	last := min(1, len(args))
	if strings.Contains(strings.Fields(v.args + " ")[0], "…") { // all are sessions
		last = len(args)
	}
	return a.takeHosts(args[:last], strings.Contains(v.args, "FILE"))
}

// takeHosts takes the hosts off the names of sessions.
func (a *app) takeHosts(refs []string, files bool) error {
	first := "" // that names a host
	for i, ref := range refs {
		host, session, ok := hosts.Split(ref)
		if !ok && first != "" {
			return exit.Usagef("%s is a session of %s, %s one of this host; name sessions of one host", first, a.host, ref)
		}
		if !ok {
			continue
		}
		if _, err := os.Stat(ref); err == nil && files {
			continue
		}
		if a.host != "" && a.host != host {
			return exit.Usagef("%s is a session of %s, and this is about %s; name sessions of one host", ref, host, a.host)
		}
		if i > 0 && a.host == "" {
			return exit.Usagef("%s is a session of %s, %s one of this host; name sessions of one host", ref, host, refs[0])
		}
		if a.host == "" {
			first = ref
		}
		a.host, refs[i] = host, session
	}
	return nil
}

// leading takes what says which host it is about off the arguments before the verb, for any verb: some have a flag
// of that name themselves.
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

// name takes a host that was given.
func (a *app) name(host string) {
	a.host, a.given, a.named = host, true, append(a.named, host)
}

// hostFlag is the host that a verb is about, or one of several.
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

// hostFlags are those that every verb has.
func hostFlags(a *app, root *cobra.Command) {
	f := root.PersistentFlags()
	f.VarP(hostFlag{a}, "host", "H", "do it on this host, over ssh: USER@HOST, or a name of ~/.ssh/config ($LONGTERM_HOST)")
	f.BoolVar(&a.install, "install", a.install, "with --host: copy longterm there if there is none, without asking")
}

// tellAway says that another host is not reached, and asked again.
func (a *app) tellAway(why error) {
	if a.JSON {
		line, _ := json.Marshal(map[string]string{"unreachable": why.Error()})
		fmt.Fprintf(a.Stderr, "%s\n", line)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %v; it is tried again\n", why)
}

// tellSilent says that the daemon answers nothing, while it is waited for.
func (a *app) tellSilent(s client.Silence) {
	if a.JSON {
		line, _ := json.Marshal(map[string]string{"silent": s.String()})
		fmt.Fprintf(a.Stderr, "%s\n", line)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %v; it is waited for\n", s)
}

// tellWaiting says that what was asked for waits for a person.
func (a *app) tellWaiting(id string) {
	if a.JSON {
		fmt.Fprintf(a.Stderr, "{\"waiting_for_approval\":%q}\n", id)
		return
	}
	fmt.Fprintln(a.Stderr, foreground.Waits(a.host, id))
}

// tellCopy says that what is printed is from the fleet's copy of a host, as often as there is something else to say of it.
func (a *app) tellCopy(c api.FleetCopy) {
	if a.Copy != nil && *a.Copy == c {
		return
	}
	a.Copy = &c
	if a.JSON {
		b, _ := json.Marshal(c) // strings, numbers and a time
		fmt.Fprintf(a.Stderr, "{\"copy\":%s}\n", b)
		return
	}
	fmt.Fprintf(a.Stderr, "longterm: %s\n", fleets.CopyText(&c))
}

// session is a client for one session, by id, name or prefix.
func (a *app) session(ref string) (*client.Session, error) {
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	return b.client.Session(ref), nil
}

// forPerson says that a person uses it: keys come from a terminal, and what is
// printed goes to one.
func (a *app) forPerson() bool {
	return !a.JSON && termio.IsTerminal(a.stdin) && termio.IsTerminal(a.Stdout)
}

// input is where files come from that verbs are given.
func (a *app) input() request.Input { return request.Input{Stdin: a.stdin, Stderr: a.Stderr} }

// caller is for verbs that wait for the ends of what they run.
func (a *app) caller(b *backend) *foreground.Caller {
	return &foreground.Caller{Printer: &a.Printer, Stdin: a.stdin, Client: b.client, Host: a.host, Waiting: a.tellWaiting}
}

// seenAs is who this process is to the daemon; where there is none, there is no session that it could be in.
func (a *app) seenAs(ctx context.Context) api.Caller {
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

// takenWithin is how long the daemon is given to take a file that was written: it looks each second.
const takenWithin = 3 * time.Second

// awaitConfig waits until the daemon, if there is one that reads this file, goes by what was written: who has made rules
// stricter counts on them from here on.
func (a *app) awaitConfig(ctx context.Context, path string, written time.Time) {
	b, err := a.connect()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, takenWithin)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		st, err := b.quiet.Status(ctx)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			fmt.Fprintln(a.Stderr, "longterm: the daemon has not taken it yet; `longterm daemon status` says which file it goes by")
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

// completeSession completes the first argument with sessions' names. It starts nothing:
// a press of Tab is no wish for a daemon.
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

// onSession makes what a verb does of what it does with the session that its first argument names.
func (a *app) onSession(do func(*cobra.Command, *client.Session, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := a.session(args[0])
		if err != nil {
			return err
		}
		return do(cmd, s, args[1:])
	}
}
