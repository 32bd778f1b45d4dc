//go:build unix

package httpapi

import (
	"context"
	"errors"
	"testing"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// Hosts over ssh are for the person whose daemon this is, and for logins of the page that may do everything: not for those
// that see some sessions or masked output, nor for agents.
//
// FEATURES: R94
func TestWhoReachesHostsOverSSH(t *testing.T) {
	all := access.Grant{Name: "web-1", Page: true, May: access.Everything}
	one, masked, look, agent := all, all, all, all
	one.Session, masked.Masked, look.May, agent.Agent = ownID, true, access.Look, "bot"
	for name, c := range map[string]struct {
		grant *access.Grant
		who   actor.Actor
		may   bool
	}{
		"the person": {nil, actor.Actor{}, true}, "an agent": {nil, actor.Actor{Agent: "bot"}, false}, "all of the page": {&all, actor.Actor{}, true},
		"one session": {&one, actor.Actor{}, false}, "masked": {&masked, actor.Actor{}, false}, "to look": {&look, actor.Actor{}, false},
		"an agent's": {&agent, actor.Actor{}, false},
	} {
		ctx := actor.With(t.Context(), c.who)
		if c.grant != nil {
			ctx = context.WithValue(ctx, grantKey{}, c.grant)
		}
		err := permitSSH(ctx)
		var refused *api.Error
		if (err == nil) != c.may || err != nil && (!errors.As(err, &refused) || refused.Code != api.CodeDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
