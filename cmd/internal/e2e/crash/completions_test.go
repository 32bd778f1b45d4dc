//go:build unix

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestCompletionsOverKills kills the daemon repeatedly while commands end. A later reader gets each completion once,
// and a hook has run once for each.
//
// FEATURES: R101 R88
func TestCompletionsOverKills(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("daemon", "start")
	i.Run("events", "--subscription", "ci", "--kind", "job")
	ran := filepath.Join(i.Dir, "hooked")
	i.Run("events", "hook", "tell", "--kind", "job", `printf '%s\n' "$LONGTERM_COMPLETION" >>`+ran)
	var over atomic.Bool
	var killing sync.WaitGroup
	kills := 0
	killing.Go(func() {
		for !over.Load() {
			if out, _, code := i.Try("daemon", "status", "--json"); code == 0 {
				_ = syscall.Kill(e2e.Decode[api.Status](t, out).DaemonPID, syscall.SIGKILL)
				kills++
			}
			e2e.PauseFor(300 * time.Millisecond) // so that commands make progress
		}
	})
	const n = 12
	for k := range n {
		if _, errOut, code := i.Try("run", "--", "sh", "-c", fmt.Sprintf("exit %d", k)); code != k {
			t.Errorf("command %d exits with %d: %s", k, code, errOut)
		}
	}
	over.Store(true)
	killing.Wait()
	t.Logf("%d commands, the daemon was killed %d times", n, kills)

	var got []int
	for line := range strings.Lines(i.Run("events", "--subscription", "ci", "--json", "--ack-printed")) {
		got = append(got, *e2e.Decode[api.Completion](t, line).ExitCode)
	}
	want := make([]int, n)
	for k := range want {
		want[k] = k
	}
	if !slices.Equal(got, want) {
		t.Errorf("notified of %v, want %v", got, want)
	}
	if again := i.Run("events", "--subscription", "ci", "--json"); again != "" {
		t.Errorf("notified again: %s", again)
	}
	e2e.Eventually(t, "the hook has ended", func() bool {
		list := e2e.Decode[[]api.Subscription](t, i.Run("events", "ls", "--json"))
		return len(list) == 2 && list[1].Cursor >= list[0].Cursor
	})
	var hooked []int
	b, err := os.ReadFile(ran)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		hooked = append(hooked, *e2e.Decode[api.Completion](t, line).ExitCode)
	}
	if !slices.Equal(hooked, want) {
		t.Errorf("the hook ran for %v, want %v", hooked, want)
	}
}
