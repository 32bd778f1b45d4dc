//go:build unix

package httpapi

import (
	"context"

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
	Reveal bool `query:"reveal" doc:"show secrets; recorded, and of an agent's asking a person is asked first"`
}

type revealed struct{}

// veil is what is masked for whoever asks; nil: nothing.
func (s *Server) veil(ctx context.Context) *secrets.Set {
	if !actor.Of(ctx).IsAgent() || ctx.Value(revealed{}) != nil {
		return nil
	}
	return s.reg.Secrets()
}

// reveal lets secrets be shown, if that is asked for and may be: it is put to the gateway, which records it.
func (s *Server) reveal(ctx context.Context, q RevealQuery, e *registry.Handle, what string) (context.Context, error) {
	if !q.Reveal {
		return ctx, nil
	}
	rec := e.Record()
	_, err := s.gate.Admit(ctx, gateway.Ask{
		ID: uuid.NewString(), Kind: gateway.Reveal, Actor: actor.Of(ctx), Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: "secrets in the " + what + " of " + rec.Name,
	})
	return context.WithValue(ctx, revealed{}, true), err
}

// reveals is a context in which what a request asks to see, and was let see, is not masked.
func reveals(ctx context.Context, in any) context.Context {
	if r, ok := in.(interface{ wantsReveal() bool }); ok && r.wantsReveal() {
		return context.WithValue(ctx, revealed{}, true)
	}
	return ctx
}

func (q *RevealQuery) wantsReveal() bool { return q.Reveal }

// hidden is a chunk as whoever asks may see it.
func (s *Server) hidden(ctx context.Context, e *registry.Handle, c session.Chunk) session.Chunk {
	if s.veil(ctx).Empty() {
		return c
	}
	return e.Session.Hidden(c)
}
