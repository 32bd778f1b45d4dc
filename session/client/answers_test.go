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

// Answers as no daemon gives them: what a call that changes something and one that does not make
// of them. The second answer is a good one; it is seen only by calls that ask again.
//
// FAULT: A23
func TestBadAnswers(t *testing.T) {
	const good = `{"name":"s"}`
	page := "<html>" + strings.Repeat("\x1b]0;x\a rubbish ", 1<<17) + "</html>"
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		get, post string // of the error; "": not an error
		getAgain  bool   // the call that changes nothing asks again
		postAgain bool
	}{
		{name: "good", answer: writes(200, "application/json", good)},
		{name: "good, of another type", answer: writes(200, "text/html", good)},
		{name: "something after it", answer: writes(200, "application/json", good+"\n\n{}")},
		{name: "a large one", answer: writes(200, "application/json", `{"title":"`+strings.Repeat("x", 8<<20)+`"}`)},
		{name: "a page", answer: writes(200, "text/html", "<html>"), get: "answer to GET /sessions/s: invalid character '<'", post: "answer to POST /sessions/s/restore: invalid"},
		{name: "of another shape", answer: writes(200, "application/json", `["s"]`), get: "cannot unmarshal array", post: "cannot unmarshal array"},
		{name: "nothing", answer: writes(200, "application/json", ""), getAgain: true, post: "disconnected during the request"},
		{name: "half of it", answer: dies(partial(200, `{"na`)), getAgain: true, post: "disconnected during the request"},
		{name: "no HTTP", answer: dies("SSH-2.0-OpenSSH\r\n\r\n"), getAgain: true, post: "disconnected during the request"},
		{name: "an error without a word", answer: writes(500, "text/plain", ""), get: "the daemon answered 500", post: "the daemon answered 500"},
		{name: "an error that is a page", answer: writes(502, "text/html", "<html>no</html>"), get: "502 Bad Gateway: <html>no</html>", post: "<html>no</html>"},
		{name: "an error without a code", answer: writes(404, "application/json", `{"message":"x"}`), get: "404 Not Found", post: "404 Not Found"},
		{name: "a large error", answer: writes(500, "text/html", page), get: "the daemon answered 500", post: "the daemon answered 500"},
		{name: "half an error", answer: dies(partial(503, `{"code":"unav`)), getAgain: true, post: "disconnected during the request"},
		{name: "an error that is a promise", answer: leaves, getAgain: true, postAgain: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, call := range []struct {
				name, want string
				again      bool
				ask        func(context.Context, *Session) error
			}{
				{"GET", c.get, c.getAgain, func(ctx context.Context, s *Session) error { return drop(s.Info(ctx)) }},
				{"POST", c.post, c.postAgain, func(ctx context.Context, s *Session) error { return drop(s.Restore(ctx, api.Restore{})) }},
			} {
				f, client := newFake(t, c.answer, writes(200, "application/json", good))
				err := call.ask(testContext(t), client.Session("s"))
				if asked := len(f.requests()); (asked > 1) != call.again {
					t.Errorf("%s: %d requests", call.name, asked)
				}
				if cut := strings.Contains(call.want, "disconnected"); IsDisconnected(err) != cut {
					t.Errorf("%s: it went away: %v", call.name, !cut)
				}
				switch {
				case (err == nil) != (call.want == ""), err != nil && !strings.Contains(err.Error(), call.want):
					t.Errorf("%s: %.300v, want %q", call.name, err, call.want)
				case err != nil && (len(err.Error()) > 1000 || strings.ContainsRune(err.Error(), '\x1b')):
					t.Errorf("%s: an error of %d bytes for people: %.300q", call.name, len(err.Error()), err)
				}
			}
		})
	}
}

