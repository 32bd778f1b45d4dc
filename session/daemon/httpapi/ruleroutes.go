//go:build unix

package httpapi

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"github.com/longterm-dev/longterm/session/api"
)

// respondRoutes registers what is to be done with a session's rules.
func (s *Server) respondRoutes(a huma.API) {
	op(a, "POST", "/sessions/{session}/respond", "add-rules", "Attach rules that answer what the program asks", s.postRules)
	op(a, "GET", "/sessions/{session}/respond", "list-rules", "List a session's rules, in the order they are looked at", s.getRules)
	op(a, "DELETE", "/sessions/{session}/respond", "remove-rules", "Take rules away", s.deleteRules)
	op(a, "GET", "/sessions/{session}/respond/log", "list-firings", "What a session's rules did, oldest first", s.getFirings)
}

func (s *Server) postRules(ctx context.Context, in *sessionBody[api.RespondRules]) ([]api.RespondAttached, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
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
