//go:build unix

package mcp

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/identity"
)

// agentClients holds daemon clients by agent label. Commands of an agent are checked and recorded under its label.
type agentClients struct {
	newClient  func(agent, token string) *client.Client
	fixedLabel string // label for all; empty: each client's own name

	mu      sync.Mutex
	clients map[callerID]*client.Client // by caller
}

// callerID identifies a caller: the agent's label, and the name of its daemon token, if any.
type callerID struct{ label, token string }

// newAgentClients returns an empty set. fixed is the label of all callers, if not empty.
func newAgentClients(newClient func(agent, token string) *client.Client, fixed string) *agentClients {
	return &agentClients{newClient: newClient, fixedLabel: fixed, clients: map[callerID]*client.Client{}}
}

// defaultAgent is the label of clients that send no name.
const defaultAgent = "mcp"

// maxAgents bounds the number of labels with their own client, since clients choose names freely.
const maxAgents = 64

// forLabel returns the client for a label and a token. Beyond maxAgents labels, callers share one.
func (a *agentClients) forLabel(label, token string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	if label == "" {
		label = defaultAgent
	}
	if a.clients[callerID{label, token}] == nil && len(a.clients) >= maxAgents {
		label = defaultAgent
	}
	return a.get(callerID{label, token})
}

// userClient returns the client for answers of the user that the agent's program asks, within the token's scope.
func (a *agentClients) userClient(token string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.get(callerID{"", token})
}

// get returns the client of exactly this caller. The caller of get holds mu.
func (a *agentClients) get(as callerID) *client.Client {
	c := a.clients[as]
	if c == nil {
		c = a.newClient(as.label, as.token)
		a.clients[as] = c
	}
	return c
}

// close closes all clients.
func (a *agentClients) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.clients {
		c.Close()
	}
}

// client returns the daemon client of the calling agent.
func (s *Server) client(ctx context.Context) *client.Client {
	return s.agents.forLabel(s.label(ctx), tokenOf(requestOf(ctx)))
}

// label returns the label of the calling agent.
func (s *Server) label(ctx context.Context) string {
	if s.agents.fixedLabel != "" {
		return s.agents.fixedLabel
	}
	r, _ := ctx.Value(requestKey{}).(*request)
	if r == nil {
		r = &request{}
	}
	return cmp.Or(r.agent(), defaultAgent)
}

// userClient returns the daemon client for the user behind the calling agent.
func (s *Server) userClient(ctx context.Context) *client.Client {
	return s.agents.userClient(tokenOf(requestOf(ctx)))
}

// tokenOf returns the name of the daemon token of a request, or "".
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

// requestKey is the context key of a call's request.
type requestKey struct{}

// request is the request of a context. Its caller is computed once: a call makes several daemon requests, and each
// computation decodes all client information.
type request struct {
	sdk.Request
	once  sync.Once
	label string
}

// agent returns the agent label of the request.
func (r *request) agent() string {
	r.once.Do(func() { r.label = agentOf(r.Request) })
	return r.label
}

// requestOf returns the request of a context, or nil.
func requestOf(ctx context.Context) sdk.Request {
	if r, _ := ctx.Value(requestKey{}).(*request); r != nil {
		return r.Request
	}
	return nil
}

// agentOf returns the agent label of a request: the name of its token, else of its client.
func agentOf(req sdk.Request) string {
	if req == nil {
		return ""
	}
	if x := req.GetExtra(); x != nil && x.TokenInfo != nil && x.TokenInfo.UserID != defaultTokenName {
		return label(x.TokenInfo.UserID)
	}
	if r, ok := req.(interface{ ClientInfo() *sdk.Implementation }); ok {
		if info := r.ClientInfo(); info != nil {
			return label(info.Name)
		}
	}
	return ""
}

// defaultTokenName is the name of the automatically created token: it does not identify its holder.
const defaultTokenName = "default"

// label returns a name as an agent label.
func label(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, "-"))
	for len(name) > identity.MaxLabel {
		name = strings.ToValidUTF8(name[:identity.MaxLabel], "")
	}
	return name
}
