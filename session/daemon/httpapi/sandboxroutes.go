//go:build unix

package httpapi

import (
	"context"
	"net"
	"strconv"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// postNetwork answers a sandbox's proxy, which asks about hosts that the profile does not list. What no sandbox holds is
// not asked about.
func (s *Server) postNetwork(ctx context.Context, in *sessionBody[api.NetworkAsk]) (none, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	box, err := s.reg.SandboxReport(e)
	if err != nil {
		return none{}, err
	}
	if box == nil || box.Network == sandbox.NetworkOn {
		return none{true}, nil
	}
	to := net.JoinHostPort(in.Body.Host, strconv.Itoa(in.Body.Port))
	if box.Rules == nil || !box.Rules.Ask {
		return none{}, api.Errorf(api.CodeDenied, "%s is not listed in sandbox profile %s", to, box.Profile).
			WithHint(`add it to network of the profile, or write on_difference = "ask" there`)
	}
	id := in.Body.ID
	if id == "" {
		id = uuid.NewString()
	}
	rec, by := e.Record(), actor.Of(ctx)
	by.Agent = rec.Agent
	_, err = s.admit(ctx, gateway.Ask{
		ID: "network-" + id, Kind: gateway.Network, Actor: by, Session: e.ID(), Name: rec.Name, Labels: rec.Labels, Path: to,
		Cwd: box.Rules.Cwd, Home: box.Rules.Home, Kept: rec.Policy,
	}, "")
	return none{err == nil}, err
}
