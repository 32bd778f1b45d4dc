//go:build unix

package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
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

// TestRunsOverReplacedDaemons runs commands continuously while the daemon is restarted, upgraded and killed. Each runs
// once, and each caller gets its complete output and status.
//
// FAULT: A16
// FEATURES: R90
func TestRunsOverReplacedDaemons(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, c := range []struct {
		name    string
		replace func(i *e2e.Instance)
	}{
		{"restart", func(i *e2e.Instance) { i.Try("daemon", "restart") }},
		{"upgrade", func(i *e2e.Instance) { i.Try("daemon", "upgrade") }},
		{"kill", func(i *e2e.Instance) {
			if out, _, code := i.Try("daemon", "status", "--json"); code == 0 {
				_ = syscall.Kill(e2e.Decode[api.Status](t, out).DaemonPID, syscall.SIGKILL)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := e2e.New(t)
			i.Run("daemon", "start")
			var over atomic.Bool
			var replacing sync.WaitGroup
			times := 0
			replacing.Go(func() {
				for ; !over.Load(); times++ {
					c.replace(i)
					e2e.PauseFor(time.Duration(rand.Int64N(int64(200 * time.Millisecond))))
				}
			})
			callers, each := 4, 12
			if e2e.RaceEnabled {
				each = 4
			}
			var wg sync.WaitGroup
			for w := range callers {
				wg.Go(func() {
					for n := range each {
						runOnce(i, fmt.Sprintf("%d.%d", w, n))
					}
				})
			}
			wg.Wait()
			over.Store(true)
			replacing.Wait()
			t.Logf("%d commands, the daemon was replaced %d times", callers*each*2, times)
			e2e.Eventually(t, "no session is listed", func() bool {
				return len(e2e.Decode[[]api.Session](t, i.Run("ls", "--json"))) == 0
			})
		})
	}
}

// runOnce runs a command twice, as a user does and as a program does. It notes each time
// it is run in a file.
func runOnce(i *e2e.Instance, id string) {
	for _, how := range []string{"text", "json"} {
		ran := filepath.Join(i.Dir, "ran."+how+id)
		args := []string{"run", "--", "sh", "-c", "echo x >>" + ran + "; echo a" + id + "; sleep 0.05; echo b; exit 7"}
		if how == "json" {
			args = append([]string{"run", "--json"}, args[1:]...)
		}
		out, errOut, code := i.Try(args...)
		got := out
		if how == "json" && code == 7 {
			got = e2e.Decode[api.Result](i.T, out).Output
		}
		if want := "a" + id + "\nb"; code != 7 || strings.TrimSuffix(got, "\n") != want {
			i.T.Errorf("%s %s: exit status %d\n%s%s", how, id, code, out, errOut)
		}
		if b, err := os.ReadFile(ran); err != nil || string(b) != "x\n" {
			i.T.Errorf("%s %s was run %d times: %v", how, id, bytes.Count(b, []byte("x")), err)
		}
	}
}

// TestClientsThatGoAway disconnects clients while they start sessions and commands. No unlisted process remains.
//
// FAULT: A5
func TestClientsThatGoAway(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("daemon", "start")
	requests := 300
	if e2e.RaceEnabled {
		requests = 60
	}
	c := i.HTTP()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for n := range requests / 6 {
				path, body := "/sessions", `{"argv":["sleep","1000"],"cwd":"/"}`
				if n%3 == 2 {
					path, body = "/run", `{"argv":["sleep","1000"],"cwd":"/"}`
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.Int64N(int64(15*time.Millisecond))))
				req, err := http.NewRequestWithContext(ctx, "POST", "http://longterm"+api.Version+path, strings.NewReader(body))
				if err != nil {
					t.Error(err)
				}
				req.Header.Set("Content-Type", "application/json")
				if resp, err := c.Do(req); err == nil {
					_ = resp.Body.Close()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	i.Run("daemon", "status") // answered after the earlier request
	e2e.Eventually(t, "every process is listed", func() bool {
		listed := map[string]bool{}
		for _, s := range e2e.Decode[[]api.Session](t, i.Run("ls", "--json")) {
			listed[s.ID] = true
		}
		for _, id := range sessionsOfProcesses(i.Dir) {
			if !listed[id] {
				return false
			}
		}
		return true
	})
}

// sessionsOfProcesses are the ids that an instance's processes carry.
func sessionsOfProcesses(dir string) []string {
	var ids []string
	for _, pid := range e2e.Processes(dir) {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			continue
		}
		for kv := range bytes.SplitSeq(env, []byte{0}) {
			if id, ok := bytes.CutPrefix(kv, []byte("LONGTERM_SESSION=")); ok {
				ids = append(ids, string(id))
			}
		}
	}
	return ids
}
