//go:build unix && conformance

package agents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestTypeScriptClientOfOurs runs the documented steps with the TypeScript client, unmodified in Node.
//
// FEATURES: R86
func TestTypeScriptClientOfOurs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	node := filepath.Join(os.Getenv("MCP_NODE"), "node_modules", ".bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v; .ci/run mcp installs it", err)
	}
	usesClient(t, e2e.New(t), beside(t, "longterm.ts", "check.ts"), node, "--experimental-strip-types", "--no-warnings", "check.ts")
}
