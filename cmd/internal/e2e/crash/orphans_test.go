//go:build unix

package crash

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/processes"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// noHangUp is a program that ignores hang-ups. It reports if another instance already runs in the directory.
const noHangUp = `trap "" HUP INT TERM
test -e pid && grep -q "^State:.[^ZX]" /proc/$(cat pid)/status && echo TWICE
echo $$ > pid
echo "running $$"
while :; do read x || sleep 1000; done`

// TestKeeperKilledEndsItsPrograms kills a keeper. Its programs end whatever signals they ignore. A session counts as
// lost only once none of its processes run, so a restart by policy never runs twice. The same holds if the daemon is
// killed too.
//
// FAULT: A14
// FEATURES: R91, R93
func TestKeeperKilledEndsItsPrograms(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for name, alone := range map[string]bool{"the keeper": true, "the keeper and the daemon": false} {
		t.Run(name, func(t *testing.T) {
			i := e2e.New(t)
			dirs := [2]string{t.TempDir(), t.TempDir()}
			i.Run("new", "-n", "again", "--restore", "command", "--cwd", dirs[0], "--", "sh", "-c", noHangUp)
			i.Run("new", "-n", "gone", "--cwd", dirs[1], "--", "sh", "-c", noHangUp)
			i.Run("wait", "again", "--for", "text=running")
			i.Run("wait", "gone", "--for", "text=running")
			gone := i.Info("gone").PID
			st := i.Status()
			pids := []int{st.KeeperPID}
			if !alone {
				pids = append(pids, st.DaemonPID)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			e2e.Eventually(t, "the session is lost", func() bool { return i.Info("gone").State == "lost" })
			if processes.Alive(gone) {
				t.Errorf("the session is called lost and process %d runs", gone)
			}
			e2e.Eventually(t, "the command runs again", func() bool { return strings.Count(i.Run("output", "again"), "running") == 2 })
			if out := i.Run("output", "again"); strings.Contains(out, "TWICE") {
				t.Errorf("it ran twice:\n%s", out)
			}
		})
	}
}

// TestOutput_StoredAfterKeeperDeath checks that output printed after the keeper's death is stored.
//
// FAULT: A14
// FEATURES: R93
func TestOutput_StoredAfterKeeperDeath(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	if err := os.WriteFile(filepath.Join(i.Dir, "config.toml"), []byte("[exec]\ngrace = \"1m\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("new", "-n", "a", "--", "sh", "-c", "trap 'seq 1 30000; exit' INT; echo ready; while :; do read x < "+fifo+"; done")
	i.Run("wait", "a", "--for", "text=ready")
	if err := syscall.Kill(i.Status().KeeperPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the session is lost", func() bool { return i.Info("a").State == "lost" })
	want := ""
	for n := range 30000 {
		want += strconv.Itoa(n+1) + "\n"
	}
	if out := i.Run("output", "a"); !strings.HasPrefix(out, "ready\n") || !strings.HasSuffix(out, want) { // between them the shell complains
		t.Errorf("%d bytes, want %d; ends in %q", len(out), len(want), e2e.Tail([]byte(out), 40))
	}
}
