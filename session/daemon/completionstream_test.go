//go:build unix

package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// completionStream is a reader of a subscription's event stream.
type completionStream struct {
	t     *testing.T
	lines *bufio.Scanner
	id    string // of the newest message
	cut   func()
}

func streamCompletions(t *testing.T, r *running, name, lastID string) *completionStream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://daemon"+api.Version+"/subscriptions/"+name+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	cut := func() { cancel(); _ = resp.Body.Close() }
	t.Cleanup(cut)
	if is := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || is != "text/event-stream" {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %s %s", resp.StatusCode, is, b)
	}
	return &completionStream{t: t, lines: bufio.NewScanner(resp.Body), cut: cut}
}

// next returns the next message, or false at the end of the stream.
func (s *completionStream) next() (c api.Completions, ok bool) {
	s.t.Helper()
	for s.lines.Scan() {
		if id, is := strings.CutPrefix(s.lines.Text(), "id: "); is {
			s.id = id
		}
		if data, is := strings.CutPrefix(s.lines.Text(), "data: "); is {
			if err := json.Unmarshal([]byte(data), &c); err != nil {
				s.t.Fatalf("%v in %s", err, data)
			}
			return c, true
		}
	}
	return c, false
}

// jobs returns the jobs of a number of completions.
func (s *completionStream) jobs(n int) (of []string) {
	s.t.Helper()
	for len(of) < n {
		c, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended after %v", of)
		}
		for i := range c.Completions {
			of = append(of, c.Completions[i].Job)
		}
	}
	return of
}

// TestCompletionsAsAStream checks that completions can be read as a stream, as they happen. A reader that was
// disconnected continues after the last id it saw, one without an id at the first unacknowledged.
//
// FEATURES: R101
func TestCompletionsAsAStream(t *testing.T) {
	t.Parallel()
	r := startDaemon(t, testDirs(t))
	run := func(job string) {
		t.Helper()
		get[api.Result](r, "POST", "/run", api.Run{Call: api.Call{Job: job}, NewSession: api.NewSession{Argv: []string{"true"}}})
	}
	get[api.Subscription](r, "PUT", "/subscriptions/ci", api.NewSubscription{Kinds: []string{"job"}})
	s := streamCompletions(t, r, "ci", "")
	if c, ok := s.next(); !ok || len(c.Completions) != 0 {
		t.Errorf("from the start: %+v, %v", c, ok)
	}
	run("one")
	if got := s.jobs(1); !slices.Equal(got, []string{"one"}) {
		t.Errorf("as it happens: %v", got)
	}
	s.cut()
	run("two")
	again := streamCompletions(t, r, "ci", s.id)
	if got := again.jobs(1); !slices.Equal(got, []string{"two"}) {
		t.Errorf("after %s: %v", s.id, got)
	}
	again.cut()
	anew := streamCompletions(t, r, "ci", "")
	if got := anew.jobs(2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("acknowledged none, and got %v", got)
	}
	get[any](r, "DELETE", "/subscriptions/ci", nil)
	for {
		if _, ok := anew.next(); !ok {
			break
		}
	}
	if a := r.ask("GET", "/subscriptions/ci/events", nil); a.status != http.StatusNotFound {
		t.Errorf("once it is removed: %d %s", a.status, a.body)
	}
}
