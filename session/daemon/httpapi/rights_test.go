//go:build unix

package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// unasked are parameters of a request that has none.
func unasked(string) string { return "" }

// A token that names rights is held to them on each route: looking needs only that one is let in at all, typing and
// approving each their own, and whatever is none of these manages.
//
// FEATURES: R83
func TestRightOfEachRoute(t *testing.T) {
	h := openHouse(t, noSession)
	types := map[string]bool{
		"type": true, "exec": true, "batch": true, "add-rules": true, "remove-rules": true, "resize": true,
		"background-job": true, "agent-event": true, "ask-network": true, "wait": true, "get-env": true,
	}
	approves := map[string]bool{"answer-approval": true, "answer-approvals": true, "revoke-grant": true}
	for i := range Routes {
		r := &Routes[i]
		if persons[r.ID] {
			continue
		}
		need := access.Manage
		switch {
		case types[r.ID]:
			need = access.Type
		case approves[r.ID]:
			need = access.Approve
		case r.Method == http.MethodGet || r.ID == "answer-order":
			need = access.Look
		}
		for may := access.Look; may <= access.Everything; may += 2 {
			err := h.permit(with(t, &access.Grant{Name: "k", Level: access.All, May: may}, actor.Actor{Token: "k"}), r, unasked, unasked)
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

// A token for a label sees the sessions that have it, as they are now, and nothing of the others.
//
// FEATURES: R83
func TestTokenForALabel(t *testing.T) {
	h := openHouse(t, everySession)
	h.searchable(t, 3)
	h.token(t, access.Token{Name: "mine", May: []string{"manage"}, Label: "of=me"})
	v := api.Version
	get := func(path string) (api.Code, string) {
		w := h.ask(t, "GET", path, "", actor.TokenHeader, "mine")
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
			t.Errorf("%s tells of another session: %s", path, body)
		}
		if strings.Contains(path, "search") && want == "" && !strings.Contains(body, "printed by own") {
			t.Errorf("%s finds nothing: %s", path, body)
		}
	}
	if _, body := get(v + "/search?text=printed&limit=1"); !strings.Contains(body, "printed by own") {
		t.Errorf("what others printed counts: %s", body)
	}
	if w := h.ask(t, "PATCH", v+"/sessions/own", `{"labels":{"of":"you"}}`); codeOf(t, w) != "" {
		t.Fatal(w.Body)
	}
	if code, _ := get(v + "/sessions/own"); code != api.CodeNotFound {
		t.Errorf("a session that has the label no more: %q", code)
	}
	if code, body := get(v + "/search?text=printed"); code != "" || strings.Contains(body, "printed by") {
		t.Errorf("what a session printed that has the label no more is found: %q %s", code, body)
	}
}

// A login of the page that may decide is a person; one that only looks or types is judged and shown secrets as an agent.
func TestWhoAPageIs(t *testing.T) {
	for _, c := range []struct {
		may  access.Rights
		page bool
		want string
	}{
		{access.Everything, true, ""}, {access.Look | access.Approve, true, ""}, {access.Look | access.Type, true, "t"}, {access.Look, true, "t"},
		{access.Everything, false, ""}, {access.Look | access.Approve, false, "t"},
	} {
		if got := ownLabel(&access.Grant{Name: "t", May: c.may, Page: c.page}, ""); got != c.want {
			t.Errorf("%v, page %v: %q, want %q", c.may.Names(), c.page, got, c.want)
		}
	}
}
