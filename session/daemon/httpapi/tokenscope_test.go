//go:build unix

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
)

// ofOneSession lists what a token for one session may use beyond routes with its path. A new route that is not listed
// must be rejected.
var ofOneSession = map[string]string{
	"list-sessions": "list", "table-sessions": "list", "events": "list", "page": "list", "get-web": "list", "kill-several": "list", "search": "list", "list-commands": "list", "list-jobs": "list", "list-approvals": "list",
	"list-inbox": "list", "answer-inbox": "list", "done-inbox": "list", "snooze-inbox": "list",
	"list-push": "list", "subscribe-push": "list", "unsubscribe-push": "list",
	"get-job": "job", "stop-job": "job", "background-job": "job", "forget-job": "job",
	"get-approval": "approval", "answer-approval": "approval",
}

// TestOneSessionTokenOnEachRoute checks that a token for one session sees only that one on each route, and learns of no
// other.
//
// FEATURES: R86
func TestOneSessionTokenOnEachRoute(t *testing.T) {
	h := openHouse(t, everySession)
	ctx := with(t, &apitoken.Grant{Name: "one", Level: apitoken.All, Session: ownID}, identity.Actor{Token: "one"})
	params := map[string]map[string]string{
		"own": {"session": "own", "job": "job-own", "approval": "A1"}, "other": {"session": "other", "job": "job-other", "approval": "A2"},
		"ambiguous": {"session": "aaaa", "job": "job-o", "approval": "A"}, "none": {"session": "none", "job": "none", "approval": "A99"},
		"an id": {"session": ownID, "job": "job-own", "approval": "a1"},
	}
	for i := range Routes {
		r := &Routes[i]
		for what, p := range params {
			mine := what == "own" || what == "an id"
			path := func(name string) string {
				if !strings.Contains(r.Path, "{"+name+"}") {
					return ""
				}
				return p[name]
			}
			var want api.Code
			switch kind := ofOneSession[r.ID]; {
			case localOnly[r.ID]:
				want = api.CodeDenied
			case strings.Contains(r.Path, "{session}"), kind == "job", kind == "approval":
				if !mine {
					want = api.CodeNotFound
				}
			case kind == "":
				want = api.CodeDenied
			}
			err := h.permit(ctx, r, path, unasked)
			var e *api.Error
			if errors.As(err, &e); (err == nil) != (want == "") || err != nil && (e == nil || e.Code != want || e.Hint == "") {
				t.Errorf("%s of %s: %v, want %q", r.ID, what, err, want)
			}
			if err != nil && (strings.Contains(err.Error(), otherID) || what == "ambiguous" && strings.Contains(err.Error(), "aaaa2222")) {
				t.Errorf("%s shows another session: %v", r.ID, err)
			}
		}
	}
}

// TestLevelOfEachRoute checks that ending or removing needs a token of level all, reading one of level read, and
// anything else one of level change. The error names the level.
//
// FEATURES: R86
func TestLevelOfEachRoute(t *testing.T) {
	h := openHouse(t, noSession)
	ends := map[string]bool{
		"stop": true, "upgrade": true, "prune": true, "kill": true, "kill-several": true, "signal": true, "stop-job": true, "forget-job": true, "remove-session": true,
		"remove-rules": true, "answer-approval": true, "answer-approvals": true, "answer-inbox": true, "revoke-grant": true, "commit-draft": true, "discard-draft": true,
		"subscribe-push": true, "unsubscribe-push": true,
	}
	for i := range Routes {
		r := &Routes[i]
		if localOnly[r.ID] { // for the user alone
			continue
		}
		need := apitoken.Change
		if ends[r.ID] {
			need = apitoken.All
		} else if r.Method == http.MethodGet && r.ID != "get-file" || r.ID == "answer-order" {
			need = apitoken.Read
		}
		for _, has := range []apitoken.Level{apitoken.Read, apitoken.Change, apitoken.All} {
			err := h.permit(with(t, &apitoken.Grant{Name: "k", Level: has}, identity.Actor{Token: "k"}), r, unasked, unasked)
			var e *api.Error
			switch {
			case has >= need && err != nil:
				t.Errorf("%s with %s: %v", r.ID, has, err)
			case has < need && (!errors.As(err, &e) || e.Code != api.CodeDenied || !strings.Contains(e.Hint, "--level "+need.String())):
				t.Errorf("%s with %s: %v, want a refusal that names %s", r.ID, has, err, need)
			}
		}
	}
}

