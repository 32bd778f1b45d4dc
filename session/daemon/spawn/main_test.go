package spawn

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	confine.Enter() // the plan of a sandboxed session probes what the kernel supports
	os.Exit(isolate.Run(m))
}
