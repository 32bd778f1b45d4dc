//go:build unix

package client

import (
	"context"

	"github.com/longterm-dev/longterm/session/api"
)

// AgentEvent reports a hook event of the agent in the session.
func (s *Session) AgentEvent(ctx context.Context, e api.AgentEvent) (api.AgentHeard, error) {
	return send[api.AgentHeard](ctx, s.client, "POST", s.path+"/agent", nil, e)
}
