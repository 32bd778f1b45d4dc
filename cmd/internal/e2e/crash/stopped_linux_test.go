package crash

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestStoppedProcesses suspends the daemon, which is reported with its process and a working remedy. A suspended keeper
// is reported too, and a session that it should have started does not exist after it continues.
//
// FEATURES: R90
func TestStoppedProcesses(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "kept", "--", "cat")
	st := i.Status()
	signal := func(pid int, sig syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = syscall.Kill(st.KeeperPID, syscall.SIGCONT)
		_ = syscall.Kill(st.DaemonPID, syscall.SIGCONT)
	})

	signal(st.KeeperPID, syscall.SIGSTOP)
	_, stderr, code := i.Try("new", "-n", "other", "--", "cat")
	signal(st.KeeperPID, syscall.SIGCONT)
	if code != 126 || !strings.Contains(stderr, "kill -CONT "+strconv.Itoa(st.KeeperPID)) {
		t.Errorf("status %d, %q", code, stderr)
	}
	if names := i.Run("ls", "-F", "{{.name}}"); strings.TrimSpace(names) != "kept" {
		t.Errorf("sessions %q", names)
	}

	signal(st.DaemonPID, syscall.SIGSTOP)
	_, stderr, code = i.Try("ls")
	if pid := strconv.Itoa(st.DaemonPID); code != 5 || !strings.Contains(stderr, "(process "+pid+") is stopped") || !strings.Contains(stderr, "kill -CONT "+pid) {
		t.Errorf("status %d, %q", code, stderr)
	}
	signal(st.DaemonPID, syscall.SIGKILL)
	if names := i.Run("ls", "-F", "{{.name}} {{.state}}"); strings.TrimSpace(names) != "kept running" {
		t.Errorf("sessions %q", names)
	}
}
