package authorize

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// TestRevokedTokensAskNothing checks that requests made with a token are closed when it is revoked: their callers are
// rejected, and a later answer runs nothing. Other callers of the same request keep waiting.
//
// FEATURES: R63
func TestRevokedTokensAskNothing(t *testing.T) {
	g := open(t, t.TempDir())
	with := func(token string) identity.Actor { return identity.Actor{UID: 1000, Agent: "bot", Token: token} }
	const risky = "rm -r $X"
	lost := waiting(t, g, line("job-1", risky, with("guest")))
	again := waiting(t, g, line("job-2", risky, with("guest")))
	other := waiting(t, g, line("job-3", risky, with("friend")))
	mine := waiting(t, g, line("job-4", risky, agent))
	g.RevokeToken("guest")
	for _, p := range []*Pending{lost, again} {
		if _, err := p.Wait(t.Context()); codeOf(err) != api.CodeDenied || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("%s: %v", p.ID(), err)
		}
	}
	if v, err := g.Get(t.Context(), lost.ID()); err != nil || v.State != store.ApprovalWithdrawn || v.Ended == nil {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := g.Answer(t.Context(), lost.ID(), person, api.ApprovalAnswer{Answer: "once"}); codeOf(err) != api.CodeAnswered {
		t.Errorf("%v", err)
	}
	for _, p := range []*Pending{other, mine} {
		if _, err := g.Answer(t.Context(), p.ID(), person, api.ApprovalAnswer{Answer: "once"}); err != nil {
			t.Errorf("%s: %v", p.ID(), err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Errorf("%s: %v", p.ID(), err)
		}
	}
	told := 0
	for _, e := range g.said.events {
		if e == "approval-gone "+lost.ID() {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%v", g.said.events)
	}
}
