//go:build unix && conformance

package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// nodeCommand is a program of node's in the directory that MCP_NODE names, where `.ci/run mcp`
// installs it.
func nodeCommand(i *e2e.Instance, name string, args ...string) *exec.Cmd {
	i.T.Helper()
	dir := os.Getenv("MCP_NODE")
	if dir == "" {
		i.T.Fatal("MCP_NODE is to name the directory where npm installed the clients; .ci/run mcp does so")
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	c := exec.CommandContext(i.T.Context(), filepath.Join(bin, name), args...)
	c.Env = append(i.Env, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+i.Dir)
	c.Dir = i.T.TempDir()
	if err := os.Symlink(filepath.Join(dir, "node_modules"), filepath.Join(c.Dir, "node_modules")); err != nil {
		i.T.Fatal(err)
	}
	return c
}

// named returns a path of a program under its own name.
func named(i *e2e.Instance) string {
	i.T.Helper()
	path := filepath.Join(i.T.TempDir(), "longterm")
	if err := os.Symlink(i.Exe, path); err != nil {
		i.T.Fatal(err)
	}
	return path
}

// TestTypeScriptClient calls the server with the official TypeScript SDK.
//
// FEATURES: R85
func TestTypeScriptClient(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	src, err := os.ReadFile("testdata/mcp/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, era := range []string{"2026-07-28", "2025-11-25"} {
		i := e2e.New(t)
		w := newWeb(i)
		for way, target := range map[string][]string{"stdio": {named(i), "mcp"}, "http": {w.url, w.token}} {
			t.Run(era+" "+way, func(t *testing.T) {
				c := nodeCommand(i, "node", append([]string{"client.mjs", era}, target...)...)
				if err := os.WriteFile(filepath.Join(c.Dir, "client.mjs"), src, 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "ok the end") {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// TestInspector runs the inspector's strict mode, which exits with status 6 for a tool whose schema is not portable.
func TestInspector(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	w := newWeb(i)
	for _, era := range []string{"legacy", "modern"} {
		for way, target := range map[string][]string{
			"stdio": {named(i), "mcp"},
			"http":  {w.url, "--transport", "http", "--header", "Authorization: Bearer " + w.token},
		} {
			t.Run(era+" "+way, func(t *testing.T) {
				out, err := nodeCommand(i, "inspector", append([]string{"--cli", "--strict", "--protocol-era", era, "--method", "tools/list"}, target...)...).CombinedOutput()
				if err != nil || strings.Count(string(out), `"inputSchema"`) != 12 {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
