//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/apitoken"
)

// readEvent reads the next event of a stream: its id and data.
func readEvent(t *testing.T, r *bufio.Reader) (id, data string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends: %v", err)
		}
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && id != "":
			return id, data
		}
	}
}

// TestStream_Resumed checks that a client which loses the stream of a call can resume it, and gets the answer once.
//
// FEATURES: R85
func TestStream_Resumed(t *testing.T) {
	const secret = "0123456789abcdef"
	web := httptest.NewServer(stubDaemon(t).Handler([]Token{{Secret: secret, Name: "default", Level: All}}, nil, apitoken.Source{}))
	defer web.Close()
	session := ""
	ask := func(method, body, last string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{
			"Authorization": "Bearer " + secret, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session, "Last-Event-ID": last,
		} {
			if v != "" {
				r.Header.Set(k, v)
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	resp := ask(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, "")
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	session = resp.Header.Get("Mcp-Session-Id")
	resp = ask(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	_ = resp.Body.Close()

	resp = ask(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"screen","arguments":{"session":"s"}}}`, "")
	first, data := readEvent(t, bufio.NewReader(resp.Body))
	if data != "" {
		t.Fatalf("no event before the answer: %s", data)
	}
	_ = resp.Body.Close()
	again := func(last string) (int, string) {
		for end := time.Now().Add(time.Minute); ; {
			resp := ask(http.MethodGet, "", last)
			b, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusConflict || time.Now().After(end) { // the broken stream is not detected at once
				return resp.StatusCode, fmt.Sprintf("%s%v", b, err)
			}
		}
	}
	status, all := again(first)
	if status != http.StatusOK || strings.Count(all, `"id":2`) != 1 || !strings.Contains(all, "ready") {
		t.Fatalf("%d %s", status, all)
	}
	last, _ := readEvent(t, bufio.NewReader(strings.NewReader(all)))
	if status, all := again(last); status != http.StatusOK || strings.Contains(all, "data:") {
		t.Errorf("after the answer: %d %s", status, all)
	}
	for _, unknown := range []string{"nothing_7", "no-event-at-all"} {
		if status, all := again(unknown); status != http.StatusBadRequest || !strings.Contains(all, "without Last-Event-ID") || strings.Contains(all, "failed to") {
			t.Errorf("unknown stream: %d %s", status, all)
		}
	}
}

// TestEventStore_Bounds checks the bounds per session and in total, in bytes and in streams, and that missing events are
// reported.
func TestEventStore_Bounds(t *testing.T) {
	ctx := t.Context()
	r := newEventStore()
	read := func(session, stream string, index int) (all []byte, err error) {
		for data, e := range r.After(ctx, session, stream, index) {
			if e != nil {
				return nil, e
			}
			all = append(all, data...)
		}
		return all, nil
	}
	open := func(session, stream string) {
		if err := r.Open(ctx, session, stream); err != nil {
			t.Fatal(err)
		}
	}
	open("a", "")
	open("a", "x")
	for _, text := range []string{"one", "two", "three"} {
		if err := r.Append(ctx, "a", "x", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for index, want := range []string{"twothree", "three", ""} {
		if got, err := read("a", "x", index); err != nil || string(got) != want {
			t.Errorf("after %d: %q %v", index, got, err)
		}
	}
	if _, err := read("a", "x", 3); !errors.Is(err, errEventsExpired) {
		t.Errorf("after an unsent event: %v", err)
	}
	big := bytes.Repeat([]byte("x"), maxSessionEvents/2)
	for range 3 {
		_ = r.Append(ctx, "a", "", big)
	}
	if _, err := read("a", "x", 0); !errors.Is(err, errEventsExpired) {
		t.Errorf("after dropped events: %v", err)
	}
	if got, err := read("a", "", 1); err != nil || len(got) != len(big) {
		t.Errorf("the newest: %d %v", len(got), err)
	}
	_ = r.Append(ctx, "a", "", make([]byte, 2*maxSessionEvents)) // too large to be stored
	if _, err := read("a", "", 2); !errors.Is(err, errEventsExpired) {
		t.Errorf("one too large: %v", err)
	}
	for n := range 2 * maxStreams {
		open("a", fmt.Sprint(n))
	}
	if n := len(r.sessions["a"].streams); n > maxStreams {
		t.Errorf("%d streams", n)
	}
	if err := r.Append(ctx, "a", "", nil); err != nil {
		t.Errorf("stream of notices: %v", err)
	}
	if err := r.Append(ctx, "a", "x", nil); !errors.Is(err, errEventsExpired) {
		t.Errorf("dropped stream: %v", err)
	}
	for n := range 2 * maxAllEvents / len(big) {
		s := fmt.Sprint("many", n)
		open(s, "")
		_ = r.Append(ctx, s, "", big)
	}
	sum := 0
	for name, p := range r.sessions {
		bytes := 0
		for name, s := range p.streams {
			if name != "" {
				bytes += streamOverhead
			}
			for _, data := range s.events {
				bytes += eventCost(data)
			}
		}
		if bytes != p.bytes || len(p.opened) != len(p.streams) || slices.Contains(p.opened, "x") {
			t.Errorf("%s: %d bytes, counted %d", name, bytes, p.bytes)
		}
		sum += bytes
	}
	if sum != r.bytes || sum > maxAllEvents {
		t.Errorf("%d bytes, counted %d", sum, r.bytes)
	}
	for name := range r.sessions {
		_ = r.SessionClosed(ctx, name)
	}
	if r.bytes != 0 || len(r.sessions) != 0 {
		t.Errorf("%d bytes of %d sessions are left", r.bytes, len(r.sessions))
	}
}

// TestNewNoticeStream_StartsEmpty checks that a client which opens the stream of notices again gets none of the old ones,
// also after some were dropped, and can resume it. Notices before the first opening are delivered.
//
// FEATURES: R85
func TestNewNoticeStream_StartsEmpty(t *testing.T) {
	ctx := t.Context()
	r := newEventStore()
	read := func(index int) (string, error) {
		all := ""
		for data, err := range r.After(ctx, "a", "", index) {
			if err != nil {
				return "", err
			}
			all += string(data[:min(len(data), 8)])
		}
		return all, nil
	}
	want := func(index int, text string) {
		t.Helper()
		if got, err := read(index); err != nil || got != text {
			t.Errorf("after %d: %q %v, want %q", index, got, err, text)
		}
	}
	add := func(text string) {
		t.Helper()
		if err := r.Append(ctx, "a", "", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	_ = r.Open(ctx, "a", "")
	_ = r.Open(ctx, "a", "x")
	_ = r.Append(ctx, "a", "x", []byte("call"))
	add("early")
	want(-1, "early") // has number 0
	add("one")
	want(0, "one")
	want(-1, "")
	add("two") // has number 0
	want(-1, "")
	add("three")
	add("four")
	want(0, "four")

	add(strings.Repeat("x", maxSessionEvents-500))
	add(strings.Repeat("y", maxSessionEvents/2))
	if _, err := read(0); !errors.Is(err, errEventsExpired) {
		t.Errorf("dropped: %v", err)
	}
	want(-1, "")
	add("five")
	add("six")
	want(0, "six")
	p := r.sessions["a"]
	if n := streamOverhead + eventCost([]byte("five")) + eventCost([]byte("six")); p.bytes != n || r.bytes != n || len(p.order) != 2 {
		t.Errorf("%d bytes and %d of all in %d events; %d are kept", p.bytes, r.bytes, len(p.order), n)
	}

	_ = r.Open(ctx, "b", "")
	_ = r.Append(ctx, "b", "", make([]byte, 2*maxSessionEvents)) // too large to be stored
	for _, err := range r.After(ctx, "b", "", -1) {
		if err != nil {
			t.Errorf("the first after all was dropped: %v", err)
		}
	}
}

// TestEventStore_RequestAfterSessionEnd checks that a request which arrives after its session's end stores nothing.
func TestEventStore_RequestAfterSessionEnd(t *testing.T) {
	ctx := t.Context()
	r := newEventStore()
	_ = r.Open(ctx, "a", "")
	_ = r.SessionClosed(ctx, "a")
	if err := r.Open(ctx, "a", "x"); !errors.Is(err, errEnded) || len(r.sessions) != 0 {
		t.Errorf("%v, %d sessions", err, len(r.sessions))
	}
}

// TestEventStore_EmptyStreams checks that streams without events count too, and that a call whose events were dropped
// still gets its answer.
func TestEventStore_EmptyStreams(t *testing.T) {
	ctx := t.Context()
	r := newEventStore()
	_ = r.Open(ctx, "a", "")
	_ = r.Open(ctx, "a", "x")
	_ = r.Append(ctx, "a", "x", nil)
	_ = r.Append(ctx, "a", "", make([]byte, maxSessionEvents-eventCost(nil)-streamOverhead))
	if n := len(r.sessions["a"].streams["x"].events); n != 0 {
		t.Fatalf("%d events are left", n)
	}
	_ = r.Append(ctx, "a", "x", []byte("answer"))
	if got, err := r.after("a", "x", 0); err != nil || len(got) != 1 || string(got[0]) != "answer" {
		t.Errorf("%q %v", got, err)
	}
	_ = r.SessionClosed(ctx, "a")

	sessions := maxAllEvents/streamOverhead/(maxStreams-1) + 2
	streams := 0
	for n := range sessions {
		name := fmt.Sprint(n)
		_ = r.Open(ctx, name, "")
		for i := 1; i < maxStreams; i++ {
			_ = r.Open(ctx, name, fmt.Sprint(i))
		}
	}
	for _, p := range r.sessions {
		if len(p.opened) != len(p.streams) || p.streams[""] == nil {
			t.Errorf("%d streams, %d counted", len(p.streams), len(p.opened))
		}
		streams += len(p.streams) - 1
	}
	if streams*streamOverhead > maxAllEvents || streams*streamOverhead != r.bytes {
		t.Errorf("%d streams in %d bytes", streams, r.bytes)
	}
}
