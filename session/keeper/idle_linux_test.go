package keeper

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// TestKeeper_Sleeps_WhileDescendantHoldsPipe checks that a descendant which holds the pipes after the session's process
// has exited costs nothing: the keeper sleeps until there is output, and reads it.
//
// FAULT: A1
// FEATURES: R14
func TestKeeper_Sleeps_WhileDescendantHoldsPipe(t *testing.T) {
	for name, apart := range map[string]bool{"one pipe": false, "two pipes": true} {
		t.Run(name, func(t *testing.T) {
			socket, pid := start(t)
			l, n := dial(t, socket, wire.RoleDaemon)
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			m := sh("a", "(read x < "+fifo+"; echo late) & exit 3")
			m.Pipe, m.Separate = true, apart
			if _, err := l.Spawn(ctx(t), m); err != nil {
				t.Fatal(err)
			}
			s := adopt(t, l, "a")
			if ex := receive(t, n.exited, "exit"); ex.Code != 3 || ex.Head != 0 {
				t.Errorf("exit %+v", ex)
			}
			looks := 0 // in total: on a loaded machine a thread that wakes for a moment waits long for a processor
			await(t, "the keeper sleeps", func() bool {
				if isAsleep(t, pid) {
					looks++
				}
				return looks == 100
			})
			if err := os.WriteFile(fifo, []byte("go\n"), 0); err != nil {
				t.Fatal(err)
			}
			closed := receive(t, n.closed, "close")
			if got := string(s.ring.BytesAt(0, 100)); got != "late\n" || closed.Head != 5 {
				t.Errorf("%q, closed %+v", got, closed)
			}
		})
	}
}

// isAsleep reports whether all threads of a process sleep.
func isAsleep(t *testing.T, pid int) bool {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		t.Fatal("no threads: ", err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has exited
		}
		_, after, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')'):], []byte(" "))
		if !bytes.HasPrefix(after, []byte("S")) {
			return false
		}
	}
	return true
}
