package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/session/sys"
)

// TestUpgradesAtOnce requests several upgrades at once. They run one after the other, each reports the current daemon
// and keeper, and sessions continue.
//
// FEATURES: R90
func TestUpgradesAtOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "shared", "--", "cat")
	i.Run("new", "-n", "own", "--isolated", "--", "cat")
	before := i.Status()
	said := make([]string, 4)
	var all sync.WaitGroup
	for n := range said {
		all.Go(func() {
			stdout, stderr, code := i.Try("daemon", "upgrade")
			said[n] = fmt.Sprintf("%d %s%s", code, stdout, stderr)
		})
	}
	all.Wait()
	daemons := map[int]bool{}
	for _, s := range said {
		var code, daemon, keeper int
		_, err := fmt.Sscanf(s, "%d daemon %d and keeper %d: running ", &code, &daemon, &keeper)
		if err != nil || code != 0 || keeper != before.KeeperPID || daemons[daemon] {
			t.Errorf("%q", s)
		}
		daemons[daemon] = true
	}
	for _, name := range []string{"shared", "own"} {
		i.Run("send", name, "-e", "still here")
		i.Run("wait", name, "--for", "text=still here")
	}
}

// TestRestartsAtOnce requests restarts and an upgrade at once. All succeed, and sessions continue.
//
// FEATURES: R90
func TestRestartsAtOnce(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "cat")
	var all sync.WaitGroup
	for n := range 10 {
		verb := "restart"
		if n == 5 {
			verb = "upgrade"
		}
		all.Go(func() {
			for range 3 {
				if _, stderr, code := i.Try("daemon", verb); code != 0 {
					t.Errorf("%s: %d %s", verb, code, stderr)
				}
			}
		})
	}
	all.Wait()
	i.Run("send", "a", "-e", "still here")
	i.Run("wait", "a", "--for", "text=still here")
}

// TestKeepersLeaveNothing ends and kills the keeper of an isolated session, also without a daemon. Its files are
// removed each time.
//
// FEATURES: R97
func TestKeepersLeaveNothing(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "shared", "--", "sleep", "1000")
	start := func(name string) (keeper int) {
		i.Run("new", "-n", name, "--isolated", "--", "sleep", "1000")
		st := i.Status()
		return ownKeeper(t, &st)
	}
	kill := func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the keeper has exited", func() bool {
			s, err := sys.ReadStat(pid)
			return err != nil || s.State == 'Z'
		})
	}
	gone := func(how, name string) {
		t.Helper()
		id := i.Info(name).ID
		e2e.Eventually(t, how+": nothing is left", func() bool { return len(traces(t, i.Dir, id)) == 0 })
	}
	start("ends")
	i.Run("kill", "ends")
	gone("it ends", "ends")
	kill(start("killed"))
	gone("it is killed", "killed")
	pid := start("alone")
	i.Run("daemon", "stop")
	kill(pid)
	gone("it is killed while no daemon runs", "alone")
}

// traces are the files of a keeper with a key.
func traces(t *testing.T, dir, key string) (all []string) {
	t.Helper()
	for _, sub := range []string{"run/keepers", "state/locks"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(e.Name(), key) {
				all = append(all, e.Name())
			}
		}
	}
	return all
}
