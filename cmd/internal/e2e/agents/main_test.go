//go:build unix

// Package agents tests the abilities and limits of agents: MCP, approvals, rules, executions.
package agents

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
