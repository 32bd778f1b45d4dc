//go:build unix

// Package fleet tests machines of one fleet: instances of the product, each with its own directory, and a server.
package fleet

import (
	"os"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) {
	if config := os.Getenv(natsConfig); config != "" {
		os.Exit(serveNATS(config))
	}
	os.Exit(isolate.Run(m))
}
