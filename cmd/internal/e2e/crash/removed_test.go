//go:build unix

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestRemovedSocketsAreMadeAgain removes the sockets and locks of a running daemon and keeper. They create them again,
// sessions are reachable, and no second daemon or keeper serves them.
//
// FAULT: A27
// FEATURES: R93
func TestRemovedSocketsAreMadeAgain(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sleep", "1000")
	i.Run("new", "-n", "own", "--isolated", "--", "sleep", "1000")
	before := i.Status()
	dirs := paths.Dirs{Run: filepath.Join(i.Dir, "run"), State: filepath.Join(i.Dir, "state")}
	same := func(when string) {
		t.Helper()
		for _, name := range []string{"a", "own"} { // requested at once: it is found in time
			if s := i.Info(name); s.State != "running" {
				t.Fatalf("%s: session %s is %s", when, name, s.State)
			}
		}
		if st := i.Status(); st.KeeperPID != before.KeeperPID || st.DaemonPID != before.DaemonPID || len(st.Keepers) != 2 {
			t.Errorf("%s: %+v, before %+v", when, st, before)
		}
		if st, err := os.Stat(dirs.Socket()); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", when, err)
		}
	}
	if err := os.Remove(dirs.Socket()); err != nil {
		t.Fatal(err)
	}
	same("without the daemon's socket")
	if err := os.RemoveAll(dirs.Run); err != nil {
		t.Fatal(err)
	}
	same("without the runtime directory")

	if err := os.RemoveAll(dirs.Locks()); err != nil {
		t.Fatal(err)
	}
	locks := []string{dirs.DaemonStateLock(), dirs.KeeperStateLock(paths.MainKeeper)}
	for _, k := range before.Keepers {
		locks = append(locks, dirs.KeeperStateLock(k.Key))
	}
	held := func() bool {
		return !slices.ContainsFunc(locks, func(path string) bool { return !launch.IsHeld(path) })
	}
	e2e.Eventually(t, "the locks of the state directory exist again and are held", held)
	if err := os.Remove(locks[0]); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "only the daemon's lock exists again", held)
	same("without the locks of the state directory")

	socket := dirs.KeeperSocket(paths.MainKeeper)
	e2e.Eventually(t, "the keeper has created its socket again", func() bool { _, err := os.Stat(socket); return err == nil })
	if err := os.RemoveAll(dirs.Keepers()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(before.DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the next daemon runs", func() bool {
		out, _, code := i.Try("daemon", "status", "--json")
		return code == 0 && strings.Contains(out, `"running": 2`)
	})
	before.DaemonPID = i.Status().DaemonPID
	same("without the keepers' sockets")
}

// TestRemovedStateDirectory_Reported removes the state directory under a daemon. It reports that with a remedy, and the
// remedy works.
//
// FAULT: A27
func TestRemovedStateDirectory_Reported(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "sh", "-c", "echo before; read x; echo after; read x")
	pid := i.Info("a").PID
	i.Run("wait", "a", "--for", "text=before")
	if err := os.RemoveAll(filepath.Join(i.Dir, "state")); err != nil {
		t.Fatal(err)
	}
	out, _, code := i.Try("doctor")
	if code != 1 || !strings.Contains(out, "removed while the daemon runs") || !strings.Contains(out, "longterm daemon restart") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	i.Run("daemon", "restart")
	list := i.Run("ls")
	name := strings.Fields(list[strings.Index(list, "recovered-"):])[0]
	if got := i.Info(name); got.PID != pid || got.State != "running" {
		t.Errorf("after a restart: %+v", got)
	}
	i.Run("send", name, "-e", "x")
	i.Run("wait", name, "--for", "text=after")
	if out, _, code := i.Try("doctor"); code != 0 && strings.Contains(out, "✗ state") {
		t.Errorf("doctor after the restart:\n%s", out)
	}
}

// TestMovedStateDirectory_NoticeWithdrawn_OnReturn moves the state directory away and back. The notice is withdrawn,
// and all data is kept.
//
// FAULT: A27
func TestMovedStateDirectory_NoticeWithdrawn_OnReturn(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "cat")
	database := filepath.Join(i.Dir, "state", "longterm.db")
	said := func() bool {
		return strings.Contains(strings.Join(i.Status().Notices, "\n"), "was removed or replaced")
	}
	for range 2 {
		if err := os.Rename(database, database+".away"); err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the warning is printed", said)
		if err := os.Rename(database+".away", database); err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the warning is no longer printed", func() bool { return !said() })
	}
}

// TestLeftoversAreCleared checks that the next start removes the remains of partly created or removed sessions, and
// keeps possible history.
//
// FAULT: A27
func TestLeftoversAreCleared(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "a", "--", "echo", "kept")
	i.Run("wait", "a", "--for", "exit")
	sessions := filepath.Join(i.Dir, "state", "sessions")
	kept := i.Info("a").ID
	left := []string{"0a6d6f2e-4d53-4a9e-a3f0-000000000001", "0a6d6f2e-4d53-4a9e-a3f0-000000000002", "0a6d6f2e-4d53-4a9e-a3f0-000000000003.removed"}
	for n, dir := range append(left, "of-somebody") {
		if err := os.MkdirAll(filepath.Join(sessions, dir, []string{"", "journal", "journal", ""}[n]), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// The last one has only its history, without a record of its session.
	unknown := filepath.Join(sessions, "0a6d6f2e-4d53-4a9e-a3f0-000000000004")
	if out, err := exec.Command("cp", "-r", filepath.Join(sessions, kept, "journal"), filepath.Join(sessions, left[2], "..")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(unknown, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(sessions, "journal"), filepath.Join(unknown, "journal")); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart")
	for _, dir := range left {
		if _, err := os.Stat(filepath.Join(sessions, dir)); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
	for _, dir := range []string{kept, filepath.Base(unknown), "of-somebody"} {
		if _, err := os.Stat(filepath.Join(sessions, dir)); err != nil {
			t.Error(err)
		}
	}
	if out := i.Run("output", "a"); out != "kept\n" {
		t.Errorf("%q", out)
	}
}
