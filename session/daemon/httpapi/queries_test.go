//go:build unix

package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/search"
)

// TestSearchQueries checks that a search starts and ends where requested, continues after the last answer, and rejects
// invalid positions.
//
// FEATURES: R92
func TestSearchQueries(t *testing.T) {
	h := openHouse(t, everySession)
	place := search.Cursor{Nanos: -1, Session: ownID, From: 1<<64 - 1}
	q, err := h.searchFor(&searchQuery{Text: "a", Session: "own", Since: "2026-03-02T10:00:00Z", Until: "2026-03-02T10:00:00Z", Before: encodeCursor(place)})
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	if err != nil || !q.Since.Equal(at) || !q.Until.Equal(at) || q.Session != ownID || q.Before != place || q.Limit != 50 {
		t.Errorf("%+v, %v", q, err)
	}
	raw := base64.RawURLEncoding.EncodeToString
	for name, c := range map[string]struct {
		in   searchQuery
		code api.Code
	}{
		"nothing to search for": {searchQuery{Case: true, Command: 1}, api.CodeInvalid},
		"no such session":       {searchQuery{Text: "a", Session: "none"}, api.CodeNotFound},
		"one of two sessions":   {searchQuery{Text: "a", Session: "aaaa"}, api.CodeAmbiguous},
		"an offset as a time":   {searchQuery{Text: "a", Since: "12345"}, api.CodeInvalid},
		"a line as a time":      {searchQuery{Text: "a", Until: "line:1"}, api.CodeInvalid},
		"no time":               {searchQuery{Text: "a", Until: "tomorrow"}, api.CodeInvalid},
		"before: not base64":    {searchQuery{Text: "a", Before: "?"}, api.CodeInvalid},
		"before: padded":        {searchQuery{Text: "a", Before: base64.URLEncoding.EncodeToString([]byte(`{"ns":1}`))}, api.CodeInvalid},
		"before: not JSON":      {searchQuery{Text: "a", Before: raw([]byte("x"))}, api.CodeInvalid},
		"before: another type":  {searchQuery{Text: "a", Before: raw([]byte(`{"ns":"1"}`))}, api.CodeInvalid},
		"before: too large":     {searchQuery{Text: "a", Before: raw([]byte(`{"from":18446744073709551616}`))}, api.CodeInvalid},
		"before: no place":      {searchQuery{Text: "a", Before: raw([]byte(`{}`))}, api.CodeInvalid},
		"before: null":          {searchQuery{Text: "a", Before: raw([]byte(`null`))}, api.CodeInvalid},
	} {
		_, err := h.searchFor(&c.in)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

// TestSearchPages checks that pages of a search follow one another without a repeated or omitted hit.
//
// FEATURES: R92
func TestSearchPages(t *testing.T) {
	h := openHouse(t, everySession)
	h.searchable(t, 3)
	page := func(before string) (found api.Found) {
		t.Helper()
		w := h.ask(t, "GET", api.Version+"/search?text=printed&limit=1&before="+before, "")
		if err := json.Unmarshal(w.Body.Bytes(), &found); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return found
	}
	seen := map[string]bool{}
	for before := ""; ; {
		found := page(before)
		for _, hit := range found.Hits {
			if seen[hit.Session] || !strings.HasPrefix(hit.Text, "printed by ") || hit.Name == "" {
				t.Errorf("%+v", hit)
			}
			seen[hit.Session] = true
		}
		if before = found.Next; before == "" {
			break
		}
	}
	if len(seen) != 3 {
		t.Errorf("sessions found: %v", seen)
	}
}

// TestMatchesAsShown checks that a hit only within a masked secret is not returned.
func TestMatchesAsShown(t *testing.T) {
	hit := api.Hit{Text: "key hunter2 end", Matches: [][2]int{{12, 15}}}
	for _, c := range []struct {
		matches [][2]int
		shown   string
		want    bool
	}{
		{[][2]int{{12, 15}}, "key ******* end", true}, {[][2]int{{4, 11}}, "key ******* end", false}, {[][2]int{{10, 13}}, "key ******* end", false},
		{[][2]int{{0, 3}, {4, 5}}, "key ******* end", false}, {nil, "key ******* end", true}, {[][2]int{{0, 3}}, "key", false},
		{[][2]int{{12, 16}}, "key ******* end", false}, {[][2]int{{-1, 3}}, "key ******* end", false},
	} {
		hit.Matches = c.matches
		if got := matchesAsShown(&hit, c.shown); got != c.want {
			t.Errorf("%v in %q: %v", c.matches, c.shown, got)
		}
	}
}

// TestLastEvents checks that a listener continues at the position in its address, else in its header. A position that
// is not a number matches no event.
//
// FEATURES: R86
func TestLastEvents(t *testing.T) {
	for _, c := range []struct {
		after  uint64
		header string
		want   uint64
	}{
		{0, "", 0}, {0, "7", 7}, {3, "7", 3}, {3, "x", 3}, {0, "x", 0}, {0, "-1", 0}, {0, " 7", 0}, {0, "7.0", 0}, {0, "0x7", 0},
		{0, "9223372036854775807", 1<<63 - 1},
	} {
		if got := (&eventsQuery{After: c.after, LastID: c.header}).position(); got != c.want {
			t.Errorf("after %d, header %q: %d, want %d", c.after, c.header, got, c.want)
		}
	}
}

// TestBadRequests checks that empty or excessive requests are rejected with a code, never with an internal error.
func TestBadRequests(t *testing.T) {
	h := openHouse(t, everySession)
	v := api.Version
	for _, c := range []struct {
		method, path, body string
		want               api.Code
	}{
		{"GET", "/sessions/aaaa", "", api.CodeAmbiguous},
		{"GET", "/sessions/%2e%2e%2fown", "", api.CodeNotFound},
		{"GET", "/sessions/own%00", "", api.CodeNotFound},
		{"GET", "/sessions/own/commands/-1", "", api.CodeInvalid},
		{"GET", "/sessions/own/commands/99999999999999999999", "", api.CodeInvalid},
		{"GET", "/sessions/own/commands/2", "", api.CodeNotFound},
		{"GET", "/sessions/own/output?max=-1", "", api.CodeInvalid},
		{"GET", "/sessions/own/output?max=4194305", "", api.CodeInvalid},
		{"GET", "/sessions/own/output?from=-1", "", api.CodeInvalid},
		{"GET", "/sessions/own/output?stream=stdin", "", api.CodeInvalid},
		{"GET", "/sessions/own/output?stream=stderr", "", api.CodeInvalid},
		{"GET", "/sessions/own/output?at=whenever", "", api.CodeInvalid},
		{"GET", "/sessions/own/screen?scrollback=1", "", api.CodeInvalid},
		{"GET", "/audit/verify?head=1", "", api.CodeInvalid},
		{"GET", "/audit?since=12345", "", api.CodeInvalid},
		{"GET", "/search?text=a&limit=10001", "", api.CodeInvalid},
		{"GET", "/jobs/none", "", api.CodeNotFound},
		{"GET", "/jobs/job-o", "", api.CodeAmbiguous},
		{"GET", "/approvals/B1", "", api.CodeNotFound},
		{"GET", "/approvals/A0", "", api.CodeNotFound},
		{"POST", "/sessions/own/wait", `{"conditions":[{"kind":"never"}]}`, api.CodeInvalid},
		{"POST", "/sessions/own/wait", `{"conditions"`, api.CodeInvalid},
		{"POST", "/sessions/own/input", `{"text":"a"}`, api.CodeEnded},
		{"POST", "/sessions/own/input", `{}`, api.CodeInvalid},
		{"POST", "/sessions/own/resize", `{"cols":0,"rows":5}`, api.CodeInvalid},
		{"POST", "/sessions/own/signal", `{"signal":"NOPE"}`, api.CodeInvalid},
		{"POST", "/sessions/own/signal", `{"signal":"TERM"}`, api.CodeEnded},
		{"PATCH", "/sessions/own", `{"name":"other"}`, api.CodeNameTaken},
		{"GET", "/sessions/own/attach", "", api.CodeInvalid},
		{"GET", "/page", "", api.CodeInvalid},
	} {
		w := h.ask(t, c.method, v+c.path, c.body, "Content-Type", "application/json")
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s %s %s: an internal error: %s", c.method, c.path, c.body, w.Body)
		}
		if got := codeOf(t, w); got != c.want {
			t.Errorf("%s %s %s: %q, want %s: %s", c.method, c.path, c.body, got, c.want, w.Body)
		}
	}
	var kept api.Session
	if w := h.ask(t, "GET", v+"/sessions/own", ""); json.Unmarshal(w.Body.Bytes(), &kept) != nil || kept.Name != "own" || kept.Labels["of"] != "me" {
		t.Errorf("the rejected request changed the session: %s", w.Body)
	}
}
