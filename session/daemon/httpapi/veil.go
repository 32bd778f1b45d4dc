//go:build unix

package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
)

// What agents are handed shows no secrets. Output is masked by offset and screens by cells, where they are
// read; every other answer is gone through as a whole (op). A person sees what is there.

// RevealQuery asks for secrets as they are. It is exported because huma fills embedded fields only then.
type RevealQuery struct {
	Reveal string `query:"reveal" maxLength:"64" doc:"show secrets: any text; recorded, and a person is asked first where an agent asks. Requests with the same text are one asking for some minutes, so make one up for each reading"`
}

type revealed struct{}

// veil is what is masked for whoever asks; nil: nothing.
func (s *Server) veil(ctx context.Context) *secrets.Set {
	if g := grantOf(ctx); g != nil && g.Masked {
		return s.reg.Secrets()
	}
	if !actor.Of(ctx).IsAgent() || ctx.Value(revealed{}) != nil {
		return nil
	}
	return s.reg.Secrets()
}

// reveal lets secrets be shown, if that is asked for and may be: it is put to the gateway, which records it.
func (s *Server) reveal(ctx context.Context, q RevealQuery, e *registry.Handle, what string) (context.Context, error) {
	if q.Reveal == "" {
		return ctx, nil
	}
	rec := e.Record()
	ctx = context.WithValue(ctx, revealed{}, true)
	asked := revealing{actor.Of(ctx).Agent, rec.ID, what, q.Reveal}
	if s.reveals.has(asked) {
		return ctx, nil
	}
	_, err := s.gate.Admit(ctx, gateway.Ask{
		ID: uuid.NewString(), Kind: gateway.Reveal, Actor: actor.Of(ctx), Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: "secrets in the " + what + " of " + rec.Name,
	})
	if err == nil {
		s.reveals.add(asked)
	}
	return ctx, err
}

// revealing is a reading for which secrets are shown.
type revealing struct{ agent, session, what, text string }

// reveals are the readings that may go on: one takes several requests.
type reveals struct {
	mu  sync.Mutex
	all map[revealing]time.Time // until when
}

const (
	revealTime = 5 * time.Minute
	maxReveals = 1000
)

func (r *reveals) has(q revealing) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.all[q])
}

func (r *reveals) add(q revealing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxReveals {
		r.all = map[revealing]time.Time{} // who reads on is asked again
	}
	r.all[q] = time.Now().Add(revealTime)
}

// asShown is a context in which what a request asks to see, and was let see, is not masked.
func asShown(ctx context.Context, in any) context.Context {
	if r, ok := in.(interface{ wantsReveal() bool }); ok && r.wantsReveal() {
		return context.WithValue(ctx, revealed{}, true)
	}
	return ctx
}

func (q *RevealQuery) wantsReveal() bool { return q.Reveal != "" }

// hidden is a chunk as whoever asks may see it.
func (s *Server) hidden(ctx context.Context, e *registry.Handle, c session.Chunk) session.Chunk {
	if s.veil(ctx).Empty() {
		return c
	}
	return e.Session.Hidden(c)
}