// transport answers requests without a socket: in a bubble all pauses take no time.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answered is a response with a body.
func answered(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// How long a call is patient with a daemon that stays broken, and how often it asks.
func TestPatience(t *testing.T) {
	const refusal = `{"code":"unavailable","message":"it is being closed","retry":true}`
	cut := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for _, c := range []struct {
		name string
		ask  func(context.Context, *Session) error
		how  transport
		want time.Duration // the patience; it is over after the last pause
	}{
		{"what changes nothing, broken off", func(ctx context.Context, s *Session) error { return drop(s.Info(ctx)) }, cut, maxRetryTime},
		{"an empty answer", func(ctx context.Context, s *Session) error { return drop(s.Info(ctx)) },
			func(*http.Request) (*http.Response, error) { return answered(200, ""), nil }, maxRetryTime},
		{"output, broken off", func(ctx context.Context, s *Session) error { return drop(s.Output(ctx, 0, 0)) },
			func(*http.Request) (*http.Response, error) {
				r := answered(200, "")
				r.Header.Set("Longterm-From", "0")
				r.Header.Set("Longterm-Next", "0")
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader("x"), broken{}))
				return r, nil
			}, maxRetryTime},
		{"a daemon that goes on leaving", func(ctx context.Context, s *Session) error { return s.Resize(ctx, 1, 1) },
			func(*http.Request) (*http.Response, error) { return answered(503, refusal), nil }, maxRetryTime},
		{"what changes something, broken off", func(ctx context.Context, s *Session) error { return s.Resize(ctx, 1, 1) }, cut, 0},
		{"a job, broken off", func(ctx context.Context, s *Session) error { return drop(s.Exec(ctx, api.Exec{})) }, cut, maxRetryTime},
		{"a job at a daemon that cannot", func(ctx context.Context, s *Session) error { return drop(s.Exec(ctx, api.Exec{})) },
			func(*http.Request) (*http.Response, error) {
				return answered(503, `{"code":"unavailable","message":"no keeper"}`), nil
			}, shortPatience},
	} {
		t.Run(c.name, func(t *testing.T) {
			dirs := newDirs(t)
			synctest.Test(t, func(t *testing.T) {
				client := New(Options{Dirs: dirs})
				asked := 0
				client.http.Transport = transport(func(r *http.Request) (*http.Response, error) {
					asked++
					return c.how(r)
				})
				began := time.Now()
				err := c.ask(t.Context(), client.Session("s"))
				took := time.Since(began)
				if codeOf(err) != api.CodeUnavailable && !errors.Is(err, errCut) {
					t.Error(err)
				}
				if took < c.want || took > c.want+2*lastPause {
					t.Errorf("it took %v, want %v", took, c.want)
				}
				if most := int(c.want/lastPause) + 20; asked > most || c.want > 0 && asked < most/4 {
					t.Errorf("%d requests", asked)
				}
			})
		})
	}
}

// broken is a body that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A pause ends with its context; after a time without failures the retry policy starts afresh.
func TestRetryPolicy_ResetsAfterSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRetryPolicy()
		began := time.Now()
		pauses := 0
		for p.pauseWithin(t.Context(), time.Second) {
			pauses++
		}
		if took := time.Since(began); took < time.Second || took > time.Second+2*lastPause || pauses > 30 {
			t.Errorf("%d pauses in %v", pauses, took)
		}
		if p.pauseWithin(t.Context(), time.Second) {
			t.Error("patience without an end")
		}
		time.Sleep(resetAfter + time.Second) // the bubble's time
		if !p.pauseWithin(t.Context(), time.Second) || p.next != 2*firstPause {
			t.Errorf("no patience for another trouble; the next pause is %v", p.next)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if newRetryPolicy().pause(ctx) {
			t.Error("a pause outlasts its context")
		}
	})
}

// The prompt on a screen is also reported for an older daemon whose screens lack it, from its description of the
// session.
//
// FEATURES: R88
func TestWhatOlderScreensWaitFor(t *testing.T) {
	const screen, info = "GET /v1/sessions/s/screen", "GET /v1/sessions/s"
	asks := writes(200, "application/json", `{"name":"s","needs_input":{"kind":"password"}}`)
	for _, c := range []struct {
		name         string
		answer, then http.HandlerFunc
		at           string
		kind         string
		asked        []string
		fails        bool
	}{
		{"asks", writes(200, "application/json", `{"version":7,"needs_input":{"kind":"confirm"}}`), asks, "", "confirm", []string{screen}, false},
		{"does not", writes(200, "application/json", `{"version":7,"needs_input":null}`), asks, "", "", []string{screen}, false},
		{"older, asks", writes(200, "application/json", `{"version":7}`), asks, "", "password", []string{screen, info}, false},
		{"older, does not", writes(200, "application/json", `{"version":7}`), writes(200, "application/json", `{"name":"s"}`), "", "", []string{screen, info}, false},
		{"older, gone", writes(200, "application/json", `{"version":7}`), refuses(api.Errorf(api.CodeNotFound, "no such session")), "", "", []string{screen, info}, false},
		{"past", writes(200, "application/json", `{"version":7}`), asks, "-5m", "", []string{screen + "?at=-5m"}, false},
		{"of another shape", writes(200, "application/json", `{"version":7,"needs_input":"text"}`), asks, "", "", []string{screen}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, client := newFake(t, c.answer, c.then)
			got, err := client.Session("s").Screen(testContext(t), ScreenQuery{At: c.at})
			if (err != nil) != c.fails || got.Version != 7 {
				t.Errorf("%+v, %v", got, err)
			}
			kind := ""
			if got.Needs != nil {
				kind = got.Needs.Kind
			}
			if kind != c.kind {
				t.Errorf("it waits for %q, want %q", kind, c.kind)
			}
			var asked []string
			for _, r := range f.requests() {
				asked = append(asked, r.line)
			}
			if !slices.Equal(asked, c.asked) {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
		})
	}
}
