//go:build unix

package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// agent is a client of an instance's MCP server over stdio, as an agent starts it.
type agent struct {
	*sdk.ClientSession
	t   *testing.T
	cmd *exec.Cmd
}

func newAgent(i *e2e.Instance, o *sdk.ClientOptions, args ...string) *agent {
	i.T.Helper()
	return newAgentOf(i, "", io.Discard, o, args...)
}

// newAgentOf is newAgent with a revision of the protocol, the newest if empty, and with all messages written to log.
func newAgentOf(i *e2e.Instance, version string, log io.Writer, o *sdk.ClientOptions, args ...string) *agent {
	i.T.Helper()
	cmd := i.Command(context.WithoutCancel(i.T.Context()), append([]string{"mcp"}, args...)...)
	both := &sdk.LoggingTransport{Transport: &sdk.CommandTransport{Command: cmd}, Writer: log}
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, o)
	s, err := client.Connect(i.T.Context(), both, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		i.T.Fatal(err)
	}
	i.T.Cleanup(func() { _ = s.Close() }) // it may have been killed
	return &agent{s, i.T, cmd}
}

// call calls a tool and returns its text and its structured form.
func (a *agent) call(tool string, args map[string]any) (string, map[string]any) {
	a.t.Helper()
	r, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		a.t.Fatalf("%s %v: %v", tool, args, err)
	}
	var text strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	m, _ := r.StructuredContent.(map[string]any)
	return text.String(), m
}

// expects calls a tool and checks that its text contains all parts.
func (a *agent) expects(tool string, args map[string]any, want ...string) map[string]any {
	a.t.Helper()
	text, m := a.call(tool, args)
	for _, w := range want {
		if !strings.Contains(text, w) {
			a.t.Errorf("%s %v: %q is not in\n%s", tool, args, w, text)
		}
	}
	return m
}

type arguments = map[string]any

// TestAgentsCalls calls the tools in a typical sequence.
//
// FEATURES: R85, R88
func TestAgentsCalls(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	a.expects("exec", arguments{"line": "echo hello; exit 3"}, "hello\n", "[exited 3")
	a.expects("exec", arguments{"line": "echo once", "id": "one-call"}, "once\n[exited 0")
	a.expects("exec", arguments{"line": "echo once", "id": "one-call", "max_tokens": 100}, "once\n[exited 0")
	a.expects("exec", arguments{"line": "echo twice", "id": "one-call"}, "that of another call", "a unique id")
	a.expects("start", arguments{"name": "sh", "cwd": "/tmp"}, "session sh", "at its prompt")
	a.expects("exec", arguments{"session": "sh", "line": "cd / && X=kept && pwd"}, "/\n[exited 0", "cwd /")
	a.expects("exec", arguments{"session": "sh", "line": "echo $X"}, "kept\n[exited 0")
	m := a.expects("exec", arguments{"session": "sh", "line": "echo early; read LINE; echo got $LINE", "yield": 20}, "early", "needs_input{text}", `next: input{"session":"sh"`)
	a.expects("exec", arguments{"session": "sh", "line": "echo no"}, "stop with how=interrupt")
	a.expects("input", arguments{"session": "sh", "text": "this", "enter": true}, "got this")
	a.expects("wait", arguments{"for": []string{m["job"].(string)}, "since": m["cursor"]}, "got this\n[exited 0")
	a.expects("read", arguments{"session": "sh", "command": 1}, "/\n[exited 0")
	a.expects("read", arguments{"session": "sh", "command": 99}, "no command 99", "leave command out")
	a.expects("wait", arguments{"for": []string{"sh"}, "until": "regexp=("}, "missing closing )", "RE2")
	a.expects("screen", arguments{"session": "sh"}, "got this", "[version ")
	a.expects("list", arguments{}, "sh  at its prompt  /")
	a.expects("jobs", arguments{"session": "sh"}, m["job"].(string))
	a.expects("search", arguments{"text": "hello"}, "hello")
	a.expects("start", arguments{"name": "named", "line": "bash --norc"}, "at its prompt")
	a.expects("exec", arguments{"session": "named", "line": "echo followed; false"}, "followed\n[exited 1")
	a.expects("start", arguments{"name": "within", "line": "env X=1 sh -i"}, "session within")
	a.expects("exec", arguments{"session": "within", "line": "echo within"}, "within", "[exited, status unknown: may have failed")
	a.expects("stop", arguments{"id": "sh"}, "session sh")
	a.expects("exec", arguments{"session": "sh", "line": "true"}, "has ended", `read{"session"`)
	a.expects("stop", arguments{"id": "sh", "how": "remove"}, "forgotten")
	a.expects("read", arguments{"session": "sh"}, `call list{}`)
	a.expects("wait", arguments{"for": []string{"sh"}}, "session or job \"sh\" not found", "list{} or jobs{}")
}

