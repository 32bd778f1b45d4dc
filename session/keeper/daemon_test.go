//go:build unix

package keeper

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// fakeDaemon is the argv[0] with which this test binary acts as a daemon; argv[1] selects its behaviour.
const fakeDaemon = "fake-daemon"

// supervised returns the environment of a keeper that runs such a daemon.
func supervised(behaviour string) string {
	return keeperEnv + "_DAEMON=" + fakeDaemon + " " + behaviour
}

// fakeDaemonMain acts as a daemon, and ends with its keeper.
func fakeDaemonMain(socket, behaviour string) int {
	if behaviour == "crashes" {
		return 9
	}
	if behaviour == "finds-no-room" {
		return launch.DiskFullStatus
	}
	l, err := link.Dial(socket, wire.RoleDaemon, "fake", nil)
	if err != nil {
		return 8
	}
	if behaviour == "runs-a-caller" {
		cmd := exec.Command("/bin/sh", "-c", os.Getenv(hookEnv))
		if cmd.Env = append(os.Environ(), callerEnv+"="+socket); cmd.Run() != nil {
			return 5
		}
	}
	if behaviour != "never-ready" && l.Ready("s") != nil {
		return 7
	}
	if behaviour == "crashes-when-ready" {
		return 6
	}
	<-l.Closed()
	return 0
}

// status queries a keeper until its answer satisfies fits.
func status(t *testing.T, l *link.Link, what string, fits func(*wire.StatusReply) bool) *wire.StatusReply {
	t.Helper()
	var s *wire.StatusReply
	await(t, what, func() bool {
		var err error
		if s, err = l.Status(ctx(t)); err != nil {
			t.Fatal(err)
		}
		return fits(s)
	})
	return s
}