// TestListsOfOneSession checks that lists contain only the token's session, whatever session is requested.
//
// FEATURES: R86
func TestListsOfOneSession(t *testing.T) {
	h := openHouse(t, everySession)
	h.token(t, apitoken.Token{Name: "one", Level: "read", Session: ownID})
	v := api.Version
	for _, path := range []string{
		v + "/sessions", v + "/sessions?label=of", v + "/commands", v + "/commands?session=other", v + "/commands?session=" + otherID,
		v + "/jobs", v + "/jobs?session=other", v + "/approvals?all=true", v + "/approvals?session=other&all=true",
		v + "/search?text=printed", v + "/search?text=printed&session=other", v + "/jobs/job-own", v + "/sessions/own/output/raw",
	} {
		got := h.ask(t, "GET", path, "", identity.TokenHeader, "one")
		if body := got.Body.String(); got.Code != http.StatusOK || strings.Contains(body, otherID) || strings.Contains(body, "other") || strings.Contains(body, ruledID) {
			t.Errorf("%s: %d %s", path, got.Code, body)
		}
	}
	for path, found := range map[string]string{v + "/sessions": otherID, v + "/commands?session=other": "make other", v + "/jobs?session=other": "job-other"} {
		if got := h.ask(t, "GET", path, ""); !strings.Contains(got.Body.String(), found) {
			t.Errorf("a user at %s does not see %s: %s", path, found, got.Body)
		}
		if got := h.ask(t, "GET", strings.ReplaceAll(path, "other", "own"), "", identity.TokenHeader, "one"); !strings.Contains(got.Body.String(), ownID) {
			t.Errorf("a token at %s does not see its own session: %s", path, got.Body)
		}
	}
	for path, code := range map[string]api.Code{v + "/metrics": api.CodeDenied, v + "/tokens": api.CodeDenied, v + "/audit": api.CodeDenied, v + "/sessions/other": api.CodeNotFound} {
		if got := codeOf(t, h.ask(t, "GET", path, "", identity.TokenHeader, "one")); got != code {
			t.Errorf("%s: %q, want %s", path, got, code)
		}
	}
	if got := codeOf(t, h.ask(t, "GET", "/metrics", "", identity.TokenHeader, "one")); got != api.CodeDenied {
		t.Errorf("/metrics shows all sessions to a token for one: %q", got)
	}
}

