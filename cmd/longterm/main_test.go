//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/bench"
	"github.com/longterm-dev/longterm/cmd/internal/e2e"
)

// noPTYEnv makes this test binary's keepers find no free terminal.
const noPTYEnv = "LONGTERM_TEST_NO_PTY"

func TestMain(m *testing.M) {
	if os.Getenv(noPTYEnv) != "" {
		openPTY = func() (master, slave *os.File, err error) { return nil, nil, syscall.ENOSPC }
	}
	e2e.Main(m, map[string]func(){"longterm": main, "ltbench": bench.Main})
}
