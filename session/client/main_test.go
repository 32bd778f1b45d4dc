//go:build unix

package client

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	beKeeper()
	os.Exit(isolate.Run(m))
}
