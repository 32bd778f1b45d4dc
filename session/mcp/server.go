//go:build unix

package mcp

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
)

// Level is the level of tools that a client may use.
type Level = apitoken.Level

// Levels. Each includes those before it.
const (
	Read   = apitoken.Read   // reads only
	Change = apitoken.Change // runs commands and types input
	All    = apitoken.All    // ends and removes too
)

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) { return apitoken.ParseLevel(name) }

// Elicit is when the server asks the user through the client instead of the model.
type Elicit string

// Settings of Elicit.
const (
	ElicitNever     Elicit = "never"
	ElicitPasswords Elicit = "passwords" // for approvals; the protocol forbids forms for passwords, and the name stays
	ElicitAlways    Elicit = "always"    // for yes or no too
)

// Options configure a server.
type Options struct {
	// Client returns a client of the daemon for an agent by its label, and the name of the token that it used, if the
	// token is one of the daemon's.
	Client func(agent, token string) *client.Client
	Build  string
	Env    []string // environment of started programs
	Cwd    string   // default directory of started programs
	Shell  string   // executable that lines without a session run in, for descriptions; empty: unknown
	Level  Level    // over stdio; over HTTP the token sets it
	Agent  string   // agent label; empty: the client's name
	Elicit Elicit
	Key    []byte // of request states, 32 bytes
	// Contexts is the directory that records which commands of the context each agent got.
	Contexts string
	Log      *slog.Logger
}

// describeShell returns a sentence on the shell and system that lines run in, for models that write lines.
func (o *Options) describeShell() string {
	if o.Shell == "" {
		return ""
	}
	name := strings.TrimSuffix(filepath.Base(o.Shell), ".exe")
	syntax := ""
	switch name {
	case "pwsh", "powershell":
		syntax = ": quote with '…', escape with `"
	case "fish", "nu", "elvish", "xonsh", "csh", "tcsh":
		syntax = ", whose syntax is not POSIX"
	}
	return " Shell: " + name + " on " + runtime.GOOS + syntax + "."
}

// Server answers clients of the protocol.
type Server struct {
	options    Options
	seal       *sealer
	limiter    *callLimiter
	agents     *agentClients
	watch      *watcher
	levels     [All + 1]*sdk.Server // SDK servers by level
	sweep      sweeper
	reported   reportedApprovals
	screens    screenVersions
	scheduling *scheduling // of requests by HTTP

	lifetime context.Context // ends shutdownTimeout after a request to end the server
	endCalls context.CancelFunc
}

// New returns a server. It contacts nothing yet.
func New(o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Elicit == "" {
		o.Elicit = ElicitPasswords
	}
	seal, err := newSealer(o.Key)
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, seal: seal, limiter: newCallLimiter(), scheduling: newScheduling(), agents: newAgentClients(o.Client, o.Agent)}
	s.lifetime, s.endCalls = context.WithCancel(context.Background())
	s.watch = newWatcher(s.agents.forLabel(o.Agent, ""), o.Log, s.publish)
	for l := range s.levels {
		if s.levels[l], err = s.build(Level(l)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run serves one client over a transport, until it disconnects or ctx ends. Calls in progress then are answered at once.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error {
	if p, ok := t.(*drainingTransport); ok { // the SDK would close the transport during calls
		p.stop = ctx.Done()
		defer context.AfterFunc(ctx, s.endCalls)()
		ctx = context.WithoutCancel(ctx)
	}
	return s.levels[s.options.Level].Run(ctx, t)
}

// Close ends the server's background work.
func (s *Server) Close() {
	s.endCalls()
	s.watch.close()
	s.sweep.wait()
	s.agents.close()
}

// instructions describe the whole server to a model.
const instructions = `longterm runs commands in terminals that outlive this connection. exec runs a line and answers with its exact exit code ` +
	`by its yield time. A line that still runs is a job: call wait, do not poll; its id survives all restarts. ` +
	`start opens a shell or program that keeps its state. help(topic) explains more.`

// build returns the server of one level.
func (s *Server) build(l Level) (*sdk.Server, error) {
	caps := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true}}
	caps.AddExtension(tasksExtension, map[string]any{})
	server := sdk.NewServer(&sdk.Implementation{Name: "longterm", Version: s.options.Build}, &sdk.ServerOptions{
		Instructions: instructions, Logger: s.options.Log, Capabilities: caps, PageSize: 1000,
		SubscribeHandler:   func(ctx context.Context, req *sdk.SubscribeRequest) error { return s.subscribe(ctx, req, l) },
		UnsubscribeHandler: s.unsubscribe, SetCacheable: setCacheTTL,
	})
	for i := range tools {
		if tools[i].level <= l {
			t := tools[i]
			if t.runsLines {
				t.about += s.options.describeShell()
			}
			if err := s.addTool(server, &t); err != nil {
				return nil, err
			}
		}
	}
	s.addResources(server, l)
	tasks := s.tasksFor(l)
	if err := tasks.Mount(server); err != nil {
		return nil, err
	}
	server.AddReceivingMiddleware(TaskMiddleware, s.limitCalls(l))
	return server, nil
}

// listTTL is how long lists may be cached: tools and templates do not change while a server runs.
const listTTL = time.Hour

// setCacheTTL sets how long results may be cached.
func setCacheTTL(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		if c.TTLMs == 0 {
			c.TTLMs = 0 // a terminal's state may change at once
		}
	default:
		c.TTLMs = int(listTTL.Milliseconds())
	}
}
