//go:build unix

package httpapi

import (
	"context"
	"errors"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestSSHHosts_OnlyForFullAccess checks that hosts over ssh are available to the daemon's user, and to logins of the
// page with full access: not to those limited to some sessions or masked output, nor to agents.
//
// FEATURES: R94
func TestSSHHosts_OnlyForFullAccess(t *testing.T) {
	all := apitoken.Grant{Name: "web-1", Page: true, May: apitoken.Everything}
	one, masked, look, agent := all, all, all, all
	one.Session, masked.Masked, look.May, agent.Agent = ownID, true, apitoken.Look, "bot"
	for name, c := range map[string]struct {
		grant *apitoken.Grant
		who   identity.Actor
		may   bool
	}{
		"the user": {nil, identity.Actor{}, true}, "an agent": {nil, identity.Actor{Agent: "bot"}, false}, "all of the page": {&all, identity.Actor{}, true},
		"one session": {&one, identity.Actor{}, false}, "masked": {&masked, identity.Actor{}, false}, "to look": {&look, identity.Actor{}, false},
		"an agent's": {&agent, identity.Actor{}, false},
	} {
		ctx := identity.WithActor(t.Context(), c.who)
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
