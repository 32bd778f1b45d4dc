//go:build unix

// Package commands tests lines and commands as users run them: jobs, results, events, configuration, the tour.
package commands

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
