package sandbox

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	confine.Enter()
	os.Exit(isolate.Run(m))
}
