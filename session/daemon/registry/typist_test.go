//go:build unix

package registry

import (
	"testing"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// Who typed a command is kept with it: an agent, a program, or of people those who came by a token or from another host;
// the user at this machine is not named. Where the text of a command came from is nobody's name.
//
// FEATURES: R119
func TestTypist(t *testing.T) {
	for _, c := range []struct {
		by      actor.Actor
		program bool
		want    string
		person  bool
	}{
		{actor.Actor{UID: 1, PID: 2}, false, "", true},
		{actor.Actor{Token: "ann's phone"}, false, "token:ann's phone", true},
		{actor.Actor{Host: "ssh:ann@box"}, false, "host:ssh:ann@box", true},
		{actor.Actor{Agent: "claude", Token: "k"}, false, "agent:claude", false},
		{actor.Actor{Token: "k"}, true, "program", false},
	} {
		got := Typist(c.by, c.program)
		ran := RanBy(&store.Command{Source: got})
		if got != c.want || ran != c.want || (&api.Command{By: ran}).ByPerson() != c.person {
			t.Errorf("%v: %q, kept as %q; want %q, a person %v", c.by, got, ran, c.want, c.person)
		}
	}
	for source, want := range map[string]string{session.ByExec: session.ByExec, "mark": "", "echo": ""} {
		if got := RanBy(&store.Command{Source: source}); got != want {
			t.Errorf("%s: %q; want %q", source, got, want)
		}
	}
}
