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
func TestPausesBetweenDaemons(t *testing.T) {
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
			s.next(e.life, e.outside)
		}
		if delay, giveUp := s.next(c.last.life, c.last.outside); delay != c.delay || giveUp != c.giveUp {
			t.Errorf("%s: %v %v", name, delay, giveUp)
		}
	}
}

func repeat[T any](v T, n int) (list []T) {
	for range n {
		list = append(list, v)
	}
	return list
}

// The end of a daemon's connection comes before the word of how it ended, or after it: a
// crash is a crash either way, not a kill that costs nothing.
//
// FAULT: D
func TestEndOfADaemonIsTakenOnce(t *testing.T) {
	k := &Keeper{
		cfg: Config{Daemon: []string{"daemon"}}, log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		waiting: map[int]func(syscall.WaitStatus){},
	}
	told := make(chan syscall.WaitStatus)
	c := &conn{}
	k.super = supervisor{pid: 77, conn: c, ready: true, served: true, wanted: true, startedAt: time.Now(), oomKills: sys.OOMKills(), scheduled: true}
	k.waiting[77] = func(st syscall.WaitStatus) { told <- st }
	k.onReaped(77, syscall.WaitStatus(2<<8), &syscall.Rusage{})
	k.mu.Lock()
	k.daemonDroppedLocked(c)
	if k.super.pid != 77 || k.super.crashes != 0 || k.super.kills != 0 {
		t.Errorf("taken before it was told: %+v", k.super)
	}
	k.mu.Unlock()
	if st := <-told; st.ExitStatus() != 2 {
		t.Errorf("told of %v", st)
	}
}

// The reported exit is that of the daemon that ended last, even if it was requested.
//
// FAULT: D
func TestLastExit_OfNewestDaemon(t *testing.T) {
	k := &Keeper{log: slog.New(slog.NewTextHandler(io.Discard, nil)), waiting: map[int]func(syscall.WaitStatus){}}
	k.super = supervisor{pid: 77, lastError: "daemon 76 ended: killed"}
	k.daemonEnded(77, 0)
	if k.super.lastError != "daemon 77 ended: exit status 0" || k.super.pid != 0 {
		t.Errorf("%+v", k.super)
	}
}

// A peer whose versions do not meet ours learns which ours are before the connection ends.
//
// FAULT: D
func TestVersionsThatDoNotMeet(t *testing.T) {
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
			t.Fatalf("answered %+v, %v", hello, err)
		}
		if _, _, err := c.Read(); !errors.Is(err, io.EOF) {
			t.Errorf("then %v", err)
		}
		_ = c.Close()
	}
}

// A queued descriptor is sent as the file that it was when queued, even if its number was reused.
//
// FAULT: D
func TestQueuedDescriptorsStayWhatTheyWere(t *testing.T) {
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
	secret, err := os.Open(os.DevNull) // another session's, with the number that came free
	if err != nil || int(secret.Fd()) != fd {
		t.Skip("the number was not used again: ", err)
	}
	defer secret.Close()
	go c.write()
	defer close(c.gone)
	_, files, err := wire.NewConn(theirs).Read()
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	defer files[0].Close()
	if st, err := files[0].Stat(); err != nil || !st.Mode().IsRegular() {
		t.Errorf("another file arrived: %v, %v", st, err)
	}
}
