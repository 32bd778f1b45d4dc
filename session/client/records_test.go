//go:build unix

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestRecords_Next checks that history without an end record is incomplete, wherever it ended.
// FAULT: A23
func TestRecords_Next(t *testing.T) {
	t.Parallel()
	const two = `{"kind":"screen","offset":1,"cols":80,"rows":24}` + "\n" + `{"kind":"output","offset":1,"data":"aGk="}` + "\n"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    error // at the end
	}{
		{"whole", replies(200, "application/jsonl", two+`{"kind":"end","offset":3}`+"\n"), "screen@1 output@1=hi", io.EOF},
		{"nothing after its end", replies(200, "application/jsonl", two+`{"kind":"end"}{"kind":"output"}`), "screen@1 output@1=hi", io.EOF},
		{"no end", replies(200, "application/jsonl", two), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"nothing", replies(200, "application/jsonl", ""), "", io.ErrUnexpectedEOF},
		{"incomplete record", replies(200, "application/jsonl", two+`{"kind":"ou`), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"the daemon died", disconnects("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + two), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"rubbish", replies(200, "text/html", "<html>"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := newFakeDaemon(t, c.answer)
			r, err := client.Session("s").Records(testContext(t), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got []string
			for range 10 {
				var rec api.Record
				if rec, err = r.Next(); err != nil {
					break
				}
				text := fmt.Sprintf("%s@%d", rec.Kind, rec.Offset)
				if len(rec.Data) > 0 {
					text += "=" + string(rec.Data)
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != c.want || err == nil || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("got %q, error %v; want %q, %v", got, err, c.want, c.err)
			}
			if _, again := r.Next(); again == nil || c.err == io.EOF && again != io.EOF {
				t.Errorf("after the end: got error %v", again)
			}
			if c.err != io.EOF && !strings.Contains(err.Error(), "read it again") {
				t.Errorf("got error %v without advice", err)
			}
		})
	}
}

// TestEvents checks that events are read until the daemon disconnects or the callback fails. Data that is not an event
// is an error.
func TestEvents(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		most   int
		want   string
		err    string
	}{
		{name: "until the daemon leaves", answer: replies(200, "text/event-stream", "id: 1\nevent: message\ndata: {\"seq\":1,\"kind\":\"listening\"}\n\n: still here\n\ndata:{\"seq\":2,\ndata: \"kind\":\"created\"}\n\n"),
			want: "1 listening, 2 created"},
		{name: "with the lines of another system", answer: replies(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\r\n\r\n"), want: "1 bell"},
		{name: "one that was not ended", answer: replies(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\n\ndata: {\"seq\":2"), want: "1 bell"},
		{name: "enough", answer: replies(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\n\ndata: {\"seq\":2,\"kind\":\"bell\"}\n\n"), most: 1, want: "1 bell", err: "enough"},
		{name: "no JSON", answer: replies(200, "text/event-stream", "data: hello\n\n"), err: "event: invalid character"},
		{name: "one without an end", answer: replies(200, "text/event-stream", "data: "+strings.Repeat("x", 17<<20)), err: "token too long"},
		{name: "refused", answer: rejects(api.Errorf(api.CodeLimit, "too many listen")), err: "too many listen"},
		{name: "the daemon died", answer: disconnects("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: {\"seq\":1,\"kind\":\"bell\"}\n\n"), want: "1 bell", err: "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := newFakeDaemon(t, c.answer)
			var got []string
			err := client.Events(testContext(t), func(e api.Event) error {
				got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Kind))
				if len(got) == c.most {
					return enough
				}
				return nil
			})
			if strings.Join(got, ", ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, error %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// TestFollowEvents checks that a follower receives each event once across daemons that close or crash, and the reason
// if none follows.
func TestFollowEvents(t *testing.T) {
	t.Parallel()
	asked := 0
	answers := []http.HandlerFunc{
		replies(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"listening\"}\n\ndata: {\"seq\":2,\"kind\":\"bell\"}\n\n"),
		disconnects("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: {\"seq\":3,\"kind\":\"listening\"}\n\n"),
		replies(200, "text/event-stream", "data: {\"seq\":4,\"kind\":\"bell\"}\n\n"),
		rejects(api.Errorf(api.CodeLimit, "too many listen")),
	}
	var after []string
	_, c := newFakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		after = append(after, r.URL.Query().Get("after"))
		asked++
		answers[asked-1](w, r)
	})
	var got []string
	err := c.FollowEvents(testContext(t), func(e api.Event) error {
		got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Kind))
		return nil
	})
	if strings.Join(got, ", ") != "1 listening, 2 bell, 3 listening, 4 bell" || err == nil || !strings.Contains(err.Error(), "too many listen") {
		t.Errorf("%q, %v", got, err)
	}
	if strings.Join(after, " ") != " 2 3 4" {
		t.Errorf("got requests after %q", after)
	}
	enough := errors.New("enough")
	_, c = newFakeDaemon(t, answers[0])
	if err := c.FollowEvents(testContext(t), func(api.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}

// TestEvents_EndWithContext checks that a listener without events returns with its context.
func TestEvents_EndWithContext(t *testing.T) {
	t.Parallel()
	_, c := newFakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: {\"seq\":1}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(testContext(t))
	err := c.Events(ctx, func(api.Event) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestLastLine checks that lastLine returns the last line of longterm itself.
func TestLastLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if got := lastLine(path); got != "" {
		t.Errorf("missing file: got %q", got)
	}
	for text, want := range map[string]string{
		"":                                      "",
		"a\nb\n":                                "",
		"longterm: one\nlongterm: two\nthree\n": "two",
		"longterm: one":                         "one",
		"longterm: old\n" + strings.Repeat("x\n", 8192):                     "",
		strings.Repeat("x\n", 8192) + "longterm: new\n\n\n":                 "new",
		"the disk of longterm: full\n" + "  longterm: not at the beginning": "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lastLine(path); got != want {
			t.Errorf("%.50q: got %q, want %q", text, got, want)
		}
	}
}
