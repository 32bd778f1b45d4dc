//go:build unix

package keeper

import (
	"fmt"
	"os"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

const (
	// callerEnv is the variable with the socket to which this test binary connects as a caller; argv[1] is its role.
	callerEnv = "LONGTERM_TEST_CALLER"
	// hookEnv is the shell command that a fake daemon runs.
	hookEnv = "LONGTERM_TEST_HOOK"
)

// callerMain requests a session from a keeper without waiting for its greeting, and prints the greeting.
func callerMain(socket, role string) int {
	f, err := unixsock.Dial(socket)
	if err != nil {
		fmt.Println(role, err)
		return 1
	}
	said := wire.AppendFrame(nil, &wire.Hello{Version: wire.Version, MinVersion: wire.Version, Role: role, PID: 1}, 0)
	m := sh("escaped", "sleep 600")
	if _, err := f.Write(wire.AppendFrame(said, &m, 0)); err != nil {
		fmt.Println(role, err)
		return 1
	}
	c := wire.NewConn(f)
	var h wire.Hello
	frame, _, err := c.Read()
	if err == nil {
		err = wire.Decode(frame.Payload, &h)
	}
	how := "served"
	if h.Rejection != "" {
		how = "refused"
	}
	if _, _, end := c.Read(); (end == nil) != (how == "served") {
		how += ", but " + fmt.Sprint(end)
	}
	_, _ = os.Stdout.WriteString(fmt.Sprintln(role, how, err)) // in one write: several processes write to one file
	return 0
}
