//go:build unix

package client

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	runKeeperProcess()
	os.Exit(isolate.Run(m))
}
