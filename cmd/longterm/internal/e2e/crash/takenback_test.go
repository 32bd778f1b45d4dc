package crash

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
)

// Who is interrupted while a keeper is waited for is not surprised later: what they asked for is ended as soon as it is there,
// which a list says, and nothing of it runs on.
//
// FEATURES: R1, R97
func TestInterruptedStartIsTakenBack(t *testing.T) {
	for _, verb := range []string{"new", "run"} {
		t.Run(verb, func(t *testing.T) {
			i := e2e.New(t)
			i.Run("new", "-n", "other", "--", "sleep", "1000")
			keeper := i.Status().KeeperPID
			held(t, keeper, func() {
				cmd := i.Command(t.Context(), verb, "-n", "late", "--", "sleep", "1000")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				e2e.Eventually(t, "it is asked for", func() bool {
					_, err := os.Stat(filepath.Join(i.Dir, "state", "sessions"))
					all, _ := os.ReadDir(filepath.Join(i.Dir, "state", "sessions"))
					return err == nil && len(all) == 2
				})
				if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				_ = cmd.Wait() // interrupted
			})
			i.Run("new", "-n", "after", "--", "true") // the keeper came to what was asked for before
			e2e.Eventually(t, "what was started is ended, and listed so", func() bool {
				out, _, code := i.Try("info", "late", "--json")
				return code == api.ExitNotFound || code == 0 && e2e.Decode[api.Session](t, out).Signal == "SIGKILL"
			})
			if left, err := sys.Children(keeper); err != nil || len(left) > 2 { // other's, and the daemon
				t.Errorf("children of the keeper: %v, %v", left, err)
			}
		})
	}
}

// held has a process stand still while something is done.
func held(t *testing.T, pid int, do func()) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}