// TestAgentsSeeTheFailure checks that the answer for a failed build contains the error, however long the output is.
//
// FEATURES: R105
func TestAgentsSeeTheFailure(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	script := `i=0; while [ $i -lt 8000 ]; do i=$((i+1)); echo "cc -c file$i.c"; [ $i = 4000 ] && echo "file.c:12:3: error: expected expression"; done; echo "make: *** [all] Error 1"; exit 2`
	text, m := a.call("exec", arguments{"line": script, "max_tokens": 300, "yield": 45})
	if len(text) > 300*4+400 {
		t.Errorf("%d bytes for 300 tokens", len(text))
	}
	for _, want := range []string{"file.c:12:3: error: expected expression", "make: *** [all] Error 1", "[exited 2", `read{"session"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	cut, _ := m["omitted"].(map[string]any)
	if cut == nil {
		t.Fatalf("omitted output is not reported: %v", m)
	}
	a.expects("read", arguments{"session": m["session"], "since": cut["from"], "to": cut["to"], "max_tokens": 50_000}, "cc -c file6000.c")
}

// TestAgentSurvivesKills kills server and daemon during a call. The repeated call continues the same job.
//
// FEATURES: R85, R88
func TestAgentSurvivesKills(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir() // an agent's writes below longterm's own directory need approval
	marks, goOn := filepath.Join(dir, "marks"), filepath.Join(dir, "go-on")
	line := fmt.Sprintf("echo once >> %s; until [ -e %s ]; do sleep 0.05; done; echo finished; exit 4", marks, goOn)
	a := newAgent(i, nil)
	a.expects("exec", arguments{"line": line, "id": "the-call", "yield": 0.2}, "[running", `wait{"for":["the-call"]`)
	var asked sync.WaitGroup
	asked.Go(func() {
		// Its server is killed: the client is notified, and starts another one.
		_, _ = a.CallTool(context.WithoutCancel(t.Context()), &sdk.CallToolParams{Name: "wait", Arguments: arguments{"for": []string{"the-call"}, "yield": 45}})
	})
	for _, pid := range []int{a.cmd.Process.Pid, i.Status().DaemonPID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	asked.Wait()
	b := newAgent(i, nil)
	b.expects("exec", arguments{"line": line, "id": "the-call", "yield": 0.2}, "[running")
	var waits sync.WaitGroup
	waits.Go(func() { b.expects("wait", arguments{"for": []string{"the-call"}, "yield": 45}, "finished\n[exited 4") })
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waits.Wait()
	b.expects("exec", arguments{"line": line, "id": "the-call"}, "finished\n[exited 4")
	if got, err := os.ReadFile(marks); err != nil || string(got) != "once\n" {
		t.Errorf("it ran: %q %v", got, err)
	}
}

// TestAgent_PassesPasswordOn runs a program that prompts for a password. The protocol forbids forms for passwords, so
// the agent gets the command with which its user types it in the session.
//
// FAULT: H5
// FEATURES: R85
func TestAgent_PassesPasswordOn(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		t.Error("a form is shown")
		return &sdk.ElicitResult{Action: "decline"}, nil
	}}, "--elicit", "always")
	line := `printf 'Password: '; stty -echo; read P; stty echo; echo; echo "${#P} characters"`
	m := a.expects("exec", arguments{"line": line, "yield": 20}, "needs_input{password}", "pass on to your user", "`longterm attach ", "next: wait{")
	session, _ := m["session"].(string)
	i.Run("send", "-e", session, "correct horse")
	a.expects("wait", arguments{"for": m["job"], "yield": "45s"}, "13 characters", "[exited 0")
}

// TestAgentAsksAgain runs a program that prompts several times in one call. Clients of both protocol revisions pass
// each prompt to the user.
//
// FEATURES: R85
func TestAgentAsksAgain(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, version := range []string{"2025-06-18", ""} {
		asked, declines := 0, false
		handler := func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if asked++; declines && asked > 1 {
				return &sdk.ElicitResult{Action: "decline"}, nil
			}
			return &sdk.ElicitResult{Action: "accept", Content: arguments{"answer": true}}, nil
		}
		var log bytes.Buffer
		a := newAgentOf(i, version, &log, &sdk.ClientOptions{ElicitationHandler: handler}, "--elicit", "always")
		line := `printf 'Continue? [y/N] '; read P; printf '\nReally? [y/N] '; read Q; printf '\nDelete it? [y/N] '; read R; echo "said $P$Q$R"`
		if text, _ := a.call("exec", arguments{"line": line, "yield": 30}); !strings.Contains(text, "said yyy") || asked != 3 {
			t.Errorf("%q: %q after %d questions", version, text, asked)
		}
		asked, declines = 0, true
		m := a.expects("exec", arguments{"line": line, "yield": 30}, "needs_input{confirm}", "declined to answer")
		if asked != 2 || m["job"] == nil {
			t.Errorf("%q: declined after %d questions: %v", version, asked, m)
		}
		_ = a.Close()
		if version != "" && strings.Contains(log.String(), "inputRequests") { // an older client would not understand it; the SDK's does
			t.Errorf("%q: an answer that only newer clients understand", version)
		}
	}
}

// TestAgentWaitsForApproval calls a command that needs approval. The answer reports it at once; the command runs only
// after approval, here or by a form of the agent's program.
//
// FEATURES: R85
func TestAgentWaitsForApproval(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	ran := filepath.Join(i.Dir, "ran")
	if err := os.WriteFile(filepath.Join(i.Dir, "script"), []byte("echo it >> "+ran+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	line := "cat " + i.Dir + "/script | sh" // its program is unknown before
	a := newAgent(i, nil)
	m := a.expects("exec", arguments{"line": line, "id": "asks", "yield": 45}, "[needs_approval", `next: wait{"for":["asks"]}`)
	approval, _ := m["approval"].(string)
	if why, _ := m["why"].(string); !strings.Contains(why, "rule ") || !strings.Contains(fmt.Sprint(m["message"]), why) {
		t.Errorf("the reason of the approval is missing: %v", m)
	}
	a.expects("wait", arguments{"for": []string{"asks"}, "yield": 0.2}, "[needs_approval", approval)
	a.expects("approvals", arguments{}, approval, "| sh", "asked by agent")
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("it ran before it was allowed")
	}
	var waits sync.WaitGroup
	waits.Go(func() { a.expects("wait", arguments{"for": []string{"asks"}, "yield": 45}, "[exited 0") })
	i.Run("approvals", "answer", approval, "once")
	waits.Wait()

	said := ""
	person := newAgent(i, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		if !strings.Contains(r.Params.Message, "| sh") {
			t.Errorf("asked: %s", r.Params.Message)
		}
		return &sdk.ElicitResult{Action: "accept", Content: arguments{"answer": said}}, nil
	}})
	said = "reject"
	person.expects("exec", arguments{"line": line + " -s no", "yield": 20}, "[denied", "Rejected")
	said = "once"
	person.expects("exec", arguments{"line": line + " -s yes", "yield": 20}, "[exited 0")
	if b, err := os.ReadFile(ran); err != nil || string(b) != "it\nit\n" {
		t.Errorf("it ran: %q %v", b, err)
	}
	m = a.expects("exec", arguments{"line": "rm -rf /"}, "not allowed, and not run")
	i.Run("new", "-n", "typing", "--", "bash", "--norc") // a user's: lines are judged when they are ended
	i.Run("wait", "typing", "--for", "prompt")
	asked := a.expects("input", arguments{"session": "typing", "text": line, "enter": true, "id": "typed"}, "[needs_approval", "it was not typed", "id typed")
	approval, _ = asked["approval"].(string)
	i.Run("approvals", "answer", approval, "once")
	a.expects("input", arguments{"session": "typing", "text": line, "enter": true, "id": "typed"}, "cursor")
	a.expects("input", arguments{"session": "typing", "text": "rm -rf /", "enter": true}, "not allowed")
	if m["state"] != "denied" || m["code"] != "denied" || m["why"] == nil || m["message"] == nil || m["output"] == nil {
		t.Errorf("a denied call has the structured form %v", m)
	}
}

// TestAgentSubscribes subscribes to resources and reads their updates.
//
// FEATURES: R85
func TestAgentSubscribes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	told := make(chan string, 1000)
	a := newAgent(i, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { told <- r.Params.URI }})
	a.expects("start", arguments{"name": "sh"}, "prompt")
	uris := []string{"longterm://session/sh", "longterm://session/sh/output"}
	for _, uri := range uris {
		if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "longterm://session/none"}); err == nil {
		t.Log("a subscription to a session that is not there is only told by its end") // the stream acknowledges first
	}
	awaits := func() {
		t.Helper()
		missing := map[string]bool{uris[0]: true, uris[1]: true}
		for len(missing) > 0 {
			select {
			case uri := <-told:
				delete(missing, uri)
			case <-t.Context().Done():
				t.Fatalf("not notified of %v", missing)
			}
		}
	}
	a.call("exec", arguments{"session": "sh", "line": "echo something"})
	awaits()
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	a.call("exec", arguments{"session": "sh", "line": "echo more"})
	awaits()
	r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uris[1]})
	if err != nil || !strings.Contains(r.Contents[0].Text, "more") {
		t.Errorf("%v %+v", err, r)
	}
	for _, uri := range []string{"longterm://session/sh/screen", "longterm://session/sh/command/1", "longterm://session/sh/recording", "longterm://context", uris[0]} {
		if r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil || r.Contents[0].Text == "" {
			t.Errorf("%s: %v %+v", uri, err, r)
		}
	}
	if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "longterm://session/none/screen"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a missing session: %v", err)
	}
}

