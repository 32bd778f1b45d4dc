//go:build unix

package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// tcpHouse is a daemon that serves HTTP, with a shell that has run a line and another session.
type tcpHouse struct {
	*running
	addr string
}

func startTCP(t *testing.T) *tcpHouse {
	t.Helper()
	dirs := testDirs(t)
	if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	conf := "[http]\nlisten = \"127.0.0.1:0\"\nhosts = [\"box.example\"]\n"
	if err := os.WriteFile(filepath.Join(dirs.Config, "config.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	h := &tcpHouse{running: startDaemon(t, dirs)}
	if h.addr = get[api.Status](h.running, "GET", "/status", nil).HTTP; !strings.HasPrefix(h.addr, "127.0.0.1:") {
		t.Fatalf("HTTP at %q", h.addr)
	}
	return h
}

func (h *tcpHouse) token(n api.NewToken) string {
	h.t.Helper()
	return get[api.MadeToken](h.running, "POST", "/tokens", n).Secret
}

// call makes a request over TCP.
func (h *tcpHouse) call(secret, method, path string, body any, change ...func(*http.Request)) answer {
	h.t.Helper()
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			h.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+h.addr+api.Version+path, bytes.NewReader(b))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for _, f := range change {
		f(r)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		h.t.Fatal(err)
	}
	return a
}

// want checks an answer: its status, and a text in it.
func (h *tcpHouse) want(what string, a answer, status int, text string) {
	h.t.Helper()
	if a.status != status || !strings.Contains(string(a.body), text) {
		h.t.Errorf("%s: %d %.400s; want %d and %q", what, a.status, a.body, status, text)
	}
}

// TestTCP checks that over TCP each request needs a token, pages of other origins are rejected, and a token allows what
// its scope names.
//
// FEATURES: R86
func TestTCP(t *testing.T) {
	t.Parallel()
	h := startTCP(t)
	read, change, all := h.token(api.NewToken{Name: "watcher"}), h.token(api.NewToken{Name: "ci", Level: "change"}), h.token(api.NewToken{Name: "mine", Level: "all"})
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	origin := func(o string) func(*http.Request) { return func(r *http.Request) { r.Header.Set("Origin", o) } }

	h.want("no token", h.call("", "GET", "/status", nil), 401, `"unauthorized"`)
	h.want("a wrong one", h.call(read+"x", "GET", "/status", nil), 401, `"unauthorized"`)
	h.want("in the address", h.call("", "GET", "/status?token="+all, nil), 401, `"unauthorized"`)
	h.want("another host", h.call(all, "GET", "/status", nil, host("evil.example")), 403, "http.hosts")
	h.want("our host", h.call(all, "GET", "/status", nil, host("box.example:1")), 200, `"daemon_pid"`)
	h.want("another page", h.call(all, "GET", "/status", nil, origin("https://evil.example")), 403, "http.origins")
	h.want("a page without an origin", h.call(all, "GET", "/status", nil, origin("null")), 403, "http.origins")
	if a := h.call("", "GET", "/openapi.json", nil); a.status != 401 {
		t.Errorf("the description without a token: %d", a.status)
	}

	start := api.NewSession{Name: "shell", Argv: []string{"sh"}, Cwd: "/"}
	h.want("read starts", h.call(read, "POST", "/sessions", start), 403, "--level change")
	h.want("change starts", h.call(change, "POST", "/sessions", start), 200, `"agent":"ci"`)
	h.want("read looks", h.call(read, "GET", "/sessions/shell", nil), 200, `"name":"shell"`)
	h.want("change ends", h.call(change, "POST", "/sessions/shell/kill", api.Kill{}), 403, "--level all")
	h.want("change removes", h.call(change, "DELETE", "/sessions/shell?force=true", nil), 403, "--level all")
	for _, secret := range []string{read, change, all} {
		h.want("a token makes a token", h.call(secret, "POST", "/tokens", api.NewToken{Name: "more"}), 403, "requires a user")
		h.want("a token lists tokens", h.call(secret, "GET", "/tokens", nil), 403, "requires a user")
	}
	h.want("destructive as an agent", h.call(change, "POST", "/run", api.Run{NewSession: api.NewSession{Argv: []string{"rm", "-rf", "/"}, Cwd: "/"}}), 403, `"denied"`)
	h.want("its name is recorded", h.ask("GET", "/audit?kind=command&limit=100", nil), 200, `"token":"ci"`)
	h.want("that it was made is, too", h.ask("GET", "/audit?kind=write&limit=100", nil), 200, `"token watcher"`)
	h.want("all ends", h.call(all, "POST", "/sessions/shell/kill", api.Kill{GraceMS: 1}), 200, `"exited"`)

	h.want("revoked", h.ask("DELETE", "/tokens/watcher", nil), 200, "true")
	h.want("after that", h.call(read, "GET", "/status", nil), 401, "revoked")
	if a := h.ask("GET", "/audit?limit=1000", nil); bytes.Contains(a.body, []byte(read)) || bytes.Contains(a.body, []byte(all)) {
		t.Error("the audit log has a secret")
	}
}

// TestTokenForOneSession checks that a token for one session reaches no other, by any route.
//
// FEATURES: R86
func TestTokenForOneSession(t *testing.T) {
	t.Parallel()
	h := startTCP(t)
	for _, name := range []string{"mine", "other"} {
		get[api.Session](h.running, "POST", "/sessions", api.NewSession{Name: name, Argv: []string{"cat"}, Cwd: "/"})
		get[api.Typed](h.running, "POST", "/sessions/"+name+"/input", api.Input{Text: "word of " + name, Enter: true})
	}
	other := get[api.Session](h.running, "GET", "/sessions/other", nil)
	get[api.Result](h.running, "POST", "/run", api.Run{Call: api.Call{Job: "job-of-other", Background: true}, NewSession: api.NewSession{Argv: []string{"sleep", "600"}}})
	k := h.token(api.NewToken{Name: "k", Level: "all", Session: "mine"})
	h.want("its session", h.call(k, "GET", "/sessions/mine", nil), 200, `"name":"mine"`)
	h.want("types", h.call(k, "POST", "/sessions/mine/input", api.Input{Text: "x", Enter: true}), 200, `"cursor"`)
	h.want("lists", h.call(k, "GET", "/sessions", nil), 200, `"mine"`)
	for _, c := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"GET", "/sessions/other", nil, 404}, {"GET", "/sessions/" + other.ID + "/output", nil, 404}, {"GET", "/sessions/none", nil, 404},
		{"POST", "/sessions/other/input", api.Input{Text: "x"}, 404}, {"GET", "/sessions/other/attach", nil, 404}, {"GET", "/sessions/other/screen/text", nil, 404},
		{"GET", "/jobs/job-of-other", nil, 404}, {"POST", "/jobs/job-of-other/stop", api.JobStop{}, 404}, {"DELETE", "/jobs/job-of-other", nil, 404},
		{"POST", "/sessions/mine/exec", api.Exec{Call: api.Call{Job: "job-of-other"}, Line: "true"}, 409},
		{"POST", "/run", api.Run{NewSession: api.NewSession{Argv: []string{"true"}}}, 403}, {"POST", "/sessions", api.NewSession{}, 403},
		{"GET", "/status", nil, 403}, {"POST", "/stop", api.Stop{}, 403}, {"POST", "/prune", api.Prune{}, 403}, {"GET", "/audit", nil, 403}, {"GET", "/grants", nil, 403},
		{"POST", "/approvals/answer", api.ApprovalsAnswer{}, 403}, {"GET", "/approvals/A1", nil, 404},
	} {
		h.want(c.method+" "+c.path, h.call(k, c.method, c.path, c.body), c.status, `"hint"`)
	}
	for _, path := range []string{"/sessions", "/jobs", "/jobs?session=other", "/search?text=word", "/search?text=word&session=other", "/commands", "/approvals"} {
		if a := h.call(k, "GET", path, nil); a.status != 200 || strings.Contains(string(a.body), "other") || strings.Contains(string(a.body), other.ID) {
			t.Errorf("%s shows the other session: %d %s", path, a.status, a.body)
		}
	}
	// The MCP server sends requests over the socket, with the token that it got.
	named := func(r *http.Request) { r.Header.Set(identity.TokenHeader, "k") }
	h.want("named", h.over("GET", "/sessions/other", named), 404, "one session")
	h.want("named, its own", h.over("GET", "/sessions/mine", named), 200, "mine")
	h.want("a name that is none", h.over("GET", "/sessions/mine", func(r *http.Request) { r.Header.Set(identity.TokenHeader, "none") }), 401, "revoked")
}

