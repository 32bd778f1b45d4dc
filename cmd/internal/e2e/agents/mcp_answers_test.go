//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestMCPProgress_SummarisesRepeatedLines reads output with many similar lines. A running command's answer summarises
// them; the answer of an ended one is complete.
//
// FEATURES: R88, R105
func TestMCPProgress_SummarisesRepeatedLines(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	script := `i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "compiling target $i of 100"; done; echo over; until [ -e go ]; do sleep 0.1; done`
	m := a.expects("exec", arguments{"line": script, "cwd": i.Dir, "yield": 0})
	session := m["session"].(string)
	text, m := a.call("wait", arguments{"for": []string{session}, "until": "text=over"})
	results, _ := m["results"].([]any)
	if len(text) > 500 || len(results) != 1 || !strings.Contains(text, "target 1 ") || !strings.Contains(text, "target 100 ") || !strings.Contains(text, "[… 98 lines left out") {
		t.Errorf("%d bytes of progress:\n%s", len(text), text)
	}
	if strings.Contains(text, "until holds: ") { // the caller knows the condition
		t.Errorf("%s", text)
	}
	if err := os.WriteFile(filepath.Join(i.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.expects("wait", arguments{"for": []string{session}}, "target 57 ", "[exited 0")
}

// TestAgentsWaitForTheFirst waits for the first of several sessions. Those whose condition holds are reported with
// their output, the others with their state.
//
// FEATURES: R88
func TestAgentsWaitForTheFirst(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	first := a.expects("exec", arguments{"line": "echo early; until [ -e go ]; do sleep 0.1; done; echo late; exit 4", "cwd": i.Dir, "yield": 0})
	other := a.expects("exec", arguments{"line": "echo something; read FOR", "yield": 10}, "something", "needs_input")
	still := a.expects("exec", arguments{"line": "echo meanwhile; exec sleep 1000", "yield": 0})
	a.expects("wait", arguments{"for": []string{still["job"].(string)}, "until": "text=meanwhile"}, "until holds")
	if err := os.WriteFile(filepath.Join(i.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	text, m := a.call("wait", arguments{"for": []string{still["job"].(string), first["job"].(string)}, "yield": 45})
	if !strings.Contains(text, "early\nlate\n[exited 4") || strings.Contains(text, "meanwhile") || m["message"] != "1 of 2 ended" {
		t.Errorf("%s", text)
	}
	text, _ = a.call("wait", arguments{"for": []string{other["job"].(string), first["job"].(string)}})
	if !strings.Contains(text, "something") || !strings.Contains(text, "late") { // it needs input, which ends the wait too
		t.Errorf("%s", text)
	}
	a.call("stop", arguments{"id": still["job"]})
}

// TestAgentsSeeTheScreen waits for an idle full-screen program. The answer contains its screen, without another call.
//
// FEATURES: R88, R105
func TestAgentsSeeTheScreen(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	a := newAgent(i, nil)
	if err := os.WriteFile(filepath.Join(i.Dir, "page"), []byte("top of the page\n"+strings.Repeat("a line\n", 200)+"end of the page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := a.expects("exec", arguments{"line": "env LESS= less page", "cwd": i.Dir, "yield": 45}, "[screen · version ", "top of the page\na line", "[running{screen}")
	if m["next"] != nil || m["version"] == nil {
		t.Errorf("%v", m)
	}
	end := a.expects("input", arguments{"session": m["session"], "text": "G", "version": m["version"]}, "end of the page", "[running{screen}")
	if end["session"] != nil || end["message"] != nil {
		t.Errorf("%v", end)
	}
	a.expects("input", arguments{"session": m["session"], "text": "g", "max_tokens": 50}, "[screen · version ", "top of the page\na line") // its redraws are omitted
	a.expects("wait", arguments{"for": []string{m["session"].(string)}}, "top of the page")
	a.expects("input", arguments{"session": m["session"], "text": "q"}, "[exited 0")
}

// TestInput_FullScreen_AnswersRows types into a full-screen program. The answer contains the changed rows instead of
// the redraw sequences.
//
// FAULT: H4
func TestInput_FullScreen_AnswersRows(t *testing.T) {
	tier.Full(t)
	i := e2e.New(t)
	a := newAgent(i, nil)
	draw := `printf '\033[?1049h\033[2J\033[Hhead\n'; seq -f row%g 10; stty raw -echo; while k=$(dd bs=1 count=1 2>/dev/null); do printf '\033[3;1Hkey %s' "$k"; done`
	m := a.expects("exec", arguments{"line": draw, "yield": 45}, "[screen · version ", "head\nrow1", "[running{screen}")
	text, got := a.call("input", arguments{"session": m["session"], "text": "a", "yield": 45})
	if !strings.Contains(text, "rows changed since") || !strings.Contains(text, "\n2: key a\n") || strings.Contains(text, "row5") || got["output"] != "" || got["screen_since"] != m["version"] {
		t.Errorf("%s\n%v", text, got)
	}
	a.expects("input", arguments{"session": m["session"], "text": "b", "yield": 45}, "\n2: key b\n")
	a.expects("screen", arguments{"session": m["session"]}, "head\nrow1\nkey b")
}

// TestMCP_OtherAgentsStopRequest_IsVisible requests the end of another agent's session. The owner still sees the
// session, and the requester gets its state.
//
// FEATURES: R85
func TestMCP_OtherAgentsStopRequest_IsVisible(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "sx", "--agent", "alice", "--", "sh", "-c", "stty -echo; printf 'Password: '; read x; read y")
	alice, carol := newAgent(i, nil, "--agent", "alice", "--elicit", "never"), newAgent(i, nil, "--agent", "carol", "--elicit", "never")
	alice.expects("wait", arguments{"for": []string{"sx"}, "yield": 45}, "needs_input{password}")
	carol.expects("stop", arguments{"id": "sx"}, "needs_approval")
	alice.expects("wait", arguments{"for": []string{"sx"}, "yield": 45}, "needs_input{password}")
	carol.expects("wait", arguments{"for": []string{"sx"}, "yield": 0.1}, "needs_approval")
}