// web is an instance's MCP server over HTTP, which gets raw requests.
type web struct {
	t          *testing.T
	url, token string
	cmd        *exec.Cmd
	forms      bool // the client supports forms
}

func newWeb(i *e2e.Instance, args ...string) *web {
	i.T.Helper()
	cmd := i.Command(context.WithoutCancel(i.T.Context()), append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	errOut, err := cmd.StderrPipe()
	if err != nil {
		i.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		i.T.Fatal(err)
	}
	i.T.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have been killed
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(errOut).ReadString('\n')
	w := &web{t: i.T, cmd: cmd}
	var file string
	if _, scanErr := fmt.Sscanf(strings.Replace(line, ",", " ,", 1), "longterm: MCP at %s , tokens in %s", &w.url, &file); err != nil || scanErr != nil {
		i.T.Fatalf("%q: %v, %v", line, err, scanErr)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		i.T.Fatal(err)
	}
	w.token = strings.Fields(string(b))[0]
	return w
}

// request makes a request of 2026-07-28 by a client that takes tasks.
func (w *web) request(method, name string, params arguments) (result arguments, rpcError arguments) {
	w.t.Helper()
	can := arguments{"extensions": arguments{"io.modelcontextprotocol/tasks": arguments{}}}
	if w.forms {
		can["elicitation"] = arguments{"form": arguments{}}
	}
	params["_meta"] = arguments{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         arguments{"name": "web", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": can,
	}
	body, err := json.Marshal(arguments{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), "POST", w.url, bytes.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + w.token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		r.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		b = []byte(strings.TrimPrefix(line, "data: "))
		var m struct{ Result, Error arguments }
		if json.Unmarshal(b, &m) == nil && (m.Result != nil || m.Error != nil) {
			return m.Result, m.Error
		}
	}
	w.t.Fatalf("%s: %s %s", method, resp.Status, b)
	return nil, nil
}

// TestTasksSurviveKills kills server and daemon. The task is found again by its id.
//
// FEATURES: R85
func TestTasksSurviveKills(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	goOn := filepath.Join(i.Dir, "go-on")
	w := newWeb(i)
	begun, rpc := w.request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "until [ -e " + goOn + " ]; do sleep 0.05; done; echo finished; exit 5"}})
	id, _ := begun["taskId"].(string)
	if begun["resultType"] != "task" || begun["status"] != "working" || id == "" {
		t.Fatalf("%v %v", begun, rpc)
	}
	if soon, rpc := w.request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "echo soon"}}); soon["resultType"] != "complete" {
		t.Errorf("a call that ends at once became a task: %v %v", soon, rpc)
	}
	for _, pid := range []int{w.cmd.Process.Pid, i.Status().DaemonPID} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	w = newWeb(i, "--elicit", "always")
	w.forms = true
	if d, rpc := w.request("tasks/get", id, arguments{"taskId": id}); d["status"] != "working" {
		t.Errorf("%v %v", d, rpc)
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var done arguments
	e2e.Eventually(t, "the task has ended", func() bool {
		done, _ = w.request("tasks/get", id, arguments{"taskId": id})
		return done["status"] == "completed"
	})
	if b, _ := json.Marshal(done["result"]); !strings.Contains(string(b), `finished`) || !strings.Contains(string(b), `"exit_code":5`) {
		t.Errorf("%s", b)
	}

	asks, _ := w.request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "printf 'Continue? [y/N] '; read A; echo said $A"}})
	id, _ = asks["taskId"].(string)
	d, _ := w.request("tasks/get", id, arguments{"taskId": id})
	questions, _ := d["inputRequests"].(arguments)
	if d["status"] != "input_required" || len(questions) != 1 {
		t.Fatalf("%v", d)
	}
	for name := range questions {
		w.request("tasks/update", id, arguments{"taskId": id, "inputResponses": arguments{"other": arguments{}, name: arguments{"action": "accept", "content": arguments{"answer": "yes"}}}})
	}
	e2e.Eventually(t, "the answer has ended", func() bool {
		done, _ = w.request("tasks/get", id, arguments{"taskId": id})
		return done["status"] == "completed"
	})
	if b, _ := json.Marshal(done["result"]); !strings.Contains(string(b), `said y`) {
		t.Errorf("%s", b)
	}

	long, _ := w.request("tools/call", "exec", arguments{"name": "exec", "arguments": arguments{"line": "sleep 1000"}})
	id, _ = long["taskId"].(string)
	for range 2 {
		if ack, rpc := w.request("tasks/cancel", id, arguments{"taskId": id}); ack["resultType"] != "complete" {
			t.Errorf("%v %v", ack, rpc)
		}
	}
	if d, _ := w.request("tasks/get", id, arguments{"taskId": id}); d["status"] != "cancelled" {
		t.Errorf("%v", d)
	}
	if _, rpc := w.request("tasks/get", "none", arguments{"taskId": "none"}); rpc["code"] != -32602.0 {
		t.Errorf("%v", rpc)
	}
	if _, rpc := w.request("tasks/get", "other", arguments{"taskId": id}); rpc["code"] != -32020.0 {
		t.Errorf("%v", rpc)
	}
}

