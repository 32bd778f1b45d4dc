//go:build unix

package waitrun

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
