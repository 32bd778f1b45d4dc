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

// agents holds daemon clients by agent label. What an agent runs is checked and recorded under its label.
type agents struct {
	make  func(agent, token string) *client.Client
	fixed string // label for all; empty: each client's own name

	mu sync.Mutex
	by map[asker]*client.Client
}

// asker identifies a caller: the agent's label, and the name of its daemon token, if any.
type asker struct{ label, token string }

func newAgents(newClient func(agent, token string) *client.Client, fixed string) *agents {
	return &agents{make: newClient, fixed: fixed, by: map[asker]*client.Client{}}
}

// defaultAgent is the label of clients that send no name.
const defaultAgent = "mcp"

// maxAgents bounds the number of labels with their own client, since clients choose names freely.
const maxAgents = 64

// forLabel returns the client for a label and a token.
func (a *agents) forLabel(label, token string) *client.Client {
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

// person returns the client for answers of the user that the agent's program asks, within the scope of the token.
func (a *agents) person(token string) *client.Client {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.get(asker{"", token})
}

// get returns the client of exactly this asker. The caller holds mu.
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

// client returns the daemon client of the calling agent.
func (s *Server) client(ctx context.Context) *client.Client {
	return s.agents.forLabel(s.label(ctx), tokenOf(requestOf(ctx)))
}

// label returns the label of the calling agent.
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

// person returns the daemon client for the user behind the calling agent.
func (s *Server) person(ctx context.Context) *client.Client {
	return s.agents.person(tokenOf(requestOf(ctx)))
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

type requestKey struct{}

// request is the request of a context. Its asker is computed once: a call makes several daemon requests, and each
// computation decodes all client information.
type request struct {
	sdk.Request
	once  sync.Once
	label string
}

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

// ownTokenName is the name of the automatically created token: it does not identify its holder.
const ownTokenName = "default"

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
