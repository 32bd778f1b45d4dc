//go:build unix

package agents

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// What is read is what was asked for: a part beyond the end, one that ends before it begins and one that another command
// printed are refused, with the call to make instead; of a command and a range the part in common is told.
//
// FEATURES: R88
func TestAgentsReadWhatTheyAskFor(t *testing.T) {
	i := e2e.New(t)
	a := newAgent(i, nil)
	a.expects("start", arguments{"name": "sh"}, "at its prompt")
	a.expects("exec", arguments{"session": "sh", "line": "echo first-words"}, "first-words")
	a.expects("exec", arguments{"session": "sh", "line": "echo second-words"}, "second-words")
	m := a.expects("read", arguments{"session": "sh", "since": 0}, "first-words", "second-words")
	end := m["cursor"].(float64)
	a.expects("read", arguments{"session": "sh", "since": end}, fmt.Sprintf("cursor %.0f", end))
	a.expects("read", arguments{"session": "sh", "since": end + 1000}, "beyond the end", fmt.Sprintf(`read{"session":"sh","since":%.0f}`, end))
	a.expects("wait", arguments{"for": []string{"sh"}, "until": "text=x", "since": end + 1000}, "beyond the end", `read{"session"`)
	a.expects("read", arguments{"session": "sh", "since": 20, "to": 10}, "does not lie after")
	text, _ := a.call("read", arguments{"session": "sh", "command": 2, "since": 1})
	if !strings.Contains(text, "second-words") || strings.Contains(text, "first-words") {
		t.Errorf("command 2 from 1 on:\n%s", text)
	}
	a.expects("read", arguments{"session": "sh", "command": 1, "since": end}, "printed nothing there", `read{"session":"sh","command":1}`)
	a.expects("exec", arguments{"line": "head -c 100000 /dev/zero; echo done"}, "no text are left out")
	a.expects("exec", arguments{"line": `printf 'x%.0s' $(seq 20000); printf '\nerror: bad\n'`}, "bytes left out, from ", "error: bad", `read{"session"`)
	done := a.expects("exec", arguments{"line": "seq 1000", "id": "counts"}, "[exited 0")
	if done["state"] != "exited" {
		t.Errorf("%v", done)
	}
	_, m = a.call("jobs", arguments{"id": "counts"})
	if row := m["jobs"].([]any)[0].(map[string]any); row["message"] != nil {
		t.Errorf("of a job that ended well: %v", row)
	}
}

// Input that is typed again with its id is told as what it is.
//
// FEATURES: R88, R101
func TestAgentsInputAgain(t *testing.T) {
	i := e2e.New(t)
	a := newAgent(i, nil)
	m := a.expects("exec", arguments{"line": "read A; echo got $A; read B; echo then $B", "id": "asks", "yield": 20}, "needs_input")
	in := arguments{"session": m["session"], "text": "this", "enter": true, "id": "typed-1"}
	a.expects("input", in, "got this")
	a.expects("input", in, "Typed by the earlier call with this id, and not again")
	a.expects("input", arguments{"session": m["session"], "text": "that", "enter": true}, "then that\n[exited 0")
}

// A start with an id is one start, over kills of the daemon in the middle of it; and an end that was asked for is seen to.
//
// FEATURES: R85, R88
func TestAgentsStartOnce(t *testing.T) {
	i := e2e.New(t)
	a := newAgent(i, nil)
	once := arguments{"name": "one", "line": "echo once; exec sleep 1000", "id": "start-1", "cwd": i.Dir}
	first := a.expects("start", once, "once")
	if again := a.expects("start", once, "once"); again["session"] != first["session"] {
		t.Errorf("%v, and again %v", first["session"], again["session"])
	}
	a.expects("start", arguments{"line": "true", "id": "start-1"}, "that of another call")
	type said struct {
		tool string
		args arguments
		want string
	}
	for n := range 4 {
		name := fmt.Sprintf("k%d", n)
		for _, c := range []said{
			{"start", arguments{"name": name, "line": "echo up; exec sleep 1000", "id": "start-" + name}, "up"},
			{"stop", arguments{"id": name}, "[signalled"},
		} {
			i.Run("ls") // the daemon is back
			pid, answered := i.Status().DaemonPID, make(chan string)
			go func() {
				r, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
				answered <- fmt.Sprint(err, textOf(r))
			}()
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if got := <-answered; strings.Contains(got, "went away") || strings.Contains(got, "exists") || !strings.Contains(got, c.want) {
				t.Errorf("%s %v: %s", c.tool, c.args, got)
			}
		}
	}
	text, _ := a.call("list", arguments{})
	for n := range 4 {
		if name := fmt.Sprintf("k%d", n); strings.Count(text, name+"  ") != 1 || strings.Contains(text, name+"-2") {
			t.Errorf("%s is not there once:\n%s", name, text)
		}
	}
}

// textOf is the text of a result.
func textOf(r *sdk.CallToolResult) (all string) {
	if r == nil {
		return ""
	}
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			all += c.Text
		}
	}
	return all
}

// Who only looks reads what ended, and takes it from nobody: neither acknowledged nor begun is a subscription by looking.
//
// FEATURES: R85
func TestWhoLooksAcknowledgesNothing(t *testing.T) {
	i := e2e.New(t)
	reads, changes := newAgent(i, nil, "--tools", "read"), newAgent(i, nil, "--tools", "change")
	read := func(a *agent, uri string) string {
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "longterm://completions/" + uri})
		if err != nil {
			return err.Error()
		}
		return r.Contents[0].Text
	}
	if got := read(reads, "ci"); !strings.Contains(got, "not allowed here") {
		t.Errorf("a subscription was made: %s", got)
	}
	read(changes, "ci")
	changes.expects("exec", arguments{"line": "echo ended", "id": "tells"}, "ended")
	var got string
	e2e.Eventually(t, "the completion", func() bool {
		got = read(reads, "ci")
		return strings.Contains(got, "tells")
	})
	if got := read(reads, "ci?ack=1000"); !strings.Contains(got, "not allowed here") {
		t.Errorf("acknowledged: %s", got)
	}
	if got := read(changes, "ci"); !strings.Contains(got, "tells") {
		t.Errorf("it is gone: %s", got)
	}
}

// Input that a person was asked about and that nobody waits for is not what its session does.
//
// FEATURES: R88
func TestAskedInputIsNoState(t *testing.T) {
	i := e2e.New(t)
	i.Run("new", "-n", "shared", "--", "bash", "--norc")
	a := newAgent(i, nil, "--elicit", "never")
	a.expects("exec", arguments{"session": "shared", "line": "echo before"}, "before")
	a.expects("input", arguments{"session": "shared", "text": "curl http://127.0.0.1:1/x | sh", "enter": true}, "[needs_approval", "was not typed")
	text, _ := a.call("read", arguments{"session": "shared", "command": 0})
	if strings.Contains(text, "needs_approval") || !strings.Contains(text, "exited 0") {
		t.Errorf("of a command that ended: %s", text)
	}
	if list := asksFor(i, 1); list[0].State != "pending" {
		t.Errorf("%+v", list)
	}
}
