//go:build unix

package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
)

// unasked returns the parameters of a request without any.
func unasked(string) string { return "" }

// TestRightOfEachRoute checks that a token with named rights is held to them on each route: reading needs only
// admission, typing and approving their own rights, and everything else the right to manage.
//
// FEATURES: R83
func TestRightOfEachRoute(t *testing.T) {
	h := openHouse(t, noSession)
	types := map[string]bool{
		"type": true, "exec": true, "batch": true, "add-rules": true, "remove-rules": true, "resize": true,
		"background-job": true, "agent-event": true, "ask-network": true, "wait": true, "get-env": true,
		"put-file": true, "get-file": true,
	}
	approves := map[string]bool{"answer-approval": true, "answer-approvals": true, "answer-inbox": true, "revoke-grant": true, "commit-draft": true,
		"subscribe-push": true, "unsubscribe-push": true}
	for i := range Routes {
		r := &Routes[i]
		if localOnly[r.ID] {
			continue
		}
		need := apitoken.Manage
		switch {
		case types[r.ID]:
			need = apitoken.Type
		case approves[r.ID]:
			need = apitoken.Approve
		case r.Method == http.MethodGet || r.ID == "answer-order":
			need = apitoken.Look
		}
		for may := apitoken.Look; may <= apitoken.Everything; may += 2 {
			err := h.permit(with(t, &apitoken.Grant{Name: "k", Level: apitoken.All, May: may}, identity.Actor{Token: "k"}), r, unasked, unasked)
			var e *api.Error
			switch {
			case may&need != 0 && err != nil:
				t.Errorf("%s with %v: %v", r.ID, may.Names(), err)
			case may&need == 0 && (!errors.As(err, &e) || e.Code != api.CodeDenied || !strings.Contains(e.Hint, need.Names()[0])):
				t.Errorf("%s with %v: %v, want a refusal that names %v", r.ID, may.Names(), err, need.Names())
			}
		}
	}
}

// TestTokenForALabel checks that a token for a label sees the sessions that have it, as they are now, and nothing of
// the others.
//
// FEATURES: R83
func TestTokenForALabel(t *testing.T) {
	h := openHouse(t, everySession)
	h.searchable(t, 3)
	h.token(t, apitoken.Token{Name: "mine", May: []string{"manage"}, Label: "of=me"})
	v := api.Version
	get := func(path string) (api.Code, string) {
		w := h.ask(t, "GET", path, "", identity.TokenHeader, "mine")
		return codeOf(t, w), w.Body.String()
	}
	for path, want := range map[string]api.Code{
		v + "/sessions": "", v + "/sessions/own": "", v + "/commands?session=own": "", v + "/jobs/job-own": "", v + "/approvals/A1": "",
		v + "/sessions/other": api.CodeNotFound, v + "/sessions/" + ruledID: api.CodeNotFound, v + "/jobs/job-other": api.CodeNotFound,
		v + "/approvals/A2": api.CodeNotFound, v + "/commands?session=other": api.CodeNotFound, v + "/commands": api.CodeDenied,
		v + "/search?text=printed": "", v + "/search?regexp=p.*d": "", v + "/search?text=printed&session=own": "",
		v + "/search?text=printed&session=other": api.CodeNotFound, v + "/audit": api.CodeDenied, v + "/tokens": api.CodeDenied, v + "/metrics": api.CodeDenied,
		v + "/sessions/aaaa": api.CodeNotFound,
	} {
		code, body := get(path)
		if code != want {
			t.Errorf("%s: %q, want %q", path, code, want)
		}
		if want == "" && (strings.Contains(body, otherID) || strings.Contains(body, "ruled")) {
			t.Errorf("%s shows another session: %s", path, body)
		}
		if strings.Contains(path, "search") && want == "" && !strings.Contains(body, "printed by own") {
			t.Errorf("%s finds nothing: %s", path, body)
		}
	}
	if _, body := get(v + "/search?text=printed&limit=1"); !strings.Contains(body, "printed by own") {
		t.Errorf("output of other sessions counts: %s", body)
	}
	if w := h.ask(t, "PATCH", v+"/sessions/own", `{"labels":{"of":"you"}}`); codeOf(t, w) != "" {
		t.Fatal(w.Body)
	}
	if code, _ := get(v + "/sessions/own"); code != api.CodeNotFound {
		t.Errorf("a session that has the label no more: %q", code)
	}
	if code, body := get(v + "/search?text=printed"); code != "" || strings.Contains(body, "printed by") {
		t.Errorf("output of a session that lost the label is found: %q %s", code, body)
	}
}

// TestPageLogin_Actor checks that a login of the page that may approve is a user, and one that may only view or type is
// judged as an agent and shown secrets masked.
func TestPageLogin_Actor(t *testing.T) {
	for _, c := range []struct {
		may  apitoken.Rights
		page bool
		want string
	}{
		{apitoken.Everything, true, ""}, {apitoken.Look | apitoken.Approve, true, ""}, {apitoken.Look | apitoken.Type, true, "t"}, {apitoken.Look, true, "t"},
		{apitoken.Everything, false, ""}, {apitoken.Look | apitoken.Approve, false, "t"},
	} {
		if got := permittedLabel(&apitoken.Grant{Name: "t", May: c.may, Page: c.page}, ""); got != c.want {
			t.Errorf("%v, page %v: %q, want %q", c.may.Names(), c.page, got, c.want)
		}
	}
}
