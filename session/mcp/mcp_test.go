//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Main(m).Run()) }

// newOfflineServer returns a server without a daemon.
func newOfflineServer(t *testing.T, l Level) *Server {
	t.Helper()
	dir := t.TempDir()
	s, err := New(Options{
		Client: func(string, string) *client.Client {
			return client.New(client.Options{Dirs: paths.Dirs{Run: dir, State: dir, Config: dir}})
		},
		Build: "test", Level: l, Cwd: "/", Shell: "/usr/bin/fish",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// connectClient returns a client of a server.
func connectClient(t *testing.T, s *Server) *sdk.ClientSession {
	t.Helper()
	a, b := sdk.NewInMemoryTransports()
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(done)
		_ = s.Run(ctx, a)
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		<-done
	})
	return c
}

// TestTools_TokenCount checks the size of the tools: each request to a model contains them.
//
// FEATURES: R85, R105
func TestTools_TokenCount(t *testing.T) {
	c := connectClient(t, newOfflineServer(t, All))
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b) / bytesPerToken; n > 3000 || len(list.Tools) > 12 {
		t.Errorf("%d tools of %d tokens; at most 12 and 3000", len(list.Tools), n)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if a := tool.Annotations; a == nil || a.DestructiveHint == nil || a.ReadOnlyHint && *a.DestructiveHint {
			t.Errorf("annotations of %s: %+v", tool.Name, a)
		}
		runsLines := tool.Name == "exec" || tool.Name == "start"
		if note := "Shell: fish on " + runtime.GOOS + ", whose syntax is not POSIX."; tool.Description == "" || strings.HasSuffix(tool.Description, note) != runsLines {
			t.Errorf("description of %s: %q", tool.Name, tool.Description)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted by name: %v", names)
	}
	if list.TTLMs == 0 || list.CacheScope != "private" {
		t.Errorf("the list may be cached for %d ms, scope %q", list.TTLMs, list.CacheScope)
	}
	again, err := c.ListTools(t.Context(), nil)
	if b2, _ := json.Marshal(again); err != nil || string(b2) != string(b) {
		t.Error("two lists differ")
	}
}

func TestLevels(t *testing.T) {
	for l, want := range map[Level][2]string{Read: {"read", "exec"}, Change: {"exec", "stop"}, All: {"stop", ""}} {
		c := connectClient(t, newOfflineServer(t, l))
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(list.Tools, func(t *sdk.Tool) bool { return t.Name == name })
		}
		if !has(want[0]) || want[1] != "" && has(want[1]) {
			t.Errorf("level %s: %s or not %s", l, want[0], want[1])
		}
		if want[1] == "" {
			continue
		}
		_, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: want[1], Arguments: map[string]any{"line": "x", "id": "x"}})
		if err == nil || !strings.Contains(err.Error(), "not allowed here") {
			t.Errorf("level %s: %s reports %v", l, want[1], err)
		}
	}
}

func TestBadCalls_GetCorrection(t *testing.T) {
	c := connectClient(t, newOfflineServer(t, All))
	for _, bad := range []struct {
		tool string
		args any
		want string
	}{
		{"exec", map[string]any{}, "line (string, needed)"},
		{"exec", map[string]any{"line": 7}, "line (string, needed)"},
		{"exec", map[string]any{"line": "x", "yield": -1}, "yield"},
		{"exec", map[string]any{"line": "x", "id": "../../x"}, "id"},
		{"exec", map[string]any{"line": "x", "nonsense": true}, "nonsense"},
		{"wait", map[string]any{"for": []string{}}, "for"},
		{"wait", map[string]any{"for": []string{"a"}, "until": "text"}, "lacks a value"},
		{"wait", map[string]any{"for": []string{"a"}, "until": "tomorrow=1"}, "text=WORDS"},
		{"wait", map[string]any{"for": []string{"a"}, "until": "quiet=-1s"}, "no time"},
		{"search", map[string]any{}, "text or regexp"},
		{"search", map[string]any{"text": "a", "regexp": "b"}, "text or regexp"},
		{"input", map[string]any{"session": "a"}, "give text, keys or enter"},
		{"input", map[string]any{"session": "a", "keys": []string{"Escape"}, "text": ":wq", "enter": true}, `input{"session":"a","keys":["Escape"]}`},
		{"exec", map[string]any{"line": "echo a\x00b"}, "NUL"},
		{"start", map[string]any{"line": "echo a\x00b"}, "NUL"},
		{"read", map[string]any{"session": "a", "since": 1e300}, "since: 1e+300 is too large"},
		{"read", map[string]any{"session": "a", "max_tokens": 1}, "1 is less than 50; they are"},
		{"read", map[string]any{"session": "a", "max_tokens": 1}, "max_tokens (integer from 50 to 100000)"},
		{"search", map[string]any{"text": strings.Repeat("x", 5000)}, "more than 4096"},
		{"help", map[string]any{"topic": "everything"}, "topics: "},
		{"stop", map[string]any{"id": "a", "how": "gently"}, "how"},
		{"start", map[string]any{"env": []string{"A"}}, `start{"env":["DEBUG=1"]}`},
	} {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: bad.tool, Arguments: bad.args})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, bad.want) {
			t.Errorf("%s %v: %v %+v; want %q", bad.tool, bad.args, err, r, bad.want)
			continue
		}
		checkRefusal(t, bad.tool, r)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "bash"}); err == nil || !strings.Contains(err.Error(), "there are approvals, exec") {
		t.Errorf("an unknown tool: %v", err)
	}
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "list"})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "daemon") {
		t.Errorf("without a daemon: %v %+v", err, r)
	}
	checkRefusal(t, "list", r)
	for topic := range helpTexts {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "help", Arguments: map[string]any{"topic": topic}})
		if err != nil || r.IsError || len(r.Content[0].(*sdk.TextContent).Text) > 1200 {
			t.Errorf("help on %s: %v %+v", topic, err, r)
		}
	}
}

