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
	// instantCrash is the lifetime below which a daemon counts as crashed at once.
	instantCrash = 2 * time.Second
	// maxCrashes is the number of consecutive instant crashes after which the keeper stops restarting until a client
	// connects.
	maxCrashes = 6
	backoff    = 50 * time.Millisecond // pause before a restart; doubles with each instant crash after the first
	// freeKills is the number of daemons, killed right after their start, that are replaced without a pause.
	freeKills = 10
	killDelay = 100 * time.Millisecond
	// reconnect bounds how long a running daemon may take to connect.
	reconnect = 2 * time.Second
	// firstClient is how long a keeper without sessions waits for its first client.
	firstClient = 10 * time.Second
)

var errCrashLoop = errors.New("the daemon crashes at once")

// supervisor keeps one daemon alive. Guarded by Keeper.mu.
type supervisor struct {
	wanted    bool   // a daemon should run
	pid       int    // of the daemon we started or that connected; 0: none
	reaped    bool   // it has ended, not yet reported
	oomKills  uint64 // out-of-memory kills of the system when it was started
	kills     int    // consecutive instant kills
	conn      *conn  // its connection
	ready     bool   // it serves clients
	served    bool   // it was ready once
	startedAt time.Time
	crashes   int  // consecutive instant crashes
	diskFull  bool // the newest daemon ended because its disk is full: the next would, too
	restarts  uint64
	lastError string
	waiters   []waiter // requests to answer when a daemon is ready
	scheduled bool     // a restart is scheduled
	stopped   int      // consecutive checks that found it stopped while needed
}

// waiter is a request for a running daemon.
type waiter struct {
	conn *conn
	req  uint64
}

// wantDaemon ensures that a daemon runs or starts. w, if any, is answered once it is ready or given up.
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

// startDaemonLocked starts the daemon.
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
	s.pid, s.reaped, s.startedAt, s.ready, s.oomKills = pid, false, time.Now(), false, sys.OOMKills()
	k.waiting[pid] = func(st syscall.WaitStatus) { k.daemonEnded(pid, st) }
}

// daemonEnded handles the end of the daemon's process.
func (k *Keeper) daemonEnded(pid int, st syscall.WaitStatus) {
	k.mu.Lock()
	if k.super.pid == pid {
		k.super.diskFull = st.Exited() && st.ExitStatus() == launch.NoRoomStatus
		k.crashedLocked(fmt.Sprintf("daemon %d ended: %s", pid, describeStatus(st)), st.Signal() == syscall.SIGKILL)
	}
	k.mu.Unlock()
	k.endIfIdle()
}

// describeStatus describes how a process ended.
func describeStatus(st syscall.WaitStatus) string {
	if st.Signaled() {
		return st.Signal().String()
	}
	return fmt.Sprintf("exit status %d", st.ExitStatus())
}

// crashedLocked is called when the daemon has ended or could not be started.
func (k *Keeper) crashedLocked(why string, killed bool) {
	s := &k.super
	life, oom := time.Since(s.startedAt), sys.OOMKills() != s.oomKills
	// Killed from outside after it served: not its own fault. Killed for want of memory it
	// will be again.
	outside := s.served && killed && !oom
	s.reaped = false
	defer func() { s.diskFull = false }()
	s.pid, s.conn, s.ready, s.served = 0, nil, false, false
	s.lastError = why // of the one that ended last, whether or not that was wanted
	if !s.wanted {
		k.log.Info("daemon left", "how", why)
		k.answerWaitersLocked(errors.New("daemon stopped on request"))
		return
	}
	delay, giveUp := s.next(life, outside)
	if s.diskFull || giveUp {
		s.wanted = false
		k.log.Error("giving up on the daemon until a client asks again; sessions continue", "crashes", s.crashes, "last", why)
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

// next returns the pause before the next daemon after one that lived for life, or giveUp. A killed daemon is always
// replaced, but not in a tight loop.
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

// answerWaitersLocked answers all waiters, with an error or nil.
func (k *Keeper) answerWaitersLocked(err error) {
	for _, w := range k.super.waiters {
		w.conn.send(done(w.req, err))
	}
	k.super.waiters = nil
}

// daemonConnectedLocked makes c the daemon that receives notices. The daemon's own lock ensures that only one runs, so
// the newest connection is valid.
func (k *Keeper) daemonConnectedLocked(c *conn) {
	s := &k.super
	if old := s.conn; old != nil {
		_ = old.Close()
	}
	s.conn = c
	k.receiveAgainLocked()
	if len(k.cfg.Daemon) > 0 && s.pid != int(c.pid) {
		// One that we did not start, or that a keeper before us did.
		s.pid, s.reaped, s.startedAt, s.wanted, s.oomKills = int(c.pid), false, time.Now(), true, sys.OOMKills()
	}
}

// daemonDroppedLocked handles the end of the daemon's connection.
func (k *Keeper) daemonDroppedLocked(c *conn) {
	s := &k.super
	if s.conn != c {
		return
	}
	s.conn, s.ready = nil, false
	k.receiveAgainLocked()
	if _, ours := k.waiting[s.pid]; ours || s.reaped || s.pid == 0 {
		return // the reaper reports how it ended
	}
	k.crashedLocked(fmt.Sprintf("daemon %d closed its connection", s.pid), true)
}

// handleReady records that the daemon serves clients.
func handleReady(k *Keeper, c *conn, _ *wire.Ready, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.super.conn == c {
		k.super.ready, k.super.served = true, true
		k.sendExecutionsLocked()
		k.reportRefusalsLocked()
		k.answerWaitersLocked(nil)
	}
	return nil
}

// handleLeave records that the daemon ends on purpose.
func handleLeave(k *Keeper, c *conn, m *wire.Leave, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.super.conn == c {
		k.super.wanted = m.Restart
		k.super.ready = false
		if m.Restart {
			k.super.startedAt = time.Time{} // the end was requested, however soon
		}
	}
	return nil
}

// handleStartDaemon starts a daemon if none runs, and answers once it is ready.
func handleStartDaemon(k *Keeper, c *conn, m *wire.StartDaemon, _ []*os.File) error {
	k.wantDaemon(&waiter{c, m.Req})
	return nil
}

// endIfIdle ends a keeper without sessions and peers.
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
