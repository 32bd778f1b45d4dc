package sandbox

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	confine.Enter()
	if len(os.Args) > 1 && os.Args[1] == "escape" {
		runAttempts(os.Args[2:])
	}
	os.Exit(isolate.Run(m))
}
