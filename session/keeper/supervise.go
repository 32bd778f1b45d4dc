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
	// maxFreeKills is the number of daemons, killed right after their start, that are replaced without a pause.
	maxFreeKills = 10
	killDelay    = 100 * time.Millisecond
	// reconnectTimeout bounds how long a running daemon may take to connect.
	reconnectTimeout = 2 * time.Second
	// firstClientTimeout is how long a keeper without sessions waits for its first client.
	firstClientTimeout = 10 * time.Second
)

// errCrashLoop is the answer to requests for a daemon after it crashed too often.
var errCrashLoop = errors.New("the daemon crashes at once")

// supervisor keeps one daemon alive. Guarded by Keeper.mu.
type supervisor struct {
	isWanted         bool   // a daemon should run
	pid              int    // of the daemon we started or that connected; 0: none
	exitUnreported   bool   // it has ended, not yet reported
	oomKills         uint64 // out-of-memory kills of the system when it was started
	kills            int    // consecutive instant kills
	conn             *conn  // its connection
	ready            bool   // it serves clients
	wasReady         bool   // it was ready once
	startedAt        time.Time
	crashes          int            // consecutive instant crashes
	diskFull         bool           // the newest daemon ended because its disk is full: the next would, too
	restarts         uint64         // number so far
	lastError        string         // how the last daemon ended
	waiters          []daemonWaiter // requests to answer when a daemon is ready
	restartScheduled bool           // a restart is scheduled
	stoppedChecks    int            // consecutive checks that found it stopped while needed
}

// daemonWaiter is a request for a running daemon.
type daemonWaiter struct {
	conn *conn
	req  uint64 // number of the request
}

// wantDaemon ensures that a daemon runs or starts. w, if any, is answered once it is ready or given up.
func (k *Keeper) wantDaemon(w *daemonWaiter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &k.supervisor
	if len(k.cfg.Daemon) == 0 {
		if w != nil {
			w.conn.send(doneMessage(w.req, errors.New("this keeper starts no daemon")))
		}
		return
	}
	if s.ready {
		if w != nil {
			w.conn.send(doneMessage(w.req, nil))
		}
		return
	}
	if w != nil {
		s.waiters = append(s.waiters, *w)
	}
	s.isWanted = true
	s.crashes = 0
	if s.pid == 0 && !s.restartScheduled {
		k.startDaemonLocked()
	}
}

// startDaemonLocked starts the daemon.
func (k *Keeper) startDaemonLocked() {
	s := &k.supervisor
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		k.daemonCrashedLocked(err.Error(), false)
		return
	}
	defer null.Close()
	pid, err := syscall.ForkExec(sys.SelfExe(), k.cfg.Daemon, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), null.Fd(), os.Stderr.Fd()}, // stderr is the keeper's log
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		k.daemonCrashedLocked("cannot start the daemon: "+err.Error(), false)
		return
	}
	s.pid, s.exitUnreported, s.startedAt, s.ready, s.oomKills = pid, false, time.Now(), false, sys.OOMKills()
	k.helpers[pid] = func(st syscall.WaitStatus) { k.daemonEnded(pid, st) }
}

