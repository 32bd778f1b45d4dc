//go:build unix

package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/keeper"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

// testKeeper is the name under which the test binary is a keeper.
const testKeeper = "testkeeper"

func TestMain(m *testing.M) {
	confine.Enter()
	switch {
	case os.Args[0] == testKeeper:
		beKeeper(os.Args[1:])
	case len(os.Args) > 1 && os.Args[1] == testListener:
		beListener()
	case os.Args[0] == "longterm" && os.Args[1] == "version": // reports its version, for an upgrade
		fmt.Println(ProbeLine())
	default:
		os.Exit(isolate.Run(m))
	}
}

// beKeeper runs a keeper: its key, socket and locks, and then flags as the product's have them.
func beKeeper(args []string) {
	cfg := keeper.Config{Key: args[0], Socket: args[1], Lock: args[2], StateLock: args[3], Build: "test", Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	for i, arg := range args[4:] {
		file := func() *os.File {
			fd, err := strconv.Atoi(args[4+i+1])
			if err != nil {
				panic(err)
			}
			return os.NewFile(uintptr(fd), arg)
		}
		switch arg {
		case "--daemon-runs":
			cfg.DaemonRuns = true
		case "--ready-fd":
			cfg.Ready = file()
		case "--handoff-fd":
			cfg.Handoff = file()
		}
	}
	if err := keeper.Run(cfg); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