// TestTamperedStates rejects altered state values of the protocol.
//
// FEATURES: R85
func TestTamperedStates(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	w := newWeb(i)
	for _, state := range []string{"AAAA", strings.Repeat("A", 10_000), "{}", "\x00"} {
		_, rpc := w.request("tools/call", "exec", arguments{
			"name": "exec", "arguments": arguments{"line": "echo no >> " + i.Dir + "/ran"}, "requestState": state,
			"inputResponses": arguments{"answer": arguments{"action": "accept", "content": arguments{"answer": "x"}}},
		})
		if message, _ := rpc["message"].(string); rpc["code"] != -32602.0 || !strings.Contains(message, "without it") {
			t.Errorf("%.20q: %v", state, rpc)
		}
	}
	if _, err := os.Stat(filepath.Join(i.Dir, "ran")); err == nil {
		t.Error("it ran")
	}
}

// TestMCP_ReportsProgress checks the progress notifications of a running call.
//
// FEATURES: R85
func TestMCP_ReportsProgress(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	goOn := filepath.Join(i.Dir, "go-on")
	told := make(chan *sdk.ProgressNotificationParams, 100)
	a := newAgent(i, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params }})
	var exec sync.WaitGroup
	exec.Go(func() {
		p := &sdk.CallToolParams{Name: "exec", Arguments: arguments{"line": `printf '\033]9;4;1;30\007'; until [ -e ` + goOn + ` ]; do sleep 0.05; done`, "yield": 45}}
		p.SetProgressToken("p")
		if r, err := a.CallTool(t.Context(), p); err != nil || r.IsError {
			t.Errorf("%v %+v", err, r)
		}
	})
	for {
		if p := <-told; p.Total == 100 && p.Progress == 30 {
			break
		}
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	exec.Wait()
}

