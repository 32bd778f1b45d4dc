//go:build unix

package httpapi

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Agents receive no secrets. Output is masked by offset and screens by cells where they are read; hand masks every
// other answer as a whole. Users see everything, except through a masked login.

// RevealQuery holds the parameters for showing secrets. It is exported because huma fills embedded fields only then.
type RevealQuery struct {
	Reveal     string `query:"reveal" maxLength:"64" doc:"show secrets: any text that identifies this reading. Recorded; agents need approval. Requests with the same text share one approval for some minutes"`
	OnApproval string `query:"on_approval" enum:"wait,return" doc:"with reveal, if approval is required: wait for it (default), or return at once; repeat with the same text to wait"`
}

// revealed is the context key of a request that may show secrets.
type revealed struct{}

// redactorFor returns the secrets to mask for the caller; nil if none.
func (s *Server) redactorFor(ctx context.Context) *redact.Set {
	if g := grantOf(ctx); g != nil && g.Masked {
		return s.reg.Secrets()
	}
	if !identity.Of(ctx).IsAgent() || ctx.Value(revealed{}) != nil {
		return nil
	}
	return s.reg.Secrets()
}

// reveal lets a request show secrets if it asks for that and is allowed to. The gateway decides and records it.
func (s *Server) reveal(ctx context.Context, q RevealQuery, e *registry.Handle, what string) (context.Context, error) {
	if q.Reveal == "" {
		return ctx, nil
	}
	rec := e.Record()
	ctx = context.WithValue(ctx, revealed{}, true)
	asked := revealKey{identity.Of(ctx).Agent, rec.ID, what, q.Reveal}
	if s.reveals.has(asked) {
		return ctx, nil
	}
	_, err := s.admit(ctx, authorize.Request{
		ID: s.reveals.id(asked), Kind: authorize.Reveal, Actor: identity.Of(ctx), Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: "secrets in the " + what + " of " + rec.Name,
	}, q.OnApproval)
	switch {
	case err == nil:
		s.reveals.add(asked)
	case !needsApproval(err): // otherwise requested again
		s.reveals.forget(asked)
	}
	return ctx, err
}

// revealKey identifies one reading of secrets: agent, session and range.
type revealKey struct{ agent, session, what, text string }

// revealGrants holds the permitted readings: one reading takes several requests.
type revealGrants struct {
	mu      sync.Mutex
	all     map[revealKey]time.Time // expiry of permitted readings
	pending map[revealKey]string    // ids of the pending requests
}

const (
	// revealTime is how long a permitted reading lasts.
	revealTime = 5 * time.Minute
	// maxReveals bounds the permitted readings.
	maxReveals = 1000
)

func (r *revealGrants) has(q revealKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.all[q])
}

func (r *revealGrants) add(q revealKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxReveals {
		r.all = map[revealKey]time.Time{} // later requests need approval again
	}
	r.all[q] = time.Now().Add(revealTime)
	delete(r.pending, q)
}

// id returns the id of a pending request: the same until it is answered, then a new one.
func (r *revealGrants) id(q revealKey) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil || len(r.pending) >= maxReveals {
		r.pending = map[revealKey]string{}
	}
	if r.pending[q] == "" {
		r.pending[q] = uuid.NewString()
	}
	return r.pending[q]
}

func (r *revealGrants) forget(q revealKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, q)
}

func needsApproval(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNeedsApproval
}

// withReveal returns a context in which nothing is masked, if the request was permitted to reveal secrets.
func withReveal(ctx context.Context, in any) context.Context {
	if r, ok := in.(interface{ wantsReveal() bool }); ok && r.wantsReveal() {
		return context.WithValue(ctx, revealed{}, true)
	}
	return ctx
}

func (q *RevealQuery) wantsReveal() bool { return q.Reveal != "" }

// approvalTypes are the types that show an approval request. Invisible characters in them are made visible, so that
// they cannot hide the command.
var approvalTypes = map[reflect.Type]bool{
	reflect.TypeFor[api.Approval](): true, reflect.TypeFor[api.Judgement](): true, reflect.TypeFor[api.Grant](): true,
}

// prepareAnswer masks an answer, which v points to, for the caller. All JSON answers pass through it: those for agents
// and masked logins contain no secrets, those for agents no text that a user would not see, and approvals always show
// the exact command.
func (s *Server) prepareAnswer(ctx context.Context, v any) {
	set := s.redactorFor(ctx)
	if identity.Of(ctx).IsAgent() {
		redact.RewriteStrings(v, func(text string) string { return plaintext.Visible(set.RedactText(text)) })
	} else {
		set.RedactDeep(v)
	}
	if contains(reflect.TypeOf(v), approvalTypes) {
		redact.RewriteStringsIn(v, approvalTypes, plaintext.Literal)
	}
}

// prepareError masks an error like prepareAnswer.
func (s *Server) prepareError(ctx context.Context, err error) error {
	err = toAPI(err)
	var e *api.Error
	if errors.As(err, &e) {
		shown := *e
		s.prepareAnswer(ctx, &shown)
		return &shown
	}
	return err
}

// containsCache caches the results of contains, which depend on types only.
var containsCache sync.Map

// contains reports whether a value of a type may contain a value of one of other types.
func contains(t reflect.Type, of map[reflect.Type]bool) bool {
	if yes, ok := containsCache.Load(t); ok {
		return yes.(bool)
	}
	yes := containsIn(t, of, map[reflect.Type]bool{})
	containsCache.Store(t, yes)
	return yes
}

// containsIn works like contains without the cache; seen holds the types in progress, against recursion.
func containsIn(t reflect.Type, of, seen map[reflect.Type]bool) bool {
	if of[t] || seen[t] {
		return of[t]
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return containsIn(t.Elem(), of, seen)
	case reflect.Interface:
		return true // it cannot be known
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && containsIn(f.Type, of, seen) {
				return true
			}
		}
	}
	return false
}

// maskChunk masks the secrets in a chunk, unless the request may see them.
func (s *Server) maskChunk(ctx context.Context, e *registry.Handle, c session.Chunk) error {
	if s.redactorFor(ctx).Empty() {
		return nil
	}
	return maskSettled(ctx, e.Session, c)
}

// maskSettled waits until a chunk has settled and masks the secrets in it.
func maskSettled(ctx context.Context, s *session.Session, c session.Chunk) error {
	if err := s.WaitSettled(ctx, c.Next); err != nil {
		return err
	}
	s.Redact(c.From, c.Data)
	return nil
}
