//go:build unix

package daemon

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestPageOfOtherHost checks that a page's requests to another host carry no login, and only content returns. A login
// without full access, for all sessions and unmasked, reaches no other host.
//
// FEATURES: R83, R115
func TestPageOfOtherHost(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	inFleet(t, r)
	type question struct {
		path   string
		header http.Header
	}
	asked := make(chan question, 16)
	serveOther(t, r, func(w http.ResponseWriter, q *http.Request) {
		asked <- question{q.URL.String(), q.Header}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "longterm=theirs")
		w.Header().Set("Content-Security-Policy", "default-src *")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		_, _ = io.WriteString(w, `{"other":true}`)
	})
	b := r.openWeb(api.OpenWeb{})
	pose := func(q *http.Request) {
		q.Header.Set(identity.TokenHeader, "web")
		q.Header.Set(identity.Header, "bot")
		q.Header.Set("Sec-Websocket-Protocol", "ticket.secret")
	}
	got := b.do("POST", "h/other/v1/sessions?a=b", map[string]string{"name": "x"}, pose)
	if got.status != http.StatusOK || string(got.body) != `{"other":true}` {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, name := range []string{"Set-Cookie", "Access-Control-Allow-Origin"} {
		if v := got.header.Values(name); len(v) > 0 {
			t.Errorf("%s: %q", name, v)
		}
	}
	if policy := got.header.Values("Content-Security-Policy"); len(policy) != 1 || !strings.Contains(policy[0], "default-src 'none'") {
		t.Errorf("%q", policy)
	}
	q := <-asked
	if q.path != "/v1/sessions?a=b" {
		t.Errorf("requested %s", q.path)
	}
	known := []string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "Range", "User-Agent"}
	for name := range q.header {
		if !slices.Contains(known, name) {
			t.Errorf("the other host received %s: %q", name, q.header[name])
		}
	}
	if got := b.do("GET", "h/other/", nil); got.status != http.StatusOK || !strings.Contains(string(got.body), "<title>longterm") {
		t.Errorf("the page itself: %d %.80s", got.status, got.body)
	}
	if got := b.do("GET", "h/other/web/me", nil); got.status != http.StatusOK || !strings.Contains(string(got.body), "manage") {
		t.Errorf("logged-in user: %d %s", got.status, got.body)
	}
	refused := func(what string, got answer, want int) {
		t.Helper()
		if got.status != want {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	refused("no host", b.do("GET", "h/No.Name/v1/sessions", nil), http.StatusNotFound)
	refused("a stranger", r.browser(b.url).do("GET", "h/other/v1/sessions", nil), http.StatusUnauthorized)
	refused("without the page's key", b.do("GET", "h/other/v1/sessions", nil, func(q *http.Request) { q.Header.Del("Longterm-Page") }), http.StatusUnauthorized)
	refused("who may not manage", r.openWeb(api.OpenWeb{May: []string{"look", "type", "approve"}}).do("GET", "h/other/v1/sessions", nil), http.StatusForbidden)
	refused("who sees secrets masked", r.openWeb(api.OpenWeb{Masked: true}).do("GET", "h/other/v1/sessions", nil), http.StatusForbidden)
	token := get[api.MadeToken](r, "POST", "/tokens", api.NewToken{Name: "program", Level: "all"})
	refused("a program with a token", b.do("GET", "h/other/v1/sessions", nil, func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token.Secret) }), http.StatusForbidden)
	select {
	case q := <-asked:
		t.Errorf("the other host got a request for %s", q.path)
	default:
	}
}
