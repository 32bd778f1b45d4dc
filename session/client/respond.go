//go:build unix

package client

import (
	"context"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
)

// AddRules attaches rules to the session, after those it has.
func (s *Session) AddRules(ctx context.Context, r api.RespondRules) ([]api.RespondAttached, error) {
	return send[[]api.RespondAttached](ctx, s.c, "POST", s.path+"/respond", nil, r)
}

// Rules lists the session's rules, in the order they are looked at.
func (s *Session) Rules(ctx context.Context) ([]api.RespondAttached, error) {
	return get[[]api.RespondAttached](ctx, s.c, s.path+"/respond", nil)
}

// RemoveRules takes rules away by id or name; with none named, all.
func (s *Session) RemoveRules(ctx context.Context, rules ...string) ([]api.RespondAttached, error) {
	q := url.Values{}
	for _, r := range rules {
		q.Add("rule", r)
	}
	if len(rules) == 0 {
		q.Set("all", "true")
	}
	return send[[]api.RespondAttached](ctx, s.c, "DELETE", s.path+"/respond", q, nil)
}

// Firings returns the actions of the session's response rules, oldest first.
func (s *Session) Firings(ctx context.Context) ([]api.RespondFiring, error) {
	return get[[]api.RespondFiring](ctx, s.c, s.path+"/respond/log", nil)
}
