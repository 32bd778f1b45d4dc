//go:build unix

// Package crash tests what is left, and what is restored, when daemons, keepers, sessions and machines end.
package crash

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
