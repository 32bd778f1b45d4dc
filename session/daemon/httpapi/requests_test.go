//go:build unix

package httpapi

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// TestConditions checks that conditions become those of sessions, with their defaults; empty ones are rejected.
func TestConditions(t *testing.T) {
	row, col := 3, 4
	for _, c := range []struct {
		in   api.Condition
		want session.Cond
		bad  bool
	}{
		{in: api.Condition{Kind: "text", Text: "a"}, want: session.Cond{Kind: session.CondText, Text: "a", Row: -1, Col: -1}},
		{in: api.Condition{Kind: "quiet"}, want: session.Cond{Kind: session.CondQuiet, Quiet: time.Second, Row: -1, Col: -1}},
		{in: api.Condition{Kind: "quiet", QuietMS: 7}, want: session.Cond{Kind: session.CondQuiet, Quiet: 7 * time.Millisecond, Row: -1, Col: -1}},
		{in: api.Condition{Kind: "progress"}, want: session.Cond{Kind: session.CondProgress, Percent: 100, Row: -1, Col: -1}},
		{in: api.Condition{Kind: "progress", Percent: 40}, want: session.Cond{Kind: session.CondProgress, Percent: 40, Row: -1, Col: -1}},
		{in: api.Condition{Kind: "cursor", Row: &row}, want: session.Cond{Kind: session.CondCursor, Row: 3, Col: -1}},
		{in: api.Condition{Kind: "cursor", Row: &row, Col: &col}, want: session.Cond{Kind: session.CondCursor, Row: 3, Col: 4}},
		{in: api.Condition{Kind: "fullscreen", Off: true}, want: session.Cond{Kind: session.CondKind("fullscreen"), Off: true, Row: -1, Col: -1}},
		{in: api.Condition{Kind: "text"}, bad: true},
		{in: api.Condition{Kind: "regexp"}, bad: true},
		{in: api.Condition{Kind: "regexp", Pattern: "("}, bad: true},
		{in: api.Condition{Kind: "gone"}, bad: true},
		{in: api.Condition{Kind: "cursor"}, bad: true},
	} {
		got, err := condition(c.in)
		if c.bad {
			var e *api.Error
			if !errors.As(err, &e) || e.Code != api.CodeInvalid {
				t.Errorf("%+v: %v", c.in, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v; want %+v", c.in, got, err, c.want)
		}
	}
	if got, err := condition(api.Condition{Kind: "gone", Pattern: "a+"}); err != nil || !got.Regexp.MatchString("caat") {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestTypingKinds checks that exactly one kind of input is accepted, also Enter or the end of input alone.
func TestTypingKinds(t *testing.T) {
	paste := "p"
	for _, c := range []struct {
		in   api.Input
		want string
		bad  bool
	}{
		{in: api.Input{Text: "a"}, want: "a"},
		{in: api.Input{Text: "a", Enter: true}, want: "a\r"},
		{in: api.Input{Enter: true}, want: "\r"},
		{in: api.Input{EOF: true}, want: ""},
		{in: api.Input{Keys: []string{"C-c", "x"}}, want: "\x03x"},
		{in: api.Input{Paste: &paste}, want: "p"},
		{in: api.Input{Data: []byte{0, 255}}, want: "\x00\xff"},
		{in: api.Input{}, bad: true},
		{in: api.Input{Text: "a", Paste: &paste}, bad: true},
		{in: api.Input{Keys: []string{"No-such-key"}}, bad: true},
	} {
		got, err := typeRequestOf(c.in)
		if (err != nil) != c.bad {
			t.Errorf("%+v: %v", c.in, err)
			continue
		}
		if err == nil {
			if b := got.Encode([]byte("> "), session.View{}); string(b) != "> "+c.want {
				t.Errorf("%+v: %q, want %q", c.in, b, c.want)
			}
		}
	}
	if b := pipeLines([]byte("a\r"), 0, api.Input{Enter: true}); string(b) != "a\n" {
		t.Errorf("on a pipe Enter is %q", b)
	}
	if b := pipeLines([]byte("a\r"), 0, api.Input{}); string(b) != "a\r" {
		t.Errorf("input on a pipe is %q", b)
	}
}

// TestMatchLabels checks that labels are selected by name, or by name and value; all must match.
func TestMatchLabels(t *testing.T) {
	labels := map[string]string{"a": "1", "b": ""}
	for want, ok := range map[string]bool{"": true, "a": true, "a=1": true, "a=1,b": true, "a=1,b=": true, "a=2": false, "c": false, "a,c": false, "a=": false} {
		var list []string
		if want != "" {
			list = strings.Split(want, ",")
		}
		if matchLabels(labels, list) != ok {
			t.Errorf("%q: %v", want, !ok)
		}
	}
}

// TestOnlyAStream checks that the output of one of two streams is returned alone.
func TestOnlyAStream(t *testing.T) {
	runs := []api.StreamRun{{Stream: "stdout", Bytes: 2}, {Stream: "stderr", Bytes: 3}, {Stream: "stdout", Bytes: 1}}
	for stream, want := range map[string]string{"stdout": "abf", "stderr": "cde", "merged": ""} {
		if got := streamPart(stream, []byte("abcdef"), runs); string(got) != want {
			t.Errorf("%s: %q", stream, got)
		}
	}
}

// TestRequestErrors_ContainNoValues checks that errors of a request do not contain its values, which may be secrets.
func TestRequestErrors_ContainNoValues(t *testing.T) {
	err := requestError(http.StatusUnprocessableEntity, "validation failed", []error{
		&huma.ErrorDetail{Message: "expected string", Location: "body.env[0]", Value: "PASSWORD=hunter2"}, nil, errors.New("and more"),
	})
	if text := err.Error(); err.Code != api.CodeInvalid || strings.Contains(text, "hunter2") || !strings.Contains(text, "body.env[0]") || !strings.Contains(text, "and more") {
		t.Errorf("%s: %v", err.Code, err)
	}
	for _, err := range []*api.Error{err, requestError(http.StatusNotFound, "nothing", nil), requestError(http.StatusInternalServerError, unreadBody, nil)} {
		if err.Hint == "" {
			t.Errorf("the error has no hint: %v", err)
		}
	}
}

// TestOwnPeers checks that connections of this user are accepted and named.
func TestOwnPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	own := OwnPeers(l, slog.New(slog.DiscardHandler))
	client, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := own.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if by := peerString(WithPeer(t.Context(), server)); !strings.HasPrefix(by, "uid ") {
		t.Errorf("%q", by)
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if by := peerString(WithPeer(t.Context(), a)); by != "unknown" {
		t.Errorf("not a socket: %q", by)
	}
	if err := own.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}

// TestPicturesWithinABudget checks that screens of text are limited by a budget, and that pictures are complete.
func TestPicturesWithinABudget(t *testing.T) {
	long := []byte(strings.Repeat("line\n", 2000))
	for _, c := range []struct {
		format string
		max    int
		whole  bool
	}{{"text", 0, false}, {"text", -1, true}, {"md", 500, false}, {"ansi", 20000, true}, {"svg", 100, true}, {"png", 0, true}} {
		q := pictureQuery{Format: c.format, MaxOutput: c.max}
		got := q.truncate(long, "0123456789")
		if (len(got) == len(long)) != c.whole {
			t.Errorf("%s, %d: %d of %d bytes", c.format, c.max, len(got), len(long))
		}
		if !c.whole && !strings.Contains(string(got), "longterm screen 01234567") {
			t.Errorf("%s: no hint for reading the rest: %.200s", c.format, got)
		}
	}
}

// TestStateWords checks that the words for a session's state are those of the API's readers.
func TestStateWords(t *testing.T) {
	for want, st := range map[string]session.Status{
		"running": {State: session.Running}, "lost": {State: session.Lost},
		"exited with status 3": {State: session.Exited, Exit: &session.Exit{Code: 3}},
		"ended by signal KILL": {State: session.Exited, Exit: &session.Exit{Signal: "KILL"}},
	} {
		if got := stateText(st); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
