//go:build unix

// Package crash tests what is left when daemons, keepers, sessions and machines go away, and what was in them is there again.
package crash

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