// TestWhichSessionsAreKilled checks that several sessions are ended by name, by label or all. A token for one session
// ends only that, and none if another is named.
//
// FEATURES: R86
func TestWhichSessionsAreKilled(t *testing.T) {
	h := openHouse(t, everySession)
	h.hasProcesses = func(*registry.Handle) bool { return true } // there is something to end
	person := t.Context()
	one := with(t, &apitoken.Grant{Name: "one", Level: apitoken.All, Session: ownID}, identity.Actor{Token: "one"})
	for _, c := range []struct {
		what string
		ctx  context.Context
		ask  api.KillSeveral
		want string // names, or a code
	}{
		{"all", person, api.KillSeveral{All: true}, "own other ruled"},
		{"a label", person, api.KillSeveral{Labels: []string{"of=me"}}, "own"},
		{"nobody's label", person, api.KillSeveral{Labels: []string{"of=you"}}, ""},
		{"names", person, api.KillSeveral{Sessions: []string{"ruled", "own", ownID}}, "ruled own"},
		{"one is not there", person, api.KillSeveral{Sessions: []string{"own", "none"}}, string(api.CodeNotFound)},
		{"nothing", person, api.KillSeveral{}, string(api.CodeInvalid)},
		{"all of a token", one, api.KillSeveral{All: true}, "own"},
		{"a token's own", one, api.KillSeveral{Sessions: []string{"own"}}, "own"},
		{"another than a token's", one, api.KillSeveral{Sessions: []string{"own", "other"}}, string(api.CodeNotFound)},
	} {
		list, err := h.toKill(c.ctx, &c.ask)
		var got []string
		for _, e := range list {
			got = append(got, e.Record().Name)
		}
		var refused *api.Error
		if errors.As(err, &refused) {
			got = append(got, string(refused.Code))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// TestDoorway checks that hosts and origins are checked before tokens over TCP, and tokens before anything else of the
// request.
//
// FEATURES: R86
func TestDoorway(t *testing.T) {
	h := openHouse(t, onlyOwn)
	good := h.token(t, apitoken.Token{Name: "good", Level: "read"})
	late := h.token(t, apitoken.Token{Name: "late", Level: "all", Expires: time.Unix(1e9, 0)})
	gone := h.token(t, apitoken.Token{Name: "gone", Level: "all"})
	if was, err := h.tokens.Revoke("gone"); !was || err != nil {
		t.Fatal(was, err)
	}
	for _, c := range []struct {
		name, host, origin, authorization string
		want                              api.Code
		challenge                         string
	}{
		{"good", "localhost:1", "", "Bearer " + good, "", ""},
		{"the scheme's case", "127.0.0.1", "", "bEARER  " + good + " ", "", ""},
		{"IPv6", "[::1]:80", "http://[::1]:80", "Bearer " + good, "", ""},
		{"none", "localhost", "", "", api.CodeUnauthorized, `realm="longterm"`},
		{"another scheme", "localhost", "", "Basic " + good, api.CodeUnauthorized, `realm="longterm"`},
		{"an empty one", "localhost", "", "Bearer ", api.CodeUnauthorized, `realm="longterm"`},
		{"cut", "localhost", "", "Bearer " + good[:len(good)-1], api.CodeUnauthorized, "invalid_token"},
		{"longer", "localhost", "", "Bearer " + good + "0", api.CodeUnauthorized, "invalid_token"},
		{"its name", "localhost", "", "Bearer good", api.CodeUnauthorized, "invalid_token"},
		{"expired", "localhost", "", "Bearer " + late, api.CodeUnauthorized, "invalid_token"},
		{"revoked", "localhost", "", "Bearer " + gone, api.CodeUnauthorized, "invalid_token"},
		{"a name that points here", "evil.example", "", "Bearer " + good, api.CodeDenied, ""},
		{"a name that begins like ours", "localhost.evil.example", "", "Bearer " + good, api.CodeDenied, ""},
		{"a page", "localhost", "https://evil.example", "", api.CodeDenied, ""},
		{"a file's page", "localhost", "null", "Bearer " + good, api.CodeDenied, ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "http://x"+api.Version+"/sessions", nil)
		r.Host = c.host
		for name, value := range map[string]string{"Origin": c.origin, "Authorization": c.authorization} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.RequireToken(h.Handler()).ServeHTTP(w, r)
		if got := codeOf(t, w); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := w.Header().Get("WWW-Authenticate"); !strings.Contains(got, c.challenge) || (c.challenge == "") != (got == "") {
			t.Errorf("%s: challenge %q", c.name, got)
		}
		if strings.Contains(w.Body.String(), "lt_") {
			t.Errorf("%s: the answer contains the secret: %s", c.name, w.Body)
		}
	}
}

// TestNamedTokens checks that the token of a local process removes its other rights, and an unknown one removes all. A
// TCP caller is not checked again.
//
// FEATURES: R86
func TestNamedTokens(t *testing.T) {
	h := openHouse(t, onlyOwn)
	h.token(t, apitoken.Token{Name: "looks", Level: "read"})
	path := api.Version + "/sessions/own"
	for _, c := range []struct {
		method, token string
		want          api.Code
	}{{"GET", "looks", ""}, {"DELETE", "looks", api.CodeDenied}, {"GET", "nobody", api.CodeUnauthorized}} {
		if got := codeOf(t, h.ask(t, c.method, path, "", identity.TokenHeader, c.token)); got != c.want {
			t.Errorf("%s with %s: %q, want %q", c.method, c.token, got, c.want)
		}
	}
	if codeOf(t, h.ask(t, "GET", path, "")) != "" {
		t.Error("the rejected request was executed")
	}
}

// TestOwnLabels checks that a holder of a limited token is an agent; the token's label overrides the request's.
func TestOwnLabels(t *testing.T) {
	for _, c := range []struct {
		grant       *apitoken.Grant
		asked, want string
	}{
		{nil, "", ""}, {nil, "a", "a"},
		{&apitoken.Grant{Name: "t", Level: apitoken.All}, "", ""}, {&apitoken.Grant{Name: "t", Level: apitoken.All}, "a", "a"},
		{&apitoken.Grant{Name: "t", Level: apitoken.Change}, "", "t"}, {&apitoken.Grant{Name: "t", Level: apitoken.Read}, "a", "a"},
		{&apitoken.Grant{Name: "t", Level: apitoken.All, Agent: "bot"}, "", "bot"}, {&apitoken.Grant{Name: "t", Level: apitoken.Read, Agent: "bot"}, "person", "bot"},
	} {
		if got := permittedLabel(c.grant, c.asked); got != c.want {
			t.Errorf("%+v, %q: %q, want %q", c.grant, c.asked, got, c.want)
		}
	}
	h := openHouse(t, noSession)
	for label, want := range map[string]api.Code{
		"": "", "claude code": "", strings.Repeat("x", identity.MaxLabel): "", strings.Repeat("x", identity.MaxLabel+1): api.CodeInvalid,
		" a": api.CodeInvalid, "a\x1b[2J": api.CodeInvalid, "\xff": api.CodeInvalid,
	} {
		if got := codeOf(t, h.ask(t, "GET", api.Version+"/sessions", "", identity.Header, label)); got != want {
			t.Errorf("label %q: %q, want %q", label, got, want)
		}
	}
}
