//go:build unix

package commands

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestWaitOnAnEndedSession waits on ended sessions. The wait returns at once: the condition holds, or cannot hold any
// longer. So does a wait during which the session ends, and one on history that a later daemon reads.
//
// FAULT: B6
// FEATURES: R40
func TestWaitOnAnEndedSession(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "over", "--", "sh", "-c", "printf '\\033]0;its title\\007'; echo said; exit 3")
	i.Run("wait", "over", "--for", "exit")
	for round := range 2 {
		for cond, holds := range map[string]bool{
			"exit": true, "quiet=10m": true, "title=its": true, "fullscreen=off": true, "gone=nothing": true,
			"text=never": false, "re=ne+ver": false, "prompt": false, "command": false, "input": false,
			"bell": false, "progress=50": false, "fullscreen": false, "cursor=9,9": false, "title=other": false,
		} {
			began := time.Now()
			out, errOut, code := i.Try("wait", "over", "--for", cond, "--timeout", "10m")
			switch {
			case time.Since(began) > time.Minute:
				t.Errorf("%s: it was waited for", cond)
			case holds && code != 0:
				t.Errorf("%s: %d %s", cond, code, errOut)
			case !holds && (code != api.ExitConflict || !strings.Contains(errOut, "has ended (exited(3)): the condition can no longer hold")):
				t.Errorf("%s: %d %s%s", cond, code, out, errOut)
			}
		}
		// Text that was printed counts, since an offset.
		i.Run("wait", "over", "--for", "text=said", "--since", "0", "--timeout", "10m")
		body := `{"conditions":[{"kind":"exit"},{"kind":"text","text":"never"}],"all":true,"timeout_ms":600000}`
		out, code := i.Post("/sessions/over/wait", body)
		if w := e2e.Decode[api.Waited](t, out); code != 200 || w.Outcome != "ended" || len(w.Fired) != 1 {
			t.Errorf("all of them: %d %s", code, out)
		}
		if round == 0 {
			i.Run("daemon", "restart")
		}
	}
	i.Run("new", "-n", "ends", "--", "sh", "-c", "read x; exit 5")
	waits := make(chan string, 1)
	go func() {
		_, errOut, code := i.Try("wait", "ends", "--for", "text=never", "--timeout", "10m")
		waits <- fmt.Sprint(code, errOut)
	}()
	i.Run("send", "ends", "-e", "x")
	if got := <-waits; !strings.HasPrefix(got, "4") || !strings.Contains(got, "exited(5)") {
		t.Errorf("under way: %s", got)
	}
}
