//go:build unix

package httpapi

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// TestInbox_ByCaller checks that a token for one session sees and marks that session's entries only, and agents see
// their own and mark none.
//
// FEATURES: R130
func TestInbox_ByCaller(t *testing.T) {
	h := openHouse(t, everySession)
	now := time.Now()
	for _, id := range []string{ownID, otherID} {
		if err := h.store.AddMessages(t.Context(), []store.InboxEntry{{Key: "notification " + id, Session: id, Text: "of " + id, At: now}}, 9); err != nil {
			t.Fatal(err)
		}
	}
	one := with(t, &apitoken.Grant{Name: "one", Level: apitoken.All, Session: ownID}, identity.Actor{Token: "one"})
	user := identity.WithActor(t.Context(), identity.Actor{})
	agent := identity.WithActor(t.Context(), identity.Actor{Agent: "bot"})
	ruled := identity.WithActor(t.Context(), identity.Actor{Policy: "careful"})
	for what, c := range map[string]struct {
		ctx  context.Context
		sees int
		code api.Code // of marking the other's
	}{"one": {one, 1, api.CodeNotFound}, "user": {user, 2, ""}, "agent": {agent, 0, api.CodeDenied}, "ruled": {ruled, 0, api.CodeDenied}} {
		list, err := h.listInbox(c.ctx, &inboxQuery{All: true})
		if err != nil || len(list) != c.sees {
			t.Errorf("%s sees %d entries, want %d: %v", what, len(list), c.sees, err)
		}
		var e *api.Error
		_, err = h.postInboxDone(c.ctx, &InboxPath{"I2"})
		if (err == nil) != (c.code == "") || err != nil && (!errors.As(err, &e) || e.Code != c.code) {
			t.Errorf("%s marks: %v, want %q", what, err, c.code)
		}
	}
	for state, want := range map[string]int{"open": 1, "done": 1, "snoozed": 0} {
		if list, err := h.listInbox(user, &inboxQuery{State: []string{state}}); err != nil || len(list) != want {
			t.Errorf("%d entries are %s, want %d: %v", len(list), state, want, err)
		}
	}
}
