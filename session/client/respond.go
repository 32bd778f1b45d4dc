//go:build unix

package client

import (
	"context"
	"net/url"

	"github.com/longterm-dev/longterm/session/api"
)

// AddRules attaches response rules to the session, after those it has.
func (s *Session) AddRules(ctx context.Context, r api.RespondRules) ([]api.RespondAttached, error) {
	return send[[]api.RespondAttached](ctx, s.client, "POST", s.path+"/respond", nil, r)
}

// Rules returns the session's response rules, in the order of matching.
func (s *Session) Rules(ctx context.Context) ([]api.RespondAttached, error) {
	return get[[]api.RespondAttached](ctx, s.client, s.path+"/respond", nil)
}

// RemoveRules removes response rules by id or name; without names, all.
func (s *Session) RemoveRules(ctx context.Context, rules ...string) ([]api.RespondAttached, error) {
	q := url.Values{}
	for _, r := range rules {
		q.Add("rule", r)
	}
	if len(rules) == 0 {
		q.Set("all", "true")
	}
	return send[[]api.RespondAttached](ctx, s.client, "DELETE", s.path+"/respond", q, nil)
}

// RuleMatches returns the matches of the session's response rules, oldest first.
func (s *Session) RuleMatches(ctx context.Context) ([]api.RespondFiring, error) {
	return get[[]api.RespondFiring](ctx, s.client, s.path+"/respond/log", nil)
}
