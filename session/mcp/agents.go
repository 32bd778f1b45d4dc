//go:build unix

package mcp

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/client"
)

// agents are clients of the daemon by the labels of the agents that they ask for: what an agent runs is
// judged and recorded as an agent's.
type agents struct {
	make  func(agent, token string) *client.Client
	fixed string // label of all; empty: each client's own name

	mu sync.Mutex
	by map[asker]*client.Client
}

// asker is who asks: the label of an agent, and the name of the token that it showed, if it is one of the daemon's.
type asker struct{ label, token string }

func newAgents(newClient func(agent, token string) *client.Client, fixed string) *agents {
	return &agents{make: newClient, fixed: fixed, by: map[asker]*client.Client{}}
}

// defaultAgent is the label of clients that tell no name.
const defaultAgent = "mcp"

// maxAgents bounds how many labels have clients of their own; names are the clients' to make up.
const maxAgents = 64

// named is the client for a label and a token.
func (a *agents) named(label, token string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	if label == "" {
		label = defaultAgent
	}
	if a.by[asker{label, token}] == nil && len(a.by) >= maxAgents {
		label = defaultAgent
	}
	return a.get(asker{label, token})
}

// person is the client for what the person answers who is asked through the agent's program, within what that one's
// token allows.
func (a *agents) person(token string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.get(asker{"", token})
}

// get is the client of exactly these. The caller holds mu.
func (a *agents) get(as asker) *client.Client {
	c := a.by[as]
	if c == nil {
		c = a.make(as.label, as.token)
		a.by[as] = c
	}
	return c
}

func (a *agents) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.by {
		c.Close()
	}
}

// client is the daemon's client, on behalf of whoever asks.
func (s *Server) client(ctx context.Context) *client.Client {
	return s.agents.named(s.label(ctx), tokenOf(requestOf(ctx)))
}

// label is that of the agent that asks.
func (s *Server) label(ctx context.Context) string {
	if s.agents.fixed != "" {
		return s.agents.fixed
	}
	r, _ := ctx.Value(requestKey{}).(*request)
	if r == nil {
		r = &request{}
	}
	return cmp.Or(r.agent(), defaultAgent)
}

// person is the daemon's client for what a person answers through whoever asks.
func (s *Server) person(ctx context.Context) *client.Client {
	return s.agents.person(tokenOf(requestOf(ctx)))
}

// tokenOf is the name of the daemon's token that a request came with; empty: none.
func tokenOf(req sdk.Request) string {
	if req == nil {
		return ""
	}
	x := req.GetExtra()
	if x == nil || x.TokenInfo == nil {
		return ""
	}
	name, _ := x.TokenInfo.Extra[storedToken].(string)
	return name
}

type requestKey struct{}

// request is what a context belongs to. Who asks is read out of it once: a call has several requests of the daemon, and each
// reading decodes all that a client says of itself.
type request struct {
	sdk.Request
	once  sync.Once
	label string
}

func (r *request) agent() string {
	r.once.Do(func() { r.label = agentOf(r.Request) })
	return r.label
}

// requestOf is the request that a context belongs to; nil: none.
func requestOf(ctx context.Context) sdk.Request {
	if r, _ := ctx.Value(requestKey{}).(*request); r != nil {
		return r.Request
	}
	return nil
}

// agentOf is the label of the agent that a request comes from: its token's name, else the client's.
func agentOf(req sdk.Request) string {
	if req == nil {
		return ""
	}
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil && x.TokenInfo.UserID != ownTokenName {
		return label(x.TokenInfo.UserID)
	}
	if r, ok := req.(interface{ ClientInfo() *sdk.Implementation }); ok {
		if info := r.ClientInfo(); info != nil {
			return label(info.Name)
		}
	}
	return ""
}

// ownTokenName is the name of the token that was made without being asked for: it tells nothing of who has it.
const ownTokenName = "default"

// label is a name as the label of an agent.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	for len(name) > actor.MaxLabel {
		name = strings.ToValidUTF8(name[:actor.MaxLabel], "")
	}
	return name
}
