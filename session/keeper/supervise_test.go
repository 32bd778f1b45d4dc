//go:build unix

package keeper

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// FAULT: D
// FEATURES: R93
func TestSupervisor_Delays(t *testing.T) {
	type end struct {
		life    time.Duration
		outside bool
	}
	crash, killed, old := end{0, false}, end{0, true}, end{time.Hour, false}
	for name, c := range map[string]struct {
		before []end
		last   end
		delay  time.Duration
		giveUp bool
	}{
		"first crash":             {nil, crash, backoff, false},
		"third crash":             {[]end{crash, crash}, crash, 4 * backoff, false},
		"crash after a long life": {[]end{crash, crash, old}, crash, backoff, false},
		"one crash too many":      {[]end{crash, crash, crash, crash, crash}, crash, 32 * backoff, true},
		"killed":                  {[]end{crash, crash}, killed, 0, false},
		"killed again and again":  {repeat(killed, 500), killed, killDelay, false},
		"killed now and then":     {append(repeat(killed, 500), old), killed, 0, false},
	} {
		s := supervisor{}
		for _, e := range c.before {
			s.nextDelay(e.life, e.outside)
		}
		if delay, giveUp := s.nextDelay(c.last.life, c.last.outside); delay != c.delay || giveUp != c.giveUp {
			t.Errorf("%s: %v %v", name, delay, giveUp)
		}
	}
}

// repeat returns a list of n equal values.
func repeat[T any](v T, n int) (list []T) {
	for range n {
		list = append(list, v)
	}
	return list
}

// TestDaemonEnd_CountedOnce checks that a crash counts as a crash, not as a kill without cost, whether the connection's
// end or the exit status comes first.
//
// FAULT: D
func TestDaemonEnd_CountedOnce(t *testing.T) {
	k := &Keeper{
		cfg: Config{Daemon: []string{"daemon"}}, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		helpers: map[int]func(syscall.WaitStatus){},
	}
	told := make(chan syscall.WaitStatus)
	c := &conn{}
	k.supervisor = supervisor{pid: 77, conn: c, ready: true, wasReady: true, isWanted: true, startedAt: time.Now(), oomKills: sys.OOMKills(), restartScheduled: true}
	k.helpers[77] = func(st syscall.WaitStatus) { told <- st }
	k.onReaped(77, syscall.WaitStatus(2<<8), &syscall.Rusage{})
	k.mu.Lock()
	k.daemonDroppedLocked(c)
	if k.supervisor.pid != 77 || k.supervisor.crashes != 0 || k.supervisor.kills != 0 {
		t.Errorf("counted before the exit: %+v", k.supervisor)
	}
	k.mu.Unlock()
	if st := <-told; st.ExitStatus() != 2 {
		t.Errorf("reported %v", st)
	}
}

// TestLastExit_OfNewestDaemon checks that the reported exit is that of the daemon that ended last, even if requested.
//
// FAULT: D
func TestLastExit_OfNewestDaemon(t *testing.T) {
	k := &Keeper{log: slog.New(slog.NewTextHandler(io.Discard, nil)), helpers: map[int]func(syscall.WaitStatus){}}
	k.supervisor = supervisor{pid: 77, lastError: "daemon 76 ended: killed"}
	k.daemonEnded(77, 0)
	if k.supervisor.lastError != "daemon 77 ended: exit status 0" || k.supervisor.pid != 0 {
		t.Errorf("%+v", k.supervisor)
	}
}

// TestVersions_Incompatible checks that a peer with incompatible versions learns ours before the connection ends.
//
// FAULT: D
func TestVersions_Incompatible(t *testing.T) {
	socket, _ := start(t)
	for range 50 {
		uc, err := unixsock.Dial(socket)
		if err != nil {
			t.Fatal(err)
		}
		c := wire.NewConn(uc)
		if err := c.Write(&wire.Hello{Version: 99, MinVersion: 99, Role: wire.RoleTool}); err != nil {
			t.Fatal(err)
		}
		f, _, err := c.Read()
		var hello wire.Hello
		if err != nil || wire.Decode(f.Payload, &hello) != nil || hello.Version != wire.Version {
			t.Fatalf("got %+v, %v", hello, err)
		}
		if _, _, err := c.Read(); !errors.Is(err, io.EOF) {
			t.Errorf("then %v", err)
		}
		_ = c.Close()
	}
}

// TestQueuedDescriptors_SurviveReuse checks that a queued descriptor is sent as the file that it was when queued, even if
// its number was reused.
//
// FAULT: D
func TestQueuedDescriptors_SurviveReuse(t *testing.T) {
	ours, theirs := socketPair(t)
	c := newConn(ours, os.Getuid(), os.Getpid())
	was, err := os.Create(t.TempDir() + "/was")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.sendFiles(&wire.Session{ID: "a"}, was); err != nil {
		t.Fatal(err)
	}
	fd := int(was.Fd())
	_ = was.Close()
	secret, err := os.Open(os.DevNull) // another session's file, with the freed number
	if err != nil || int(secret.Fd()) != fd {
		t.Skip("the number was not reused: ", err)
	}
	defer secret.Close()
	go c.writeQueue()
	defer close(c.readEnded)
	_, files, err := wire.NewConn(theirs).Read()
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	defer files[0].Close()
	if st, err := files[0].Stat(); err != nil || !st.Mode().IsRegular() {
		t.Errorf("another file arrived: %v, %v", st, err)
	}
}