// TestManyCallsAtOnce checks that thousands of waiting calls do not delay a read.
func TestManyCallsAtOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	a.expects("start", arguments{"name": "busy", "line": "sleep 1000", "yield": 0}, "busy")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 2000 {
		all.Go(func() {
			_, _ = a.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: arguments{"for": []string{"busy"}, "yield": 45}})
		})
	}
	begun := time.Now()
	for range 50 {
		a.expects("screen", arguments{"session": "busy"}, "[version ")
	}
	t.Logf("50 screens in %v", time.Since(begun))
	cancel()
	all.Wait()
	a.expects("exec", arguments{"line": "echo well"}, "well")
}

// TestMCPContextIsTakenOnce reads the context twice. A user's commands are returned once, the agent's own never.
//
// FEATURES: R78
func TestMCPContextIsTakenOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "SHELL=/bin/bash")
	a := newAgent(i, nil)
	i.Run("new", "-n", "dev", "--", "bash", "--norc")
	i.Run("wait", "dev", "--for", "prompt")
	i.Run("send", "dev", "echo by hand", "--enter")
	i.Run("wait", "dev", "--for", "command")
	i.Run("exec", "dev", "echo by exec")
	read := func() string {
		t.Helper()
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "longterm://context"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0].Text
	}
	if text := read(); !strings.Contains(text, "$ echo by hand\nby hand\n--- end ") || strings.Contains(text, "by exec") {
		t.Errorf("%s", text)
	}
	if text := read(); !strings.HasPrefix(text, "nothing new") {
		t.Errorf("a second time: %s", text)
	}
}
