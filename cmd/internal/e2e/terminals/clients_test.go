//go:build unix

package terminals

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

func clientsOf(t *testing.T, i *e2e.Instance, session string) (list []api.Attached) {
	t.Helper()
	if err := json.Unmarshal([]byte(i.Run("clients", session, "--json")), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// rang reports whether the terminal's bell rang since the last call.
func (p *person) rang() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.screen.Events(nil), func(e vterm.Event) bool { return e.Kind == vterm.EventBell })
}

// TestClientsOfASession lists the clients of a session with their rights and last input. A user makes one view-only,
// whose keys are then rejected with a bell or a message, lets it type again, and detaches it. An agent may not do that.
//
// FEATURES: R119
func TestClientsOfASession(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo I am one; exec cat")
	first := newPerson(t, i, "attach", "one")
	first.shows("I am one")
	second := newPerson(t, i, "attach", "--read-only", "one")
	second.shows("I am one")
	first.types("typed\r")
	first.shows("typed\ntyped")
	list := clientsOf(t, i, "one")
	if len(list) != 2 || list[0].May != "type" || list[0].Typed == nil || list[0].Kind != "terminal" || list[0].By.PID == 0 ||
		list[1].May != "look" || !list[1].OwnChoice || list[1].Typed != nil {
		t.Fatalf("%+v", list)
	}
	n := fmt.Sprint(list[0].N)
	if out := i.Run("clients", "one", "--look", n); !strings.Contains(out, "looks") {
		t.Errorf("%q", out)
	}
	first.types("nothing\r")
	e2e.Eventually(t, "the bell says that nothing was typed", func() bool { return first.rang() })
	i.Run("send", "one", "sent", "-e")
	first.shows("sent\nsent")
	i.Run("clients", "one", "--type", n)
	first.types("again\r")
	first.shows("again\nagain")
	if strings.Contains(i.Run("output", "one"), "nothing") {
		t.Error("input of a view-only client reached the session")
	}

	viewer := newPerson(t, i, "view", "one")
	viewer.shows("again")
	e2e.Eventually(t, "the viewer is listed", func() bool {
		return slices.ContainsFunc(clientsOf(t, i, "one"), func(c api.Attached) bool { return c.Kind == "viewer" })
	})
	for _, c := range clientsOf(t, i, "one") {
		if c.Kind == "viewer" {
			i.Run("clients", "one", "--look", fmt.Sprint(c.N))
		}
	}
	viewer.types("x")
	viewer.shows("not typed")

	own := i.Env
	i.Env = append(slices.Clone(own), "LONGTERM_AGENT=claude")
	if _, says, code := i.Try("clients", "one", "--detach", n); code == 0 || !strings.Contains(says, "requires a user") {
		t.Errorf("an agent has a user leave: %d, %s", code, says)
	}
	i.Env = own
	if _, says, code := i.Try("clients", "one", "--look", "99"); code != 3 || !strings.Contains(says, "no client 99") {
		t.Errorf("a missing client: %d, %s", code, says)
	}
	if _, says, code := i.Try("clients", "one", "--type", fmt.Sprint(list[1].N)); code == 0 || !strings.Contains(says, "came to look only") {
		t.Errorf("a view-only client may type: %d, %s", code, says)
	}
	i.Run("clients", "one", "--detach", n)
	if err := <-first.done; err != nil {
		t.Error(err)
	}
	first.shows("detached from one by another client")
}

// TestAttachRenewsVariables checks that a user's shell adopts the configured variables of an attaching user. An agent's
// session does not, and no command is recorded as having changed them.
//
// FEATURES: R119
func TestAttachRenewsVariables(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	bash := tier.Path(t, "bash")
	i := e2e.New(t)
	own := i.Env
	with := func(env ...string) { i.Env = append(slices.Clone(own), env...) }
	i.Run("config", "set", "shells.renew", "DISPLAY", "WAYLAND_DISPLAY")
	with("DISPLAY=:1", "WAYLAND_DISPLAY=wayland-0", "XAUTHORITY=old")
	i.Run("new", "-n", "mine", "--", bash, "--norc")
	with("DISPLAY=:1", "WAYLAND_DISPLAY=wayland-0", "XAUTHORITY=old", "LONGTERM_AGENT=claude")
	i.Run("new", "-n", "its", "--", bash, "--norc")
	i.Run("exec", "mine", "echo it is mine")
	i.Run("exec", "its", "true")
	with("DISPLAY=:7", "XAUTHORITY=new")
	p := newPerson(t, i, "attach", "mine")
	p.shows("it is mine")
	p.types("\x1cd")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	const asks = `echo "$DISPLAY ${WAYLAND_DISPLAY-none} $XAUTHORITY"`
	i.Run("exec", "mine", "true") // its prompt follows
	if got := strings.TrimSpace(i.Run("exec", "mine", asks)); got != ":7 none old" {
		t.Errorf("a user's shell has %q", got)
	}
	i.Run("exec", "its", "true")
	if got := strings.TrimSpace(i.Run("exec", "its", asks)); got != ":1 wayland-0 old" {
		t.Errorf("an agent's shell has %q", got)
	}
	if commands := i.Run("commands", "mine", "--json"); strings.Contains(commands, "DISPLAY\":") {
		t.Errorf("a command is reported to have changed a renewed variable: %s", commands)
	}
}
