//go:build unix

package mcp

import (
	"context"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
)

// Level is how much of the tools a client may use.
type Level = apitoken.Level

// Levels, each with all of those before it.
const (
	Read   = apitoken.Read   // looks only
	Change = apitoken.Change // runs and types
	All    = apitoken.All    // ends and removes, too
)

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) { return apitoken.ParseLevel(name) }

// Elicit is when the server asks the user through the client instead of the model.
type Elicit string

// Settings of Elicit.
const (
	ElicitNever     Elicit = "never"
	ElicitPasswords Elicit = "passwords" // for approvals; the protocol forbids forms for passwords, and the name stays
	ElicitAlways    Elicit = "always"    // for yes or no as well
)

// Options are what a server is made of.
type Options struct {
	// Client makes a client of the daemon for an agent by its label, and the name of the token that it showed, if that is
	// one of the daemon's.
	Client func(agent, token string) *client.Client
	Build  string
	Env    []string // environment of started programs
	Cwd    string   // default directory of started programs
	Level  Level    // over stdio; over HTTP the token sets it
	Agent  string   // agent label; empty: the client's name
	Elicit Elicit
	Key    []byte // of request states, 32 bytes
	// Contexts is the folder where it is kept what each agent was handed of the context.
	Contexts string
	Log      *slog.Logger
}

// Server answers clients of the protocol.
type Server struct {
	o        Options
	seal     *sealer
	places   *places
	agents   *agents
	watch    *watcher
	levels   [All + 1]*sdk.Server
	sweep    sweeper
	reported reportedApprovals
	screens  screens
	lanes    *scheduling // of requests by HTTP

	ending   context.Context // ends with the server's last moment
	endCalls context.CancelFunc
}

// New makes a server. Nothing is contacted yet.
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
	s := &Server{o: o, seal: seal, places: newPlaces(), lanes: newLanes(), agents: newAgents(o.Client, o.Agent)}
	s.ending, s.endCalls = context.WithCancel(context.Background())
	s.watch = newWatcher(s.agents.forLabel(o.Agent, ""), o.Log, s.publish)
	for l := range s.levels {
		if s.levels[l], err = s.build(Level(l)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run serves one client over a transport, until it leaves or ctx ends. Calls that are under way then are answered at once.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error {
	if p, ok := t.(*drainingTransport); ok { // the SDK would close the transport under its calls
		p.ends = ctx.Done()
		defer context.AfterFunc(ctx, s.endCalls)()
		ctx = context.WithoutCancel(ctx)
	}
	return s.levels[s.o.Level].Run(ctx, t)
}

// Close ends what the server does beside its calls.
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
	server := sdk.NewServer(&sdk.Implementation{Name: "longterm", Version: s.o.Build}, &sdk.ServerOptions{
		Instructions: instructions, Logger: s.o.Log, Capabilities: caps, PageSize: 1000,
		SubscribeHandler:   func(ctx context.Context, req *sdk.SubscribeRequest) error { return s.subscribe(ctx, req, l) },
		UnsubscribeHandler: s.unsubscribe, SetCacheable: cacheable,
	})
	for i := range tools {
		if tools[i].level <= l {
			if err := s.addTool(server, &tools[i]); err != nil {
				return nil, err
			}
		}
	}
	s.addResources(server, l)
	tasks := s.tasksFor(l)
	if err := tasks.Mount(server); err != nil {
		return nil, err
	}
	server.AddReceivingMiddleware(TaskMiddleware, s.calls(l))
	return server, nil
}

// listTTL is how long lists may be kept: tools and templates are the same for a server's life.
const listTTL = time.Hour

// cacheable sets how long results may be cached.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	switch req.GetParams().(type) {
	case *sdk.ReadResourceParams:
		if c.TTLMs == 0 {
			c.TTLMs = 0 // what a terminal shows is of this moment
		}
	default:
		c.TTLMs = int(listTTL.Milliseconds())
	}
}
