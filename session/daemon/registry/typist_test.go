//go:build unix

package registry

import (
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/store"
)

// TestTypist checks that the author of a typed command is stored with it: an agent, a program, or a user of a token or
// another host. The user at this machine is not named.
//
// FEATURES: R119
func TestTypist(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by      identity.Actor
		program bool
		want    string
		person  bool
	}{
		{identity.Actor{UID: 1, PID: 2}, false, "", true},
		{identity.Actor{Token: "ann's phone"}, false, "token:ann's phone", true},
		{identity.Actor{Host: "ssh:ann@box"}, false, "host:ssh:ann@box", true},
		{identity.Actor{Agent: "claude", Token: "k"}, false, "agent:claude", false},
		{identity.Actor{Token: "k"}, true, "program", false},
	} {
		got := InputAuthorName(c.by, c.program)
		ran := CommandAuthor(&store.Command{Source: got})
		if got != c.want || ran != c.want || (&api.Command{By: ran}).TypedByUser() != c.person {
			t.Errorf("%v: %q, kept as %q; want %q, a user %v", c.by, got, ran, c.want, c.person)
		}
	}
	for source, want := range map[string]string{session.ByExec: session.ByExec, "mark": "", "echo": ""} {
		if got := CommandAuthor(&store.Command{Source: source}); got != want {
			t.Errorf("%s: %q; want %q", source, got, want)
		}
	}
}
