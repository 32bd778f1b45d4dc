//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

const (
	// A daemon that lives shorter than this crashed at once.
	instantCrash = 2 * time.Second
	// After this many instant crashes in a row the keeper gives up until asked again.
	maxCrashes = 6
	backoff    = 50 * time.Millisecond // doubles with each instant crash after the first
	// So many daemons that were killed at once are replaced without a pause.
	freeKills = 10
	killDelay = 100 * time.Millisecond
	// A daemon that is known to run has this long to connect.
	reconnect = 2 * time.Second
	// A keeper without sessions waits this long for its first client.
	firstClient = 10 * time.Second
)

var errCrashLoop = errors.New("the daemon crashes at once")

// supervisor keeps one daemon alive. Guarded by Keeper.mu.
type supervisor struct {
	wanted    bool
	pid       int    // of the daemon we started or that connected; 0: none
	reaped    bool   // it has ended, which is about to be told
	oomKills  uint64 // of the system when it was started
	kills     int    // instant ones in a row
	conn      *conn  // its connection
	ready     bool   // it serves clients
	served    bool   // it was ready once
	born      time.Time
	crashes   int  // instant ones in a row
	noRoom    bool // the newest ended for want of room on its disk: the next would, too
	restarts  uint64
	lastError string
	waiters   []waiter
	scheduled bool // a restart is on its way
	stopped   int  // looks in a row at which it was stopped while it was asked
}

type waiter struct {
	conn *conn
	req  uint64
}

// wantDaemon makes sure that a daemon runs or will; w, if any, is told when it is
// ready or given up.
func (k *Keeper) wantDaemon(w *waiter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.super
	if len(k.cfg.Daemon) == 0 {
		if w != nil {
			w.conn.send(done(w.req, errors.New("this keeper starts no daemon")))
		}
		return
	}
	if s.ready {
		if w != nil {
			w.conn.send(done(w.req, nil))
		}
		return
	}
	if w != nil {
		s.waiters = append(s.waiters, *w)
	}
	s.wanted = true
	s.crashes = 0
	if s.pid == 0 && !s.scheduled {
		k.startDaemonLocked()
	}
}

func (k *Keeper) startDaemonLocked() {
	s := &k.super
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		k.crashedLocked(err.Error(), false)
		return
	}
	defer null.Close()
	pid, err := syscall.ForkExec(sys.SelfExe(), k.cfg.Daemon, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), null.Fd(), os.Stderr.Fd()}, // stderr is the keeper's log
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		k.crashedLocked("cannot start the daemon: "+err.Error(), false)
		return
	}
	s.pid, s.reaped, s.born, s.ready, s.oomKills = pid, false, time.Now(), false, sys.OOMKills()
	k.waiting[pid] = func(st syscall.WaitStatus) { k.daemonEnded(pid, st) }
}

func (k *Keeper) daemonEnded(pid int, st syscall.WaitStatus) {
	k.mu.Lock()
	if k.super.pid == pid {
		k.super.noRoom = st.Exited() && st.ExitStatus() == launch.NoRoomStatus
		k.crashedLocked(fmt.Sprintf("daemon %d ended: %s", pid, describeStatus(st)), st.Signal() == syscall.SIGKILL)
	}
	k.mu.Unlock()
	k.endIfIdle()
}

func describeStatus(st syscall.WaitStatus) string {
	if st.Signaled() {
		return st.Signal().String()
	}
	return fmt.Sprintf("exit status %d", st.ExitStatus())
}