// daemonEnded handles the end of the daemon's process.
func (k *Keeper) daemonEnded(pid int, st syscall.WaitStatus) {
	k.mu.Lock()
	if k.supervisor.pid == pid {
		k.supervisor.diskFull = st.Exited() && st.ExitStatus() == launch.DiskFullStatus
		k.daemonCrashedLocked(fmt.Sprintf("daemon %d ended: %s", pid, describeStatus(st)), st.Signal() == syscall.SIGKILL)
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

// daemonCrashedLocked is called when the daemon has ended or could not be started.
func (k *Keeper) daemonCrashedLocked(why string, killed bool) {
	s := &k.supervisor
	life, oom := time.Since(s.startedAt), sys.OOMKills() != s.oomKills
	// Killed from outside after it was ready: not its own fault. If it was killed for lack of memory, the next one will be
	// killed too.
	outside := s.wasReady && killed && !oom
	s.exitUnreported = false
	defer func() { s.diskFull = false }()
	s.pid, s.conn, s.ready, s.wasReady = 0, nil, false, false
	s.lastError = why // of the daemon that ended last, whether or not its end was requested
	if !s.isWanted {
		k.log.Info("daemon left", "how", why)
		k.answerWaitersLocked(errors.New("daemon stopped on request"))
		return
	}
	delay, giveUp := s.nextDelay(life, outside)
	if s.diskFull || giveUp {
		s.isWanted = false
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
	s.restartScheduled = true
	time.AfterFunc(delay, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.supervisor.restartScheduled = false
		if k.supervisor.isWanted && k.supervisor.pid == 0 {
			k.startDaemonLocked()
		}
	})
}

// nextDelay returns the pause before the next daemon, or giveUp. life is the lifetime of the last one; outside reports that it
// was killed from outside after it was ready. A killed daemon is always replaced, but not in a tight loop.
func (s *supervisor) nextDelay(life time.Duration, outside bool) (delay time.Duration, giveUp bool) {
	switch {
	case life >= instantCrash:
		s.crashes, s.kills = 0, 0
	case outside:
		s.crashes = 0
		if s.kills++; s.kills > maxFreeKills {
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
	for _, w := range k.supervisor.waiters {
		w.conn.send(doneMessage(w.req, err))
	}
	k.supervisor.waiters = nil
}

// daemonConnectedLocked makes c the daemon that receives notices. The daemon's own lock ensures that only one runs, so
// the newest connection is valid.
func (k *Keeper) daemonConnectedLocked(c *conn) {
	s := &k.supervisor
	if old := s.conn; old != nil {
		_ = old.Close()
	}
	s.conn = c
	k.resumeReceivingLocked()
	if len(k.cfg.Daemon) > 0 && s.pid != int(c.pid) {
		// It was started by another process, or by a keeper before us.
		s.pid, s.exitUnreported, s.startedAt, s.isWanted, s.oomKills = int(c.pid), false, time.Now(), true, sys.OOMKills()
	}
}

// daemonDroppedLocked handles the end of the daemon's connection.
func (k *Keeper) daemonDroppedLocked(c *conn) {
	s := &k.supervisor
	if s.conn != c {
		return
	}
	s.conn, s.ready = nil, false
	k.resumeReceivingLocked()
	if _, ours := k.helpers[s.pid]; ours || s.exitUnreported || s.pid == 0 {
		return // the reaper reports how it ended
	}
	k.daemonCrashedLocked(fmt.Sprintf("daemon %d closed its connection", s.pid), true)
}

// handleReady records that the daemon serves clients.
func handleReady(k *Keeper, c *conn, _ *wire.Ready, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.supervisor.conn == c {
		k.supervisor.ready, k.supervisor.wasReady = true, true
		k.sendExecutionsLocked()
		k.reportRejectionsLocked()
		k.answerWaitersLocked(nil)
	}
	return nil
}

// handleLeave records that the daemon ends on purpose.
func handleLeave(k *Keeper, c *conn, m *wire.Leave, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.supervisor.conn == c {
		k.supervisor.isWanted = m.Restart
		k.supervisor.ready = false
		if m.Restart {
			k.supervisor.startedAt = time.Time{} // the end was requested, however soon it came
		}
	}
	return nil
}

// handleStartDaemon starts a daemon if none runs, and answers once it is ready.
func handleStartDaemon(k *Keeper, c *conn, m *wire.StartDaemon, _ []*os.File) error {
	k.wantDaemon(&daemonWaiter{c, m.Req})
	return nil
}

// endIfIdle ends a keeper without sessions and peers.
func (k *Keeper) endIfIdle() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.children) > 0 || len(k.listeners) > 0 || len(k.conns) > 0 || k.supervisor.isWanted || k.supervisor.pid != 0 {
		return
	}
	if time.Since(k.started) < firstClientTimeout {
		return // its starter has not connected yet
	}
	k.requestEnd(nil)
}
