//go:build unix

// Package agents tests what agents do and may do: MCP, approvals, rules, executions.
package agents

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
