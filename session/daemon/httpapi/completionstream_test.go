//go:build unix

package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// Who may only look listens to a subscription, and does not become its reader: the one that is would be refused.
//
// FEATURES: R101
func TestListenerThatMayOnlyLook(t *testing.T) {
	h := openHouse(t, noSession)
	h.token(t, access.Token{Name: "looks", May: []string{"look"}})
	h.token(t, access.Token{Name: "reads", Level: "read"})
	h.token(t, access.Token{Name: "manages", May: []string{"look", "manage"}})
	v := api.Version + "/subscriptions/ci"
	if w := h.ask(t, "PUT", v, `{"kinds":["job"]}`); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	listen := func(token, query string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+v+"/events"+query, nil)
		r.Header.Set(actor.TokenHeader, token)
		w := &cutAfterFirst{ResponseRecorder: httptest.NewRecorder(), cut: cancel}
		h.Handler().ServeHTTP(w, r)
		return w.ResponseRecorder
	}
	for _, token := range []string{"looks", "reads"} {
		for _, query := range []string{"?reader=x", "?take=true", "?reader=x&take=true"} {
			if got := codeOf(t, listen(token, query)); got != api.CodeDenied {
				t.Errorf("%s with %s: %q", token, query, got)
			}
		}
	}
	if w := h.ask(t, "POST", v+"/read", `{"reader":"first"}`); w.Code != http.StatusOK {
		t.Errorf("somebody became the reader: %s", w.Body)
	}
	for _, c := range []struct{ token, query string }{{"looks", ""}, {"manages", "?reader=x&take=true"}} {
		if w := listen(c.token, c.query); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s with %q: %d %s", c.token, c.query, w.Code, w.Body)
		}
	}
}

// A browser that comes again asks for the address that it began with, and says what it saw since.
//
// FEATURES: R101
func TestWhereAStreamGoesOn(t *testing.T) {
	for _, c := range []struct {
		after  uint64
		lastID string
		want   uint64
	}{{0, "", 0}, {5, "", 5}, {0, "7", 7}, {5, "7", 7}, {9, "7", 9}, {5, "none", 5}, {5, "-1", 5}} {
		if got := (&completionsQuery{After: c.after, LastID: c.lastID}).seen(); got != c.want {
			t.Errorf("after %d, id %q: %d, want %d", c.after, c.lastID, got, c.want)
		}
	}
}

// cutAfterFirst is a client that goes away once it was told something.
type cutAfterFirst struct {
	*httptest.ResponseRecorder
	cut func()
}

func (w *cutAfterFirst) Flush() {
	w.ResponseRecorder.Flush()
	w.cut()
}
