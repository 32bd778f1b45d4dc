//go:build unix

package crash

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestWatchedRunIsLost kills the keeper of a watched run. The run is reported as lost with the reason, and with the
// exit status of a lost command.
//
// FAULT: A14
// FEATURES: R82
func TestWatchedRunIsLost(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for name, flags := range map[string][]string{"text": nil, "json": {"--json"}} {
		t.Run(name, func(t *testing.T) {
			i := e2e.New(t)
			type ended struct {
				code     int
				out, err string
			}
			over := make(chan ended, 1)
			go func() {
				out, stderr, code := i.Try(append(append([]string{"watch", "--cwd", t.TempDir(), "--runs", "1"}, flags...), "-c", "echo begun; exec sleep 100000")...)
				over <- ended{code, out, stderr}
			}()
			e2e.Eventually(t, "the command runs", func() bool { return strings.Contains(i.Run("ls", "-F", "{{.state}}"), "running") })
			if err := syscall.Kill(i.Status().KeeperPID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			got := <-over
			if got.code != 125 || !strings.Contains(got.err, "its end was not seen: ") {
				t.Errorf("status %d, %q", got.code, got.err)
			}
			if flags == nil {
				if !strings.Contains(got.out, "── ✗ lost in ") || !strings.Contains(got.out, "── its end was not seen: ") {
					t.Errorf("%q", got.out)
				}
				return
			}
			if !strings.Contains(got.err, `"code":"ended"`) {
				t.Errorf("%q", got.err)
			}
			var told struct {
				Exit  *int   `json:"exit_code"`
				Error string `json:"error"`
			}
			if err := json.Unmarshal([]byte(got.out), &told); err != nil || told.Exit != nil || !strings.HasPrefix(told.Error, "its end was not seen: ") {
				t.Errorf("%q, %v", got.out, err)
			}
		})
	}
}
