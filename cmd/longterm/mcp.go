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
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/mcp"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// mcpFlags are what `mcp` is told.
type mcpFlags struct {
	http, tokens, level, elicit, agent string
	hosts, origins                     []string
}

func mcpVerb(a *app, c *cobra.Command) {
	var f mcpFlags
	c.Long = `Serve agents by the Model Context Protocol, revisions 2026-07-28 and 2025-11-25 (and older ones): on standard
input and output, as agents start it, or with --http on an address, at the path /mcp. Sessions and jobs belong to
the daemon: when this server or the daemon is killed, nothing is lost, and ids stay valid.

Over HTTP each request needs a token (Authorization: Bearer TOKEN): one that "longterm token new" made, or one of a
file of lines TOKEN [LEVEL [NAME]]; without --token-file one is made and kept in the state directory, and its file is
named on standard error. Only the loopback
address is listened on unless another one is given; requests for other hosts and from other pages are refused.

The tools are those that look (--tools read), that run and type as well (change), or that end and remove, too (all).
The client shows forms for approvals, where it can (--elicit). A password is typed by the
user in the session (longterm attach): no form and no model gets to see it.`
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), &f) }
	fl := c.Flags()
	fl.StringVar(&f.http, "http", "", "serve HTTP on this address, as in 127.0.0.1:7717 or :7717 (loopback)")
	fl.StringVar(&f.tokens, "token-file", "", "with --http: the file of tokens, of mode 0600")
	fl.StringArrayVar(&f.hosts, "host", nil, "with --http: a name under which the server is reached, besides localhost, repeatable")
	fl.StringArrayVar(&f.origins, "origin", nil, "with --http: a page that may ask, as in https://example.org, repeatable")
	fl.StringVar(&f.level, "tools", "all", "which tools there are: read, change or all; over HTTP the token's level counts, too")
	fl.StringVar(&f.agent, "agent", "", "label of the agent in rules and records (default: LONGTERM_AGENT, the token's name, or what the client calls itself)")
	fl.StringVar(&f.elicit, "elicit", "passwords", "questions that the client shows in forms: never, passwords (approvals only), or always (yes or no as well)")
}

func (a *app) serveMCP(ctx context.Context, f *mcpFlags) error {
	level, err := mcp.ParseLevel(f.level)
	if err != nil {
		return exit.Usagef("--tools %w", err)
	}
	switch mcp.Elicit(f.elicit) {
	case mcp.ElicitNever, mcp.ElicitPasswords, mcp.ElicitAlways:
	default:
		return exit.Usagef("--elicit %q; there are never, passwords and always", f.elicit)
	}
	f.agent = cmp.Or(f.agent, os.Getenv(actor.Env))
	if err := actor.CheckLabel(f.agent); err != nil {
		return exit.Usagef("--agent: %w", err)
	}
	if f.http == "" && (f.tokens != "" || len(f.hosts)+len(f.origins) > 0) {
		return exit.Usagef("--token-file, --host and --origin are for --http")
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
		return fmt.Errorf("working directory: %w; start it in one that exists", err)
	}
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("LONGTERM_DEBUG") != "" {
		log = logs.To(os.Stderr)
	}
	s, err := mcp.New(mcp.Options{
		Client: b.agent, Agent: f.agent, Build: version(), Env: os.Environ(), Cwd: cwd, Level: level, Elicit: mcp.Elicit(f.elicit), Key: key, Log: log,
		Contexts: filepath.Join(b.dirs.State, consumersDir),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if f.http == "" {
		err := s.Run(ctx, mcp.Stdio())
		if ctx.Err() != nil {
			return nil // told to end
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
	return a.serveMCPOverHTTP(ctx, s, s.Handler(tokens, access.Open(b.dirs.Tokens()), access.Source{Hosts: f.hosts, Origins: f.origins}), f)
}

// agent is a client of the daemon for an agent by its label. What waits for a person is told by its answers.
func (b *backend) agent(label, token string) *client.Client {
	o := b.options
	o.Agent, o.Token, o.OnApproval, o.OneVerb = label, token, nil, false
	return client.New(o)
}

// ownToken is the file with the token that was made for this user.
func ownToken(dir string) (string, error) {
	path := filepath.Join(dir, "mcp.token")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return path, err
	}
	return path, atomicfile.Write(path, atomicfile.Options{Mode: 0o600}, []byte(rand.Text()+" all default\n"))
}

// stopTime is how long requests under way may take when the server is told to end.
const stopTime = time.Second

func (a *app) serveMCPOverHTTP(ctx context.Context, s *mcp.Server, h http.Handler, f *mcpFlags) error {
	addr := f.http
	if host, port, err := net.SplitHostPort(addr); err != nil {
		return exit.Usagef("--http %q: give an address with a port, as in 127.0.0.1:7717", addr)
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
