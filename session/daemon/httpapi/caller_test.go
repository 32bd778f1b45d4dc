//go:build unix

package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
)

// from returns the context of a request from a session that was already determined.
func from(t *testing.T, held callerSession) context.Context {
	c := &client{session: held}
	c.once.Do(func() {})
	return context.WithValue(t.Context(), callerKey{}, c)
}

// TestHeldBy checks that the session of a connection overrides the process's own claim. A process outside sessions is
// what it claims.
func TestHeldBy(t *testing.T) {
	s := &Server{}
	for _, c := range []struct {
		name string
		ctx  context.Context
		says identity.Actor
		want identity.Actor
	}{
		{"no connection", t.Context(), identity.Actor{Agent: "a"}, identity.Actor{Agent: "a"}},
		{"a user's session", from(t, callerSession{}), identity.Actor{Agent: "a"}, identity.Actor{Agent: "a"}},
		{"an agent's", from(t, callerSession{agent: "bot", session: ownID}), identity.Actor{}, identity.Actor{Agent: "bot"}},
		{"an agent's, with another label", from(t, callerSession{agent: "bot", policy: "p", session: ownID}), identity.Actor{Agent: "trusted"}, identity.Actor{Agent: "bot", Policy: "p"}},
		{"one with rules", from(t, callerSession{policy: "p", session: ownID}), identity.Actor{Agent: "a"}, identity.Actor{Agent: "a", Policy: "p"}},
		{"any", from(t, callerSession{agent: agentUnknown}), identity.Actor{}, identity.Actor{Agent: agentUnknown}},
	} {
		got := c.says
		if s.setCallerSession(c.ctx, &got); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestPersonsOnly checks that tokens are managed by a user at the socket only: no agent, no token and no session under
// rules lists or creates them.
//
// FEATURES: R86
func TestPersonsOnly(t *testing.T) {
	h := openHouse(t, noSession)
	person := func(ctx context.Context, a identity.Actor) context.Context { return identity.WithActor(ctx, a) }
	for _, c := range []struct {
		name string
		ctx  context.Context
		ok   bool
	}{
		{"a user", person(t.Context(), identity.Actor{}), true},
		{"a user in a session of theirs", person(from(t, callerSession{}), identity.Actor{}), true},
		{"an agent", person(t.Context(), identity.Actor{Agent: "a"}), false},
		{"a token that allows everything", with(t, &apitoken.Grant{Name: "k", Level: apitoken.All}, identity.Actor{Token: "k"}), false},
		{"a session with rules", person(from(t, callerSession{policy: "p", session: ownID}), identity.Actor{Policy: "p"}), false},
		{"a process of any session", person(from(t, callerSession{agent: agentUnknown}), identity.Actor{}), false},
	} {
		for _, id := range []string{"list-tokens", "new-token", "revoke-token", "share", "list-shares", "end-share"} {
			err := h.permit(c.ctx, routeOf[id], unasked, unasked)
			var e *api.Error
			if (err == nil) != c.ok || err != nil && (!errors.As(err, &e) || e.Code != api.CodeDenied || e.Hint == "") {
				t.Errorf("%s, %s: %v", c.name, id, err)
			}
		}
	}
}

// TestWithinRules checks that a session that is started from a session with rules has the same rules.
func TestWithinRules(t *testing.T) {
	for _, c := range []struct {
		of, asked, want string
		refused         bool
	}{{"", "", "", false}, {"", "p", "p", false}, {"p", "", "p", false}, {"p", "p", "p", false}, {"p", "free", "free", true}} {
		var n api.NewSession
		n.Policy = c.asked
		err := inheritPolicy(identity.WithActor(t.Context(), identity.Actor{Policy: c.of}), &n)
		if (err != nil) != c.refused || n.Policy != c.want {
			t.Errorf("%+v: %q, %v", c, n.Policy, err)
		}
	}
}

// TestOrdersAreAnsweredByViewers checks that an agent that receives an order to viewers cannot answer for them.
//
// FEATURES: R117
func TestOrdersAreAnsweredByViewers(t *testing.T) {
	s := &Server{reg: &registry.Registry{}}
	for _, c := range []struct {
		by   identity.Actor
		code api.Code
	}{{identity.Actor{PID: 7}, ""}, {identity.Actor{PID: 7, Agent: "bot"}, api.CodeDenied}} {
		q := s.layoutAnswers.Ask(map[int]bool{7: true})
		var in struct {
			Order string `path:"order" maxLength:"64"`
			Body  api.OrderAnswer
		}
		in.Order = q.ID
		out, err := s.postOrder(identity.WithActor(t.Context(), c.by), &in)
		var e *api.Error
		if errors.As(err, &e); (err == nil) != (c.code == "") || e != nil && e.Code != c.code || err == nil && !out.OK {
			t.Errorf("%+v: %+v, %v", c.by, out, err)
		}
	}
}

// peer starts a process with a session's mark below another one, which replaces a keeper, and returns both ids.
func peer(t *testing.T, mark string) (keeper, pid int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 & echo $!; wait")
	c.Env = append(os.Environ(), "LONGTERM_SESSION="+mark)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, scanned := fmt.Sscan(line, &pid); err != nil || scanned != nil {
		t.Fatalf("%q: %v", line, err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return c.Process.Pid, pid
}

// TestHolderOfOrphans checks that an orphaned process below a keeper belongs to the session that its mark names, if
// that is no user's. A mark of a user's session, or none, lifts no rule.
func TestHolderOfOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the marks of processes are read on Linux")
	}
	rules := openHouse(t, everySession)
	free := openHouse(t, onlyOwn)
	held := callerSession{policy: "careful", session: ruledID}
	for _, c := range []struct {
		name, mark string
		house      *house
		below      bool // a keeper
		want       callerSession
	}{
		{"of a session with rules", ruledID, rules, true, held},
		{"that says it is a user's", ownID, rules, true, callerSession{agent: agentUnknown}},
		{"that says nothing", "", rules, true, callerSession{agent: agentUnknown}},
		{"that says nonsense", "../x", rules, true, callerSession{agent: agentUnknown}},
		{"where all sessions are a user's", ownID, free, true, callerSession{}},
		{"of no keeper", ruledID, rules, false, callerSession{}},
	} {
		keeper, pid := peer(t, c.mark)
		if c.house.keepers = nil; c.below {
			c.house.keepers = []int{keeper}
		}
		if got := c.house.callerSessionOf(nil, pid); got != c.want {
			t.Errorf("a process %s: %+v, want %+v", c.name, got, c.want)
		}
	}
	rules.keepers = nil
	if got := rules.callerSessionOf(nil, 0); got.restricts() {
		t.Errorf("a process of another pid namespace: %+v", got)
	}
	ended := exec.CommandContext(t.Context(), "true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if got := rules.callerSessionOf(nil, ended.ProcessState.Pid()); got.agent != agentUnknown {
		t.Errorf("a process that has ended may be of any session: %+v", got)
	}
	if got := free.callerSessionOf(nil, ended.ProcessState.Pid()); got.restricts() {
		t.Errorf("a process that has ended, where all sessions are a user's: %+v", got)
	}
}

// TestStreamsRefused checks that a rejected WebSocket gets the error before the upgrade, in the form of other routes.
//
// FEATURES: R86
func TestStreamsRefused(t *testing.T) {
	h := openHouse(t, everySession)
	h.token(t, apitoken.Token{Name: "one", Level: "all", Session: ownID})
	for _, verb := range []string{"attach", "watch"} {
		for _, c := range []struct {
			at, token string
			want      api.Code
			says      string
		}{
			{"none/%s", "", api.CodeNotFound, "longterm ls"},
			{"aaaa/%s", "", api.CodeAmbiguous, "own"},
			{"own/%s?cols=80", "", api.CodeInvalid, "80×0"},
			{"own/%s?cols=-1&rows=24", "", api.CodeInvalid, "-1×24"},
			{"own/%s?cols=100000&rows=24", "", api.CodeInvalid, "100000×24"},
			{"own/%s?size=huge", "", api.CodeInvalid, "latest, largest"},
			{"own/%s?inside=" + ownID, "", api.CodeInvalid, "inside session own"},
			{"other/%s", "one", api.CodeNotFound, "for one session"},
			{"own/%s", "nobody", api.CodeUnauthorized, "token new"},
		} {
			path := api.Version + "/sessions/" + strings.Replace(c.at, "%s", verb, 1)
			header := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
			if c.token != "" {
				header = append(header, identity.TokenHeader, c.token)
			}
			w := h.ask(t, "GET", path, "", header...)
			if got := codeOf(t, w); got != c.want || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s: %d %s, want %s and %q", path, w.Code, w.Body, c.want, c.says)
			}
		}
	}
	e, err := h.reg.Resolve("own")
	if err != nil {
		t.Fatal(err)
	}
	if n := e.Clients.Count(); n != 0 {
		t.Errorf("%d clients have a place that were refused", n)
	}
}

// TestSharing_OnlyByLoginsWithAllRights checks which logins of the page may make, list and end share links.
//
// FEATURES: R83
func TestSharing_OnlyByLoginsWithAllRights(t *testing.T) {
	h := openHouse(t, noSession)
	whole := apitoken.Grant{Name: "web-1", May: apitoken.Everything, Page: true}
	grant := func(change func(*apitoken.Grant)) *apitoken.Grant {
		g := whole
		change(&g)
		return &g
	}
	for _, c := range []struct {
		name  string
		g     *apitoken.Grant
		actor identity.Actor
		ok    bool
	}{
		{"all rights", &whole, identity.Actor{Token: "web-1"}, true},
		{"all rights, as an agent", &whole, identity.Actor{Token: "web-1", Agent: "a"}, false},
		{"no token of the page", grant(func(g *apitoken.Grant) { g.Page = false }), identity.Actor{Token: "k"}, false},
		{"without approving", grant(func(g *apitoken.Grant) { g.May &^= apitoken.Approve }), identity.Actor{Token: "web-1"}, false},
		{"one session", grant(func(g *apitoken.Grant) { g.Session = "s" }), identity.Actor{Token: "web-1"}, false},
		{"a label", grant(func(g *apitoken.Grant) { g.Label = "a=b" }), identity.Actor{Token: "web-1"}, false},
		{"masked", grant(func(g *apitoken.Grant) { g.Masked = true }), identity.Actor{Token: "web-1"}, false},
	} {
		for _, id := range []string{"share", "list-shares", "end-share"} {
			var e *api.Error
			if err := h.permit(with(t, c.g, c.actor), routeOf[id], unasked, unasked); (err == nil) != c.ok || err != nil && (!errors.As(err, &e) || e.Code != api.CodeDenied) {
				t.Errorf("%s, %s: %v", c.name, id, err)
			}
		}
		if err := h.permit(with(t, c.g, c.actor), routeOf["new-token"], unasked, unasked); err == nil {
			t.Errorf("%s: may make tokens", c.name)
		}
	}
}
