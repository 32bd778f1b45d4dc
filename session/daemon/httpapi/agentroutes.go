//go:build unix

package httpapi

import (
	"context"

	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
)

func (s *Server) postAgentEvent(_ context.Context, in *sessionBody[api.AgentEvent]) (api.AgentHeard, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.AgentHeard{}, err
	}
	hook, err := agentstate.ReadHook(in.Body.Agent, in.Body.Event, in.Body.Data)
	if err != nil {
		return api.AgentHeard{}, api.Errorf(api.CodeInvalid, "%v", err).WithHint("give what the agent gave its hook, as JSON")
	}
	was, err := s.reg.AgentHook(e, hook)
	return api.AgentHeard{State: was}, err
}
