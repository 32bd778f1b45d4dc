//go:build unix

package mcp

import (
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
	make  func(agent string) *client.Client
	fixed string // label of all; empty: each client's own name

	mu sync.Mutex
	by map[string]*client.Client
}

func newAgents(newClient func(string) *client.Client, fixed string) *agents {
	return &agents{make: newClient, fixed: fixed, by: map[string]*client.Client{}}
}

// defaultAgent is the label of clients that tell no name.
const defaultAgent = "mcp"

// maxAgents bounds how many labels have clients of their own; names are the clients' to make up.
const maxAgents = 64

// named is the client for a label.
func (a *agents) named(label string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	if label == "" {
		label = defaultAgent
	}
	if a.by[label] == nil && len(a.by) >= maxAgents {
		label = defaultAgent
	}
	return a.get(label)
}

// person is the client for what the person answers who is asked through the agent's program.
func (a *agents) person() *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.get("")
}

// get is the client of exactly this label. The caller holds mu.
func (a *agents) get(label string) *client.Client {
	c := a.by[label]
	if c == nil {
		c = a.make(label)
		a.by[label] = c
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
	if s.agents.fixed != "" {
		return s.agents.named(s.agents.fixed)
	}
	req, _ := ctx.Value(requestKey{}).(sdk.Request)
	return s.agents.named(agentOf(req))
}

type requestKey struct{}

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