// checkRefusal checks that the structured form of a rejected call reports the rejection, and fits the tool's schema.
func checkRefusal(t *testing.T, name string, r *sdk.CallToolResult) {
	t.Helper()
	m, _ := r.StructuredContent.(map[string]any)
	if m["state"] != "refused" || m["message"] == "" || m["message"] == nil {
		t.Errorf("%s: the structured form is %v", name, r.StructuredContent)
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
	if tools[i].outputSchema == "" {
		return
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(tools[i].outputSchema), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err == nil {
		err = resolved.Validate(m)
	}
	if err != nil {
		t.Errorf("%s: %v does not fit its schema: %v", name, m, err)
	}
}

// testToken is the secret of the tests' token.
const testToken = "0123456789abcdef"

// postTo sends a request to a handler.
func postTo(t *testing.T, h http.Handler, change func(*http.Request), body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:7717/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+testToken)
	change(r)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// FEATURES: R85
func TestHTTPServer(t *testing.T) {
	h := newOfflineServer(t, All).Handler([]Token{{testToken, "one", Read}}, nil, apitoken.Source{Hosts: []string{"box.example"}, Origins: []string{"https://page.example"}})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modern := func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/list")
	}
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	begin := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for name, c := range map[string]struct {
		change func(*http.Request)
		body   string
		code   int
		want   string
	}{
		"2026-07-28":          {modern, list, 200, `"read"`},
		"its level":           {modern, list, 200, `"ttlMs":3600000`},
		"2025-11-25":          {func(*http.Request) {}, begin, 200, `"protocolVersion":"2025-11-25"`},
		"no token":            {func(r *http.Request) { r.Header.Del("Authorization") }, begin, 401, "longterm token new"},
		"another token":       {func(r *http.Request) { r.Header.Set("Authorization", "Bearer 0123456789abcdee") }, begin, 401, "invalid token"},
		"a token in the URL":  {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + testToken }, begin, 401, "no bearer token"},
		"basic":               {func(r *http.Request) { r.SetBasicAuth("one", testToken) }, begin, 401, "no bearer token"},
		"another host":        {func(r *http.Request) { r.Host = "evil.example" }, begin, 403, "--host"},
		"a host that is ours": {func(r *http.Request) { r.Host = "box.example:7717" }, begin, 200, "protocolVersion"},
		"localhost":           {func(r *http.Request) { r.Host = "localhost:7717" }, begin, 200, "protocolVersion"},
		"IPv6":                {func(r *http.Request) { r.Host = "[::1]:7717" }, begin, 200, "protocolVersion"},
		"nearly localhost":    {func(r *http.Request) { r.Host = "localhost.evil.example" }, begin, 403, "--host"},
		"another page":        {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, begin, 403, "--origin"},
		"no page":             {func(r *http.Request) { r.Header.Set("Origin", "null") }, begin, 403, "--origin"},
		"a page that is ours": {func(r *http.Request) { r.Header.Set("Origin", "https://page.example") }, begin, 200, "protocolVersion"},
		"no JSON":             {modern, `{`, 400, ""},
		"an older header":     {func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2025-11-25") }, list, 400, `"id":1,"error":{"code":-32020,"message":"header MCP-Protocol-Version is \"2025-11-25\"`},
		"no header":           {func(*http.Request) {}, list, 400, `"id":1,"error":{"code":-32020,"message":"header MCP-Protocol-Version is missing`},
		"another method":      {func(r *http.Request) { modern(r); r.Header.Set("Mcp-Method", "tools/call") }, list, 400, "-32020"},
		"too long":            {modern, `{"x":"` + strings.Repeat("y", maxBody) + `"}`, 413, "8 MiB"},
		"a name in Base64": {func(r *http.Request) {
			modern(r)
			r.Header.Set("Mcp-Method", "tools/call")
			r.Header.Set("Mcp-Name", "=?base64?aGVscA==?=")
		}, strings.NewReplacer("tools/list", "tools/call", `"params":{`, `"params":{"name":"help","arguments":{},`).Replace(list), 200, "topics: "},
		"an id with a part": {modern, strings.Replace(list, `"id":1`, `"id":1.5`, 1), 400, `"id":null,"error":{"code":-32600`},
		"a large id":        {modern, strings.Replace(list, `"id":1`, `"id":9007199254740993`, 1), 400, "at most 53 bits"},
		"one of a batch":    {func(*http.Request) {}, "[" + strings.Replace(begin, `"id":1`, `"id":1e0`, 1) + "]", 400, "at most 53 bits"},
		"too long, unsaid":  {func(r *http.Request) { modern(r); r.ContentLength = -1 }, `{"x":"` + strings.Repeat("y", maxBody) + `"}`, 413, "8 MiB"},
		"nested":            {modern, strings.Repeat(`[`, 100_000), 400, ""},
	} {
		w := postTo(t, h, c.change, c.body)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d %.300s; want %d with %q", name, w.Code, w.Body, c.code, c.want)
		}
	}
	w := postTo(t, h, modern, list)
	if strings.Contains(w.Body.String(), `"exec"`) {
		t.Error("a token of level read has the tool exec")
	}
}

