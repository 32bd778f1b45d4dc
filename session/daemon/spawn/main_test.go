package spawn

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	confine.Enter() // a plan of a session in a sandbox tries out what can be had
	os.Exit(isolate.Run(m))
}