// crashedLocked is called when the daemon is gone or could not be started.
func (k *Keeper) crashedLocked(why string, killed bool) {
	s := &k.super
	life, oom := time.Since(s.born), sys.OOMKills() != s.oomKills
	// Killed from outside after it served: not its own fault. Killed for want of memory it
	// will be again.
	outside := s.served && killed && !oom
	s.reaped = false
	defer func() { s.noRoom = false }()
	s.pid, s.conn, s.ready, s.served = 0, nil, false, false
	s.lastError = why // of the one that ended last, whether or not that was wanted
	if !s.wanted {
		k.log.Info("daemon left", "how", why)
		k.answerWaitersLocked(errors.New("the daemon was told to stop"))
		return
	}
	delay, giveUp := s.next(life, outside)
	if s.noRoom || giveUp {
		s.wanted = false
		k.log.Error("giving up on the daemon until a client asks again; sessions go on", "crashes", s.crashes, "last", why)
		k.answerWaitersLocked(fmt.Errorf("%w (%d times; last: %s); see its log", errCrashLoop, s.crashes, why))
		return
	}
	k.log.Warn("restarting the daemon", "why", why, "delay", delay)
	s.restarts++
	if delay == 0 {
		k.startDaemonLocked()
		return
	}
	s.scheduled = true
	time.AfterFunc(delay, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.super.scheduled = false
		if k.super.wanted && k.super.pid == 0 {
			k.startDaemonLocked()
		}
	})
}

// next is what follows the end of a daemon that lived so long: a pause before another one, or
// none at all. One that was killed is replaced, however often; but not in a tight loop.
func (s *supervisor) next(life time.Duration, outside bool) (delay time.Duration, giveUp bool) {
	switch {
	case life >= instantCrash:
		s.crashes, s.kills = 0, 0
	case outside:
		s.crashes = 0
		if s.kills++; s.kills > freeKills {
			delay = killDelay
		}
	default:
		s.kills = 0
		s.crashes++
		delay = backoff << min(s.crashes-1, 6)
	}
	return delay, s.crashes >= maxCrashes
}

func (k *Keeper) answerWaitersLocked(err error) {
	for _, w := range k.super.waiters {
		w.conn.send(done(w.req, err))
	}
	k.super.waiters = nil
}

// daemonConnectedLocked makes c the daemon that gets notices. The daemon's own lock
// sees to it that there is only one; the newest connection is the true one.
func (k *Keeper) daemonConnectedLocked(c *conn) {
	s := &k.super
	if old := s.conn; old != nil {
		_ = old.Close()
	}
	s.conn = c
	k.hearAgainLocked()
	if len(k.cfg.Daemon) > 0 && s.pid != int(c.pid) {
		// One that we did not start, or that a keeper before us did.
		s.pid, s.reaped, s.born, s.wanted, s.oomKills = int(c.pid), false, time.Now(), true, sys.OOMKills()
	}
}

func (k *Keeper) daemonDroppedLocked(c *conn) {
	s := &k.super
	if s.conn != c {
		return
	}
	s.conn, s.ready = nil, false
	k.hearAgainLocked()
	if _, ours := k.waiting[s.pid]; ours || s.reaped || s.pid == 0 {
		return // the reaper will say how it ended
	}
	k.crashedLocked(fmt.Sprintf("daemon %d closed its connection", s.pid), true)
}

func handleReady(k *Keeper, c *conn, _ *wire.Ready, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.super.conn == c {
		k.super.ready, k.super.served = true, true
		k.tellExecutionsLocked()
		k.reportRefusalsLocked()
		k.answerWaitersLocked(nil)
	}
	return nil
}

func handleLeave(k *Keeper, c *conn, m *wire.Leave, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.super.conn == c {
		k.super.wanted = m.Restart
		k.super.ready = false
		if m.Restart {
			k.super.born = time.Time{} // ending was asked for, however soon
		}
	}
	return nil
}

func handleStartDaemon(k *Keeper, c *conn, m *wire.StartDaemon, _ []*os.File) error {
	k.wantDaemon(&waiter{c, m.Req})
	return nil
}

// endIfIdle ends a keeper that has nothing to keep and no peer to serve.
func (k *Keeper) endIfIdle() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.children) > 0 || len(k.listeners) > 0 || len(k.conns) > 0 || k.super.wanted || k.super.pid != 0 {
		return
	}
	if time.Since(k.started) < firstClient {
		return // its starter is still to come
	}
	k.finish(nil)
}