func TestTokens(t *testing.T) {
	tokens, err := ParseTokens(strings.NewReader("# all of mine\n" + testToken + " read ci # the build\n\n" + testToken + "0\n"))
	if err != nil || len(tokens) != 2 || tokens[0] != (Token{testToken, "ci", Read}) || tokens[1].Level != All {
		t.Errorf("%+v %v", tokens, err)
	}
	for _, bad := range []string{"", "short", testToken + " root", testToken + " read a b"} {
		if _, err := ParseTokens(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(testToken), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTokens(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
}

func TestURIs(t *testing.T) {
	for uri, want := range map[string]address{
		"longterm://session/a":                    {session: "a"},
		"longterm://session/a%2Fb":                {session: "a/b"},
		"longterm://session/a/output?from=1&to=2": {session: "a", part: "output", from: 1, to: 2},
		"longterm://session/a/output":             {session: "a", part: "output"},
		"longterm://session/a/command/3":          {session: "a", part: "command", n: 3},
		"longterm://session/a/screen":             {session: "a", part: "screen"},
		"longterm://session/a/changes":            {session: "a", part: "changes"},
		"longterm://session/a/changes?command=2":  {session: "a", part: "changes", n: 2},
		"longterm://session/a/diff?path=b%2Fc":    {session: "a", part: "diff", path: "b/c"},
	} {
		if a, err := parseURI(uri); err != nil || *a != want {
			t.Errorf("%s: %+v %v", uri, a, err)
		}
	}
	for _, bad := range []string{
		"", "file:///etc/passwd", "longterm://session/", "longterm://other/a", "longterm://session/a/secrets", "longterm://session/a/command",
		"longterm://session/a/command/x", "longterm://session/a/command/-1", "longterm://session/a/output?from=x", "longterm://session/a/changes?command=0", "longterm://u:p@session/a",
		"longterm://session/a/b/c/d", "longterm://session/%zz", "longterm://session/" + strings.Repeat("a", maxURI),
	} {
		if a, err := parseURI(bad); err == nil {
			t.Errorf("%.80s is accepted: %+v", bad, a)
		}
	}
}

func FuzzURI(f *testing.F) {
	f.Add("longterm://session/a/output?from=1&to=2")
	f.Add("longterm://session/%41/command/1")
	f.Add("longterm://completions/a?ack=7")
	f.Fuzz(func(t *testing.T, uri string) {
		if name, _, ours, err := parseCompletions(uri); ours && err == nil && (name == "" || strings.Contains(name, "/")) {
			t.Fatalf("%q: %q", uri, name)
		}
		if a, err := parseURI(uri); err == nil && (a.session == "" || a.n < 0) {
			t.Fatalf("%q: %+v", uri, a)
		}
	})
}

func FuzzTokens(f *testing.F) {
	f.Add(testToken + " read ci\n# no\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseTokens(strings.NewReader(text))
		for _, k := range all {
			if err != nil || len(k.Secret) < 16 || k.Level > All || k.Name == "" {
				t.Fatalf("%+v %v", k, err)
			}
		}
	})
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"text=a", "regexp=(", "gone=x", "quiet=2s", "exit", "port=80", "port=any", "port=x", "quiet=1e9h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := condition(text); err == nil && text != "" && c.Kind == "" {
			t.Fatalf("%q: %+v", text, c)
		}
	})
}

// TestRecording_TooLong checks that a recording beyond the limit is rejected without reading it.
//
// FEATURES: R85
func TestRecording_TooLong(t *testing.T) {
	s := withDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		if filepath.Base(r.URL.Path) != "big" {
			t.Errorf("request of %s", r.URL)
		}
		_, _ = w.Write([]byte(`{"id":"0123456789abcdef","name":"big","state":"running","output":{"start":100,"end":8388709}}`))
	})
	_, err := s.readRecording(t.Context(), &address{session: "big"})
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeLimit || !strings.Contains(e.Hint, "longterm://session/01234567/output?from=0") {
		t.Errorf("%v", err)
	}
}
