//go:build unix

package httpapi

import (
	"context"

	"github.com/longterm-dev/longterm/session/api"
)

func (s *Server) postRules(ctx context.Context, in *sessionBody[api.RespondRules]) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if err := s.admitRules(ctx, e, &in.Body); err != nil {
		return nil, err
	}
	return e.AddRules(ctx, &in.Body)
}

func (s *Server) getRules(ctx context.Context, in *SessionPath) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	return e.Rules(ctx)
}

func (s *Server) deleteRules(ctx context.Context, in *struct {
	SessionPath
	Rule []string `query:"rule,explode" doc:"id or name"`
	All  bool     `query:"all" doc:"all rules of the session"`
}) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	if in.All == (len(in.Rule) > 0) {
		return nil, api.Errorf(api.CodeInvalid, "which rules?").WithHint("name some, or say all")
	}
	return e.RemoveRules(ctx, in.Rule)
}

func (s *Server) getFirings(_ context.Context, in *SessionPath) ([]api.RespondFiring, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return nil, err
	}
	return e.Firings()
}
