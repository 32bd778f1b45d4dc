//go:build unix

package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestListenerThatMayOnlyLook checks that a view-only caller follows a subscription without becoming its reader, which
// would be rejected.
//
// FEATURES: R101
func TestListenerThatMayOnlyLook(t *testing.T) {
	h := openHouse(t, noSession)
	h.token(t, apitoken.Token{Name: "looks", May: []string{"look"}})
	h.token(t, apitoken.Token{Name: "reads", Level: "read"})
	h.token(t, apitoken.Token{Name: "manages", May: []string{"look", "manage"}})
	v := api.Version + "/subscriptions/ci"
	if w := h.ask(t, "PUT", v, `{"kinds":["job"]}`); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	listen := func(token, query string) *httptest.ResponseRecorder {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "GET", "http://localhost"+v+"/events"+query, nil)
		r.Header.Set(identity.TokenHeader, token)
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
		t.Errorf("a reader was registered: %s", w.Body)
	}
	for _, c := range []struct{ token, query string }{{"looks", ""}, {"manages", "?reader=x&take=true"}} {
		if w := listen(c.token, c.query); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s with %q: %d %s", c.token, c.query, w.Code, w.Body)
		}
	}
}

// TestCompletionStream_ResumesAtCursor checks that a reconnecting browser requests its first address, and sends the
// last id it saw.
//
// FEATURES: R101
func TestCompletionStream_ResumesAtCursor(t *testing.T) {
	for _, c := range []struct {
		after  uint64
		lastID string
		want   uint64
	}{{0, "", 0}, {5, "", 5}, {0, "7", 7}, {5, "7", 7}, {9, "7", 9}, {5, "none", 5}, {5, "-1", 5}} {
		if got := (&completionsQuery{After: c.after, LastID: c.lastID}).position(); got != c.want {
			t.Errorf("after %d, id %q: %d, want %d", c.after, c.lastID, got, c.want)
		}
	}
}

// cutAfterFirst is a client that disconnects after the first message.
type cutAfterFirst struct {
	*httptest.ResponseRecorder
	cut func()
}

func (w *cutAfterFirst) Flush() {
	w.ResponseRecorder.Flush()
	w.cut()
}