// over makes a request over the daemon's socket.
func (h *tcpHouse) over(method, path string, change func(*http.Request)) answer {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, "http://daemon"+api.Version+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	change(r)
	resp, err := h.http.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, b}
}

// TestStreamsOfTokens checks that a view-only token types nothing into a session that it watches, and is disconnected
// when it is revoked.
func TestStreamsOfTokens(t *testing.T) {
	t.Parallel()
	h := startTCP(t)
	get[api.Session](h.running, "POST", "/sessions", api.NewSession{Name: "s", Argv: []string{"cat"}, Cwd: "/"})
	read := h.token(api.NewToken{Name: "r"})
	ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+h.addr+api.Version+"/sessions/s/attach", http.Header{"Authorization": {"Bearer " + read}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.WriteMessage(websocket.BinaryMessage, []byte("typed\r")); err != nil {
		t.Fatal(err)
	}
	get[api.Typed](h.running, "POST", "/sessions/s/input", api.Input{Text: "after", Enter: true})
	w := get[api.Waited](h.running, "POST", "/sessions/s/wait", api.Wait{Conds: []api.Condition{{Kind: "text", Text: "after"}}, TimeoutMS: 60_000})
	if len(w.Fired) == 0 {
		t.Fatalf("%+v", w)
	}
	if a := h.ask("GET", "/sessions/s/screen/text", nil); strings.Contains(string(a.body), "typed") {
		t.Errorf("it typed: %s", a.body)
	}
	h.ask("DELETE", "/tokens/r", nil)
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			return // disconnected; otherwise the test's own limit applies
		}
	}
}

// TestTCPFollows checks that the listener follows the configuration, and closes.
func TestTCPFollows(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	h := startTCP(t)
	conf := filepath.Join(h.dirs.Config, "config.toml")
	if err := os.WriteFile(conf, []byte("[http]\nlisten = \"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.follows("the listener is closed", func(at string) bool { return at == "" })
	if err := os.WriteFile(conf, []byte("[http]\nlisten = \"nowhere\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.follows("why there is none is told", func(at string) bool { return strings.Contains(at, "127.0.0.1:7718") })
}

// follows waits until the daemon reports the state of its listener that is expected.
func (h *tcpHouse) follows(what string, is func(at string) bool) {
	h.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for range 3000 {
		if is(get[api.Status](h.running, "GET", "/status", nil).HTTP) {
			return
		}
		<-look.C
	}
	h.t.Fatal(what + ": it is not")
}