// TestDaemon_ReplacedWhenKilled checks that the keeper starts the daemon, and answers requests for it once it is ready. A
// killed daemon is replaced without effect on the sessions.
//
// FEATURES: R90
func TestDaemon_ReplacedWhenKilled(t *testing.T) {
	socket, _ := start(t, supervised("serves"))
	l, _ := dial(t, socket, wire.RoleTool)
	if err := l.StartDaemon(ctx(t)); err != nil {
		t.Fatal(err)
	}
	first := status(t, l, "a daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 })
	if first.Restarts != 0 || first.Executions != 1 || first.Build != "test" {
		t.Errorf("%+v", first)
	}
	sp, err := l.Spawn(ctx(t), sh("a", "read x; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	pid := first.DaemonPID
	for i := range uint64(3) {
		if err := syscall.Kill(int(pid), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		s := status(t, l, "another daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 && s.DaemonPID != pid })
		if s.Restarts != i+1 || !strings.Contains(s.LastError, "killed") || s.Sessions != 1 {
			t.Errorf("after %d kills: %+v", i+1, s)
		}
		if err := l.StartDaemon(ctx(t)); err != nil {
			t.Fatal(err)
		}
		pid = s.DaemonPID
	}
	s := adopt(t, l, "a")
	if s.PID != sp.PID || s.Exited {
		t.Errorf("session %+v, started as %d", s.Session, sp.PID)
	}
}

// TestDaemon_CrashLoop checks that the keeper stops restarting a daemon that crashes at once. Waiting clients get the
// error, and a new request tries again. Sessions stay usable.
//
// FEATURES: R93
func TestDaemon_CrashLoop(t *testing.T) {
	for _, behaviour := range []string{"crashes", "crashes-when-ready"} {
		t.Run(behaviour, func(t *testing.T) {
			if !tier.IsFull() {
				t.Skip("the pauses take two seconds")
			}
			socket, _ := start(t, supervised(behaviour))
			l, _ := dial(t, socket, wire.RoleTool)
			if _, err := l.Spawn(ctx(t), sh("a", "read x")); err != nil {
				t.Fatal(err)
			}
			if behaviour == "crashes" {
				err := l.StartDaemon(ctx(t))
				if !errors.Is(err, link.ErrCrashLoop) || !strings.Contains(err.Error(), "exit status 9") {
					t.Errorf("%v", err)
				}
			}
			// The keeper tries more often if one crashed earlier or lived for long on a busy machine. TestSupervisor_Delays
			// checks the number.
			s := status(t, l, "the end of tries", func(s *wire.StatusReply) bool { return s.Restarts >= maxCrashes-1 && s.DaemonPID == 0 })
			if !strings.Contains(s.LastError, "exit status") {
				t.Errorf("%+v", s)
			}
			_ = l.StartDaemon(ctx(t)) // ready once, or crashed too often again
			tried := s.Restarts
			s = status(t, l, "another try", func(s *wire.StatusReply) bool { return s.Restarts > tried })
			if s.Sessions != 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestDaemon_FullDisk checks that a daemon which reports a full disk is not restarted by itself: waiting clients get the
// error, and a new request tries again.
//
// FEATURES: R93
func TestDaemon_FullDisk(t *testing.T) {
	socket, _ := start(t, supervised("finds-no-room"))
	l, _ := dial(t, socket, wire.RoleTool)
	if _, err := l.Spawn(ctx(t), sh("a", "read x")); err != nil { // keeps the keeper running
		t.Fatal(err)
	}
	for range 2 {
		if err := l.StartDaemon(ctx(t)); !errors.Is(err, link.ErrCrashLoop) || !strings.Contains(err.Error(), "exit status 75") {
			t.Error(err)
		}
	}
	if s, err := l.Status(ctx(t)); err != nil || s.Restarts != 0 || s.DaemonPID != 0 || s.Sessions != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestDaemon_Leaves checks that a daemon which leaves for good is not replaced, and that one which announces its return
// is. A keeper that never had a daemon starts none.
func TestDaemon_Leaves(t *testing.T) {
	socket, _ := start(t, supervised("serves"))
	tool, _ := dial(t, socket, wire.RoleTool)
	if _, err := tool.Spawn(ctx(t), sh("a", "read x")); err != nil { // keeps the keeper running
		t.Fatal(err)
	}
	if err := tool.StartDaemon(ctx(t)); err != nil { // the daemon has connected
		t.Fatal(err)
	}
	own := status(t, tool, "a daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 })
	// The test acts as the daemon: the newest connection counts.
	l, _ := dial(t, socket, wire.RoleDaemon)
	status(t, tool, "us", func(s *wire.StatusReply) bool { return s.DaemonPID == int64(os.Getpid()) })
	if err := l.Ready("s"); err != nil {
		t.Fatal(err)
	}
	if err := tool.StartDaemon(ctx(t)); err != nil {
		t.Errorf("with a ready daemon: %v", err)
	}
	if err := l.Leave(false); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := status(t, tool, "no daemon", func(s *wire.StatusReply) bool { return s.DaemonPID == 0 })
	if s.Restarts != 0 {
		t.Errorf("replaced: %+v", s)
	}
	again, _ := dial(t, socket, wire.RoleDaemon)
	if err := errors.Join(again.Ready("s"), again.Leave(true)); err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
	s = status(t, tool, "one of the keeper's", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 && s.DaemonPID != int64(os.Getpid()) })
	if s.Restarts != 1 || s.DaemonPID == own.DaemonPID {
		t.Errorf("%+v, first %+v", s, own)
	}

	plain, _ := start(t)
	none, _ := dial(t, plain, wire.RoleTool)
	if err := none.StartDaemon(ctx(t)); err == nil || !strings.Contains(err.Error(), "starts no daemon") {
		t.Errorf("a keeper without a daemon: %v", err)
	}
}

// TestStartDaemon_AnsweredAtShutdown checks that clients which wait for a daemon get an answer at a shutdown.
func TestStartDaemon_AnsweredAtShutdown(t *testing.T) {
	socket, _ := start(t, supervised("never-ready"))
	l, _ := dial(t, socket, wire.RoleTool)
	waiting := make(chan error, 1)
	go func() { waiting <- l.StartDaemon(ctx(t)) }()
	other, _ := dial(t, socket, wire.RoleTool)
	status(t, other, "a daemon", func(s *wire.StatusReply) bool { return s.DaemonPID != 0 })
	if err := other.Shutdown(ctx(t), false); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, waiting, "answer"); err == nil {
		t.Error("reported as ready")
	}
}

// TestSocket_Recreated checks that a removed socket or lock is created again, and that clients find the sessions through
// it. A lock in the state directory names the keeper.
//
// FEATURES: R93
func TestSocket_Recreated(t *testing.T) {
	state := t.TempDir()
	socket, pid := start(t, keeperEnv+"_STATE="+state)
	l, _ := dial(t, socket, wire.RoleDaemon)
	if _, err := l.Spawn(ctx(t), sh("a", "read x")); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(state, "state.lock")
	if b, err := os.ReadFile(held); err != nil || string(b) != socket {
		t.Errorf("lock content %q, %v", b, err)
	}
	lock := strings.TrimSuffix(socket, "sock") + "lock"
	for _, name := range []string{socket, lock, held, state} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		await(t, name+" made again", func() bool {
			_, err := os.Stat(name)
			return err == nil
		})
	}
	await(t, "the lock in the state directory says where the socket is again", func() bool {
		b, err := os.ReadFile(held)
		return err == nil && string(b) == socket
	})
	var again *link.Link
	await(t, "a keeper that answers", func() (ok bool) {
		var err error
		again, err = link.Dial(socket, wire.RoleTool, "test", nil)
		return err == nil
	})
	defer again.Close()
	if s, err := again.Status(ctx(t)); err != nil || s.PID != int64(pid) || s.Sessions != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if st, err := os.Stat(socket); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", st.Mode(), err)
	}
}

// TestKeeperSignal_RemovesSocket checks that a signal which ends a keeper also removes its socket.
func TestKeeperSignal_RemovesSocket(t *testing.T) {
	socket, pid := start(t)
	l, _ := dial(t, socket, wire.RoleTool)
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil { // SIGHUP is ignored
		t.Fatal(err)
	}
	if _, err := l.Status(ctx(t)); err != nil {
		t.Errorf("after a hang-up: %v", err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	receive(t, l.Closed(), "end of the connection")
	await(t, "no socket", func() bool {
		_, err := os.Stat(socket)
		return errors.Is(err, os.ErrNotExist)
	})
}

// TestKeeper_EndsWhenUnused checks that a keeper ends on request only without sessions and peers.
func TestKeeper_EndsWhenUnused(t *testing.T) {
	long, now := time.Now().Add(-time.Hour), time.Now()
	for name, c := range map[string]struct {
		k    *Keeper
		ends bool
	}{
		"nothing at all":        {&Keeper{started: long}, true},
		"just started":          {&Keeper{started: now}, false},
		"a session":             {&Keeper{started: long, children: map[string]*child{"a": {}}}, false},
		"a peer":                {&Keeper{started: long, conns: map[*conn]struct{}{{}: {}}}, false},
		"a daemon is wanted":    {&Keeper{started: long, supervisor: supervisor{isWanted: true}}, false},
		"a daemon has to leave": {&Keeper{started: long, supervisor: supervisor{pid: 5}}, false},
	} {
		c.k.stop = make(chan error, 1)
		c.k.endIfIdle()
		c.k.endIfIdle() // a second request does not block
		if (len(c.k.stop) == 1) != c.ends {
			t.Errorf("%s: ends %t", name, len(c.k.stop) == 1)
		}
	}
}

// await polls the system until f holds.
func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !f() {
		select {
		case <-deadline:
			t.Fatal("timeout: ", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}
