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

// A history that has no end record broke off, wherever that was.
//
// FAULT: A23
func TestRecords(t *testing.T) {
	const two = `{"kind":"screen","offset":1,"cols":80,"rows":24}` + "\n" + `{"kind":"output","offset":1,"data":"aGk="}` + "\n"
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    error // at the end
	}{
		{"whole", writes(200, "application/jsonl", two+`{"kind":"end","offset":3}`+"\n"), "screen@1 output@1=hi", io.EOF},
		{"nothing after its end", writes(200, "application/jsonl", two+`{"kind":"end"}{"kind":"output"}`), "screen@1 output@1=hi", io.EOF},
		{"no end", writes(200, "application/jsonl", two), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"nothing", writes(200, "application/jsonl", ""), "", io.ErrUnexpectedEOF},
		{"half a record", writes(200, "application/jsonl", two+`{"kind":"ou`), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"the daemon died", dies("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + two), "screen@1 output@1=hi", io.ErrUnexpectedEOF},
		{"rubbish", writes(200, "text/html", "<html>"), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := newFake(t, c.answer)
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
				t.Errorf("%q, %v; want %q, %v", got, err, c.want, c.err)
			}
			if _, again := r.Next(); again == nil || c.err == io.EOF && again != io.EOF {
				t.Errorf("after its end: %v", again)
			}
			if c.err != io.EOF && !strings.Contains(err.Error(), "read it again") {
				t.Errorf("%v says not what to do", err)
			}
		})
	}
}

// Events come until the daemon leaves or the callback has enough; what is no event is an error.
func TestEvents(t *testing.T) {
	enough := errors.New("enough")
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		most   int
		want   string
		err    string
	}{
		{name: "until the daemon leaves", answer: writes(200, "text/event-stream", "id: 1\nevent: message\ndata: {\"seq\":1,\"kind\":\"listening\"}\n\n: still here\n\ndata:{\"seq\":2,\ndata: \"kind\":\"created\"}\n\n"),
			want: "1 listening, 2 created"},
		{name: "with the lines of another system", answer: writes(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\r\n\r\n"), want: "1 bell"},
		{name: "one that was not ended", answer: writes(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\n\ndata: {\"seq\":2"), want: "1 bell"},
		{name: "enough", answer: writes(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"bell\"}\n\ndata: {\"seq\":2,\"kind\":\"bell\"}\n\n"), most: 1, want: "1 bell", err: "enough"},
		{name: "no JSON", answer: writes(200, "text/event-stream", "data: hello\n\n"), err: "event: invalid character"},
		{name: "one without an end", answer: writes(200, "text/event-stream", "data: "+strings.Repeat("x", 17<<20)), err: "token too long"},
		{name: "refused", answer: refuses(api.Errorf(api.CodeLimit, "too many listen")), err: "too many listen"},
		{name: "the daemon died", answer: dies("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: {\"seq\":1,\"kind\":\"bell\"}\n\n"), want: "1 bell", err: "unexpected EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := newFake(t, c.answer)
			var got []string
			err := client.Events(testContext(t), func(e api.Event) error {
				got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Kind))
				if len(got) == c.most {
					return enough
				}
				return nil
			})
			if strings.Join(got, ", ") != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// A follower gets the events over daemons that leave or crash, each once, and the reason why none follows.
func TestFollowEvents(t *testing.T) {
	asked := 0
	answers := []http.HandlerFunc{
		writes(200, "text/event-stream", "data: {\"seq\":1,\"kind\":\"listening\"}\n\ndata: {\"seq\":2,\"kind\":\"bell\"}\n\n"),
		dies("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\ndata: {\"seq\":3,\"kind\":\"listening\"}\n\n"),
		writes(200, "text/event-stream", "data: {\"seq\":4,\"kind\":\"bell\"}\n\n"),
		refuses(api.Errorf(api.CodeLimit, "too many listen")),
	}
	var after []string
	_, c := newFake(t, func(w http.ResponseWriter, r *http.Request) {
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
		t.Errorf("asked for what came after %q", after)
	}
	enough := errors.New("enough")
	_, c = newFake(t, answers[0])
	if err := c.FollowEvents(testContext(t), func(api.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}

// A listener without events returns with the context.
func TestEventsEndWithTheirContext(t *testing.T) {
	_, c := newFake(t, func(w http.ResponseWriter, r *http.Request) {
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

// The last words of a keeper are the last line that is longterm's own.
func TestLastLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if got := lastLine(path); got != "" {
		t.Errorf("of no file: %q", got)
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
			t.Errorf("%.50q: %q, want %q", text, got, want)
		}
	}
}
