//go:build unix

// Package terminals tests longterm in terminals: attach, the viewer, watch, rules and recorded dialogues.
package terminals

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
