//go:build unix

package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestRequest_InvalidResponses sends invalid responses to a request that changes something and to one that does not.
// The second response is valid, and only retried requests receive it.
// FAULT: A23
func TestRequest_InvalidResponses(t *testing.T) {
	const good = `{"name":"s"}`
	page := "<html>" + strings.Repeat("\x1b]0;x\a rubbish ", 1<<17) + "</html>"
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		get, post string // part of the error; "": none
		getAgain  bool   // GET is retried
		postAgain bool   // POST is retried
	}{
		{name: "good", answer: replies(200, "application/json", good)},
		{name: "good, of another type", answer: replies(200, "text/html", good)},
		{name: "data after the value", answer: replies(200, "application/json", good+"\n\n{}")},
		{name: "a large one", answer: replies(200, "application/json", `{"title":"`+strings.Repeat("x", 8<<20)+`"}`)},
		{name: "a page", answer: replies(200, "text/html", "<html>"), get: "answer to GET /sessions/s: invalid character '<'", post: "answer to POST /sessions/s/restore: invalid"},
		{name: "of another shape", answer: replies(200, "application/json", `["s"]`), get: "cannot unmarshal array", post: "cannot unmarshal array"},
		{name: "nothing", answer: replies(200, "application/json", ""), getAgain: true, post: "disconnected during the request"},
		{name: "incomplete", answer: disconnects(partialResponse(200, `{"na`)), getAgain: true, post: "disconnected during the request"},
		{name: "no HTTP", answer: disconnects("SSH-2.0-OpenSSH\r\n\r\n"), getAgain: true, post: "disconnected during the request"},
		{name: "an error without a body", answer: replies(500, "text/plain", ""), get: "the daemon answered 500", post: "the daemon answered 500"},
		{name: "an error that is a page", answer: replies(502, "text/html", "<html>no</html>"), get: "502 Bad Gateway: <html>no</html>", post: "<html>no</html>"},
		{name: "an error without a code", answer: replies(404, "application/json", `{"message":"x"}`), get: "404 Not Found", post: "404 Not Found"},
		{name: "a large error", answer: replies(500, "text/html", page), get: "the daemon answered 500", post: "the daemon answered 500"},
		{name: "an incomplete error", answer: disconnects(partialResponse(503, `{"code":"unav`)), getAgain: true, post: "disconnected during the request"},
		{name: "a retryable error", answer: isClosing, getAgain: true, postAgain: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, call := range []struct {
				name, want string
				again      bool
				ask        func(context.Context, *Session) error
			}{
				{"GET", c.get, c.getAgain, func(ctx context.Context, s *Session) error { return ignoreResult(s.Info(ctx)) }},
				{"POST", c.post, c.postAgain, func(ctx context.Context, s *Session) error { return ignoreResult(s.Restore(ctx, api.Restore{})) }},
			} {
				f, client := newFakeDaemon(t, c.answer, replies(200, "application/json", good))
				err := call.ask(testContext(t), client.Session("s"))
				if asked := len(f.requests()); (asked > 1) != call.again {
					t.Errorf("%s: got %d requests", call.name, asked)
				}
				if cut := strings.Contains(call.want, "disconnected"); IsDisconnected(err) != cut {
					t.Errorf("%s: got IsDisconnected %v", call.name, !cut)
				}
				switch {
				case (err == nil) != (call.want == ""), err != nil && !strings.Contains(err.Error(), call.want):
					t.Errorf("%s: got error %.300v, want %q", call.name, err, call.want)
				case err != nil && (len(err.Error()) > 1000 || strings.ContainsRune(err.Error(), '\x1b')):
					t.Errorf("%s: got an unreadable error of %d bytes: %.300q", call.name, len(err.Error()), err)
				}
			}
		})
	}
}

