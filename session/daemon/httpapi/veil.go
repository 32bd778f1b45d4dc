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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// What agents are handed shows no secrets. Output is masked by offset and screens by cells, where they are
// read; every other answer is gone through as a whole (hand). A person sees what is there, but for one whose login is masked.

// RevealQuery asks for secrets as they are. It is exported because huma fills embedded fields only then.
type RevealQuery struct {
	Reveal     string `query:"reveal" maxLength:"64" doc:"show secrets: any text; recorded, and a person is asked first where an agent asks. Requests with the same text are one asking for some minutes, so make one up for each reading"`
	OnApproval string `query:"on_approval" enum:"wait,return" doc:"with reveal, when a person has to be asked: wait for the answer (default), or answer at once; ask again with the same text to wait"`
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
	_, err := s.admit(ctx, gateway.Ask{
		ID: s.reveals.id(asked), Kind: gateway.Reveal, Actor: actor.Of(ctx), Session: rec.ID, Name: rec.Name, Labels: rec.Labels,
		Path: "secrets in the " + what + " of " + rec.Name,
	}, q.OnApproval)
	switch {
	case err == nil:
		s.reveals.add(asked)
	case !needsApproval(err): // else it is asked for again
		s.reveals.over(asked)
	}
	return ctx, err
}

// revealing is a reading for which secrets are shown.
type revealing struct{ agent, session, what, text string }

// reveals are the readings that may go on: one takes several requests.
type reveals struct {
	mu    sync.Mutex
	all   map[revealing]time.Time // until when
	asked map[revealing]string    // of those that a person is asked about: the askings' ids
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
	delete(r.asked, q)
}

// id is the id of an asking that is asked for until it is over: the same while it waits, and never one that was answered.
func (r *reveals) id(q revealing) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil || len(r.asked) >= maxReveals {
		r.asked = map[revealing]string{}
	}
	if r.asked[q] == "" {
		r.asked[q] = uuid.NewString()
	}
	return r.asked[q]
}

func (r *reveals) over(q revealing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.asked, q)
}

func needsApproval(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNeedsApproval
}

// asShown is a context in which what a request asks to see, and was let see, is not masked.
func asShown(ctx context.Context, in any) context.Context {
	if r, ok := in.(interface{ wantsReveal() bool }); ok && r.wantsReveal() {
		return context.WithValue(ctx, revealed{}, true)
	}
	return ctx
}

func (q *RevealQuery) wantsReveal() bool { return q.Reveal != "" }

// asked are the types of what is to be allowed, or was: in them a character that shows nothing must not hide what it is
// about, whoever looks.
var asked = map[reflect.Type]bool{
	reflect.TypeFor[api.Approval](): true, reflect.TypeFor[api.Judgement](): true, reflect.TypeFor[api.Grant](): true,
}

// hand makes of an answer, which v points to, what is handed to whoever asks. All answers in JSON come by here: an agent's
// show no secrets, and nothing that a person who reads along does not see; a masked login's show no secrets either; nobody's approvals show a command otherwise than
// it is.
func (s *Server) hand(ctx context.Context, v any) {
	set := s.veil(ctx)
	if actor.Of(ctx).IsAgent() {
		secrets.Rewrite(v, func(text string) string { return plaintext.Visible(set.Text(text)) })
	} else {
		set.Deep(v)
	}
	if holds(reflect.TypeOf(v), asked) {
		secrets.RewriteIn(v, asked, plaintext.Literal)
	}
}

// handError is hand of an error.
func (s *Server) handError(ctx context.Context, err error) error {
	err = toAPI(err)
	var e *api.Error
	if errors.As(err, &e) {
		shown := *e
		s.hand(ctx, &shown)
		return &shown
	}
	return err
}

// held are the answers of holds, which looks at types only.
var held sync.Map

// holds says whether a value of a type may have one of other types in it.
func holds(t reflect.Type, of map[reflect.Type]bool) bool {
	if yes, ok := held.Load(t); ok {
		return yes.(bool)
	}
	yes := holdsIn(t, of, map[reflect.Type]bool{})
	held.Store(t, yes)
	return yes
}

func holdsIn(t reflect.Type, of, seen map[reflect.Type]bool) bool {
	if of[t] || seen[t] {
		return of[t]
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return holdsIn(t.Elem(), of, seen)
	case reflect.Interface:
		return true // it cannot be known
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && holdsIn(f.Type, of, seen) {
				return true
			}
		}
	}
	return false
}

// maskChunk masks the secrets in a chunk, unless the request may see them.
func (s *Server) maskChunk(ctx context.Context, e *registry.Handle, c session.Chunk) error {
	if s.veil(ctx).Empty() {
		return nil
	}
	return maskSettled(ctx, e.Session, c)
}

// maskSettled waits until a chunk has settled and masks the secrets in it.
func maskSettled(ctx context.Context, s *session.Session, c session.Chunk) error {
	if err := s.WaitSettled(ctx, c.Next); err != nil {
		return err
	}
	s.Hide(c.From, c.Data)
	return nil
}
