package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestDraftResources_ReadableByAgent lets an agent work in a session with a draft: the results of its lines have the
// number of changes, and the resources of the session list them. The agent cannot commit them.
//
// FEATURES: R85, R124
func TestDraftResources_ReadableByAgent(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	project := filepath.Join(t.TempDir(), "project")
	writeFiles(t, project, map[string]string{"a": "one\n", "sub/b": "b\n"})
	if _, errOut, code := i.Try("new", "-n", "d", "--draft", "--cwd", project, "--", "bash", "--norc", "--noprofile"); code != 0 {
		if strings.Contains(errOut, "namespaces") {
			t.Skip(errOut)
		}
		t.Fatal(errOut)
	}
	a := newAgent(i, nil)
	a.expects("exec", arguments{"session": "d", "line": "true"}, "exited 0")
	a.expects("exec", arguments{"session": "d", "line": "echo two > a; echo x > made; rm sub/b"}, "exited 0")
	e2e.Eventually(t, "a result has the number of changes", func() bool { // without it if the count takes long
		text, _ := a.call("exec", arguments{"session": "d", "line": "true"})
		return strings.Contains(text, "changes 3")
	})
	read := func(uri string) string {
		t.Helper()
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "longterm://session/d/" + uri})
		if err != nil {
			t.Fatal(err)
		}
		return r.Contents[0].Text
	}
	var d api.Draft
	if err := json.Unmarshal([]byte(read("changes")), &d); err != nil || len(d.Changes) != 3 || d.Root != project || len(d.NotHeld) == 0 {
		t.Errorf("%v %+v", err, d)
	}
	if text := read("diff?path=a"); !strings.Contains(text, "-one\n+two\n") || strings.Contains(text, "made") {
		t.Errorf("%q", text)
	}
	if b, err := os.ReadFile(filepath.Join(project, "a")); err != nil || string(b) != "one\n" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "longterm://session/none/changes"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("%v", err)
	}
	i.Run("kill", "d")
}
