//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/paths"
)

// What somebody removes under a daemon and its keeper, thinking that it was left over, is
// made again: sessions are found, and no second daemon or keeper comes to serve them.
//
// FAULT: A27
// FEATURES: R93
func TestRemovedSocketsAreMadeAgain(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "sleep", "1000")
	i.run("new", "-n", "own", "--isolated", "--", "sleep", "1000")
	before := i.status()
	dirs := paths.Dirs{Run: filepath.Join(i.dir, "run"), State: filepath.Join(i.dir, "state")}
	same := func(when string) {
		t.Helper()
		for _, name := range []string{"a", "own"} { // asked for at once: it is found in time
			if s := i.info(name); s.State != "running" {
				t.Fatalf("%s: session %s is %s", when, name, s.State)
			}
		}
		if st := i.status(); st.KeeperPID != before.KeeperPID || st.DaemonPID != before.DaemonPID || len(st.Keepers) != 2 {
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

	socket := dirs.KeeperSocket(paths.MainKeeper)
	eventually(t, "the keeper makes its socket again", func() bool { _, err := os.Stat(socket); return err == nil })
	if err := os.RemoveAll(dirs.Keepers()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(before.DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another daemon", func() bool {
		out, _, code := i.try("daemon", "status", "--json")
		return code == 0 && strings.Contains(out, `"running": 2`)
	})
	before.DaemonPID = i.status().DaemonPID
	same("without the keepers' sockets")
}

// A state directory that is removed under a daemon is said, with what to do; and that works.
//
// FAULT: A27
func TestRemovedStateIsSaid(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "a", "--", "sh", "-c", "echo before; read x; echo after; read x")
	pid := i.info("a").PID
	i.run("wait", "a", "--for", "text=before")
	if err := os.RemoveAll(filepath.Join(i.dir, "state")); err != nil {
		t.Fatal(err)
	}
	out, _, code := i.try("doctor")
	if code != 1 || !strings.Contains(out, "was removed") || !strings.Contains(out, "longterm daemon restart") {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	i.run("daemon", "restart")
	list := i.run("ls")
	name := strings.Fields(list[strings.Index(list, "recovered-"):])[0]
	if got := i.info(name); got.PID != pid || got.State != "running" {
		t.Errorf("after a restart: %+v", got)
	}
	i.run("send", name, "-e", "x")
	i.run("wait", name, "--for", "text=after")
	if out, _, code := i.try("doctor"); code != 0 && strings.Contains(out, "✗ state") {
		t.Errorf("doctor after the restart:\n%s", out)
	}
}
