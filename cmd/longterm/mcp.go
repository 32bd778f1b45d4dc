//go:build unix

package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/logs"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/mcp"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// mcpFlags holds the flags of `mcp`.
type mcpFlags struct {
	http, tokens, level, elicit, agent string
	hosts, origins                     []string
}

func mcpVerb(a *app, c *cobra.Command) {
	var f mcpFlags
	c.Long = `Serve agents over the Model Context Protocol (MCP), revisions 2026-07-28, 2025-11-25 and older: on standard input
and output, as agents start it, or with --http on an address, at the path /mcp. Sessions and jobs belong to the
daemon: ids stay valid when this server or the daemon is killed.

  longterm mcp --tools change
  longterm mcp --http 127.0.0.1:7717

Over HTTP each request needs a token (Authorization: Bearer TOKEN), created by ` + "`longterm token new`" + ` or listed in
--token-file, whose lines are TOKEN [LEVEL [NAME]]. Without --token-file one token is created in the state
directory, and its file is printed on standard error. The server listens on the loopback address unless another
one is given, and rejects requests for other host names and from other pages.

--tools selects the tools: read (view), change (also run and type), all (also end and remove). The client can show
approval requests as forms (--elicit). Passwords are typed by the user in the session (longterm attach); neither
forms nor models see them.`
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), &f) }
	fl := c.Flags()
	fl.StringVar(&f.http, "http", "", "`ADDRESS` for HTTP, such as 127.0.0.1:7717 or :7717 (loopback)")
	fl.StringVar(&f.tokens, "token-file", "", "with --http: `FILE` of tokens, mode 0600")
	fl.StringArrayVar(&f.hosts, "host", nil, "with --http: additional host `NAME` of the server besides localhost; repeatable")
	fl.StringArrayVar(&f.origins, "origin", nil, "with --http: `ORIGIN` of a page that may send requests, such as https://example.org; repeatable")
	fl.StringVar(&f.level, "tools", "all", "`LEVEL` of tools: read, change or all; over HTTP also limited by the token's level")
	fl.StringVar(&f.agent, "agent", "", "`LABEL` of the agent in rules and records (default: $LONGTERM_AGENT, the token's name, or the client's name)")
	fl.StringVar(&f.elicit, "elicit", "passwords", "prompts that the client shows as forms: never, passwords (approvals only), always (also yes or no)")
}

func (a *app) serveMCP(ctx context.Context, f *mcpFlags) error {
	level, err := mcp.ParseLevel(f.level)
	if err != nil {
		return exit.Usagef("--tools %w", err)
	}
	switch mcp.Elicit(f.elicit) {
	case mcp.ElicitNever, mcp.ElicitPasswords, mcp.ElicitAlways:
	default:
		return exit.Usagef("--elicit %q: invalid value; use never, passwords or always", f.elicit)
	}
	f.agent = cmp.Or(f.agent, os.Getenv(identity.Env))
	if err := identity.CheckLabel(f.agent); err != nil {
		return exit.Usagef("--agent: %w", err)
	}
	if f.http == "" && (f.tokens != "" || len(f.hosts)+len(f.origins) > 0) {
		return exit.Usagef("--token-file, --host and --origin require --http")
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	if err := b.dirs.Make(); err != nil {
		return err
	}
	key, err := mcp.LoadKey(b.dirs.State)
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("working directory: %w; change to an existing directory", err)
	}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("LONGTERM_DEBUG") != "" {
		log = logs.To(os.Stderr)
	}
	s, err := mcp.New(mcp.Options{
		Client: b.agent, Agent: f.agent, Build: version(), Env: os.Environ(), Cwd: cwd, Shell: spawn.UserShell(os.Environ()), Level: level, Elicit: mcp.Elicit(f.elicit), Key: key, Log: log,
		Contexts: filepath.Join(b.dirs.State, consumersDir),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if f.http == "" {
		err := s.Run(ctx, mcp.Stdio())
		if ctx.Err() != nil {
			return nil // ended by a signal
		}
		return err
	}
	if f.tokens == "" {
		if f.tokens, err = ownToken(b.dirs.State); err != nil {
			return err
		}
	}
	tokens, err := mcp.LoadTokens(f.tokens)
	if err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	for i := range tokens {
		tokens[i].Level = min(tokens[i].Level, level)
	}
	return a.serveMCPOverHTTP(ctx, s, s.Handler(tokens, apitoken.Open(b.dirs.Tokens()), apitoken.Source{Hosts: f.hosts, Origins: f.origins}), f)
}

// agent returns a client of the daemon for the agent with this label. Its answers report pending approvals, so
// OnApproval is unset.
func (b *backend) agent(label, token string) *client.Client {
	o := b.options
	o.Agent, o.Token, o.OnApproval, o.IsOneCommand = label, token, nil, false
	return client.New(o)
}

// ownToken returns the file with this user's token, and creates it if it does not exist.
func ownToken(dir string) (string, error) {
	path := filepath.Join(dir, "mcp.token")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	return path, atomicfile.Write(path, atomicfile.Options{Mode: 0o600}, []byte(rand.Text()+" all default\n"))
}

// stopTime limits how long open requests may take after the server was stopped.
const stopTime = time.Second

func (a *app) serveMCPOverHTTP(ctx context.Context, s *mcp.Server, h http.Handler, f *mcpFlags) error {
	addr := f.http
	if host, port, err := net.SplitHostPort(addr); err != nil {
		return exit.Usagef("--http %q: not an address with a port, such as 127.0.0.1:7717", addr)
	} else if host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with --http", err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(mcp.GCPercent)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	fmt.Fprintf(a.Stderr, "longterm: MCP at http://%s/mcp, tokens in %s\n", l.Addr(), f.tokens)
	go func() {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		if server.Shutdown(stop) != nil {
			_ = server.Close()
		}
	}()
	if err := server.Serve(s.Listener(server, l)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