// roundTripFunc is an HTTP transport without a socket. In a synctest bubble its pauses take no time.
type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newResponse returns a response with a body.
func newResponse(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// TestRequest_RetryTime checks that requests are retried for a limited time if the daemon stays broken.
func TestRequest_RetryTime(t *testing.T) {
	const refusal = `{"code":"unavailable","message":"it is being closed","retry":true}`
	cut := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for _, c := range []struct {
		name string
		ask  func(context.Context, *Session) error
		how  roundTripFunc
		want time.Duration // the retry time; it ends after the last pause
	}{
		{"a GET, disconnected", func(ctx context.Context, s *Session) error { return ignoreResult(s.Info(ctx)) }, cut, maxRetryTime},
		{"an empty answer", func(ctx context.Context, s *Session) error { return ignoreResult(s.Info(ctx)) },
			func(*http.Request) (*http.Response, error) { return newResponse(200, ""), nil }, maxRetryTime},
		{"output, disconnected", func(ctx context.Context, s *Session) error { return ignoreResult(s.Output(ctx, 0, 0)) },
			func(*http.Request) (*http.Response, error) {
				r := newResponse(200, "")
				r.Header.Set("Longterm-From", "0")
				r.Header.Set("Longterm-Next", "0")
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader("x"), brokenBody{}))
				return r, nil
			}, maxRetryTime},
		{"a daemon that keeps closing", func(ctx context.Context, s *Session) error { return s.Resize(ctx, 1, 1) },
			func(*http.Request) (*http.Response, error) { return newResponse(503, refusal), nil }, maxRetryTime},
		{"a POST, disconnected", func(ctx context.Context, s *Session) error { return s.Resize(ctx, 1, 1) }, cut, 0},
		{"a job, disconnected", func(ctx context.Context, s *Session) error { return ignoreResult(s.Exec(ctx, api.Exec{})) }, cut, maxRetryTime},
		{"a job, daemon unavailable", func(ctx context.Context, s *Session) error { return ignoreResult(s.Exec(ctx, api.Exec{})) },
			func(*http.Request) (*http.Response, error) {
				return newResponse(503, `{"code":"unavailable","message":"no keeper"}`), nil
			}, shortRetryTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			dirs := newDirs(t)
			synctest.Test(t, func(t *testing.T) {
				client := New(Options{Dirs: dirs})
				asked := 0
				client.http.Transport = roundTripFunc(func(r *http.Request) (*http.Response, error) {
					asked++
					return c.how(r)
				})
				began := time.Now()
				err := c.ask(t.Context(), client.Session("s"))
				took := time.Since(began)
				if errorCode(err) != api.CodeUnavailable && !errors.Is(err, errIncompleteResponse) {
					t.Error(err)
				}
				if took < c.want || took > c.want+2*maxBackoff {
					t.Errorf("got a retry time of %v, want %v", took, c.want)
				}
				if most := int(c.want/maxBackoff) + 20; asked > most || c.want > 0 && asked < most/4 {
					t.Errorf("got %d requests", asked)
				}
			})
		})
	}
}

// brokenBody is a body that ends early.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestRetryPolicy_ResetsAfterSuccess checks that a pause ends with its context, and that the retry policy is reset
// after a time without failures.
func TestRetryPolicy_ResetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRetryPolicy()
		began := time.Now()
		pauses := 0
		for p.pauseWithin(t.Context(), time.Second) {
			pauses++
		}
		if took := time.Since(began); took < time.Second || took > time.Second+2*maxBackoff || pauses > 30 {
			t.Errorf("got %d pauses in %v", pauses, took)
		}
		if p.pauseWithin(t.Context(), time.Second) {
			t.Error("got a pause after the maximum retry time")
		}
		time.Sleep(resetAfter + time.Second) // the bubble's time
		if !p.pauseWithin(t.Context(), time.Second) || p.backoff != 2*minBackoff {
			t.Errorf("got no pause after a time without failures; the next backoff is %v", p.backoff)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if newRetryPolicy().pause(ctx) {
			t.Error("got true from a pause with an ended context")
		}
	})
}

// TestScreen_NeedsInput_OfOlderDaemon checks that for an older daemon whose screens lack the prompt, it is taken from
// the session's description.
// FEATURES: R88
func TestScreen_NeedsInput_OfOlderDaemon(t *testing.T) {
	t.Parallel()
	const screen, info = "GET /v1/sessions/s/screen", "GET /v1/sessions/s"
	asks := replies(200, "application/json", `{"name":"s","needs_input":{"kind":"password"}}`)
	for _, c := range []struct {
		name         string
		answer, then http.HandlerFunc
		at           string
		kind         string
		asked        []string
		fails        bool
	}{
		{"prompt", replies(200, "application/json", `{"version":7,"needs_input":{"kind":"confirm"}}`), asks, "", "confirm", []string{screen}, false},
		{"no prompt", replies(200, "application/json", `{"version":7,"needs_input":null}`), asks, "", "", []string{screen}, false},
		{"older daemon, prompt", replies(200, "application/json", `{"version":7}`), asks, "", "password", []string{screen, info}, false},
		{"older daemon, no prompt", replies(200, "application/json", `{"version":7}`), replies(200, "application/json", `{"name":"s"}`), "", "", []string{screen, info}, false},
		{"older daemon, session removed", replies(200, "application/json", `{"version":7}`), rejects(api.Errorf(api.CodeNotFound, "no such session")), "", "", []string{screen, info}, false},
		{"past screen", replies(200, "application/json", `{"version":7}`), asks, "-5m", "", []string{screen + "?at=-5m"}, false},
		{"invalid prompt", replies(200, "application/json", `{"version":7,"needs_input":"text"}`), asks, "", "", []string{screen}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFakeDaemon(t, c.answer, c.then)
			got, err := client.Session("s").Screen(testContext(t), ScreenQuery{At: c.at})
			if (err != nil) != c.fails || got.Version != 7 {
				t.Errorf("got screen %+v, error %v", got, err)
			}
			kind := ""
			if got.NeedsInput != nil {
				kind = got.NeedsInput.Kind
			}
			if kind != c.kind {
				t.Errorf("got prompt kind %q, want %q", kind, c.kind)
			}
			var asked []string
			for _, r := range f.requests() {
				asked = append(asked, r.line)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("got requests %q, want %q", asked, c.asked)
			}
		})
	}
}
