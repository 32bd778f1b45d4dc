//go:build unix

package keeper

import (
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// reap collects every process that ended: children, the daemon, helpers, and orphans of sessions, whose subreaper the
// keeper is.
func (k *Keeper) reap() {
	k.spawnMu.Lock()
	defer k.spawnMu.Unlock()
	for {
		var status syscall.WaitStatus
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, &usage)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		k.onReaped(pid, status, &usage)
	}
}

// onReaped handles the end of one process.
func (k *Keeper) onReaped(pid int, status syscall.WaitStatus, usage *syscall.Rusage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if fn, ok := k.helpers[pid]; ok {
		delete(k.helpers, pid)
		if pid == k.supervisor.pid { // a later end of its connection must not count as another end
			k.supervisor.exitUnreported = true
		}
		go fn(status)
		return
	}
	for _, c := range k.children {
		if c.pid == pid && !c.reaped.Load() {
			c.exit = exitOf(c.id, status, usage)
			c.reaped.Store(true)
			// Wakes the pumping goroutines, which drain and report.
			open := false
			for _, o := range c.outputs {
				k.parker.unpark(o, true)
				open = o.file.SetReadDeadline(time.Unix(1, 0)) == nil && !o.closed || open
			}
			if !open {
				k.reportLocked(c)
			}
			c.wakeAll()
			return
		}
	}
}

// exitOf returns the exit message for a process.
func exitOf(id string, status syscall.WaitStatus, usage *syscall.Rusage) *wire.Exited {
	e := &wire.Exited{
		ID: id, Code: int64(status.ExitStatus()), Time: time.Now().UnixNano(),
		User: usage.Utime.Nano(), System: usage.Stime.Nano(), MaxRSS: int64(usage.Maxrss) * maxRSSUnit,
	}
	if status.Signaled() {
		e.Signal = int64(status.Signal())
	}
	return e
}

// setSignal sets a signal, unless it is set already.
func setSignal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// reportDrained reports an exit to the daemon once all output of all streams is in the ring.
func (k *Keeper) reportDrained(c *child, o *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.drained = true
	k.reportEndLocked(c)
}

// reportClosed reports to the daemon that the last stream is closed.
func (k *Keeper) reportClosed(c *child, o *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o.closed = true
	k.reportEndLocked(c)
}

// reportEndLocked reports exit and close of a session, as far as both are due.
func (k *Keeper) reportEndLocked(c *child) {
	closed := true
	for _, o := range c.outputs {
		closed = closed && o.closed
		if !o.drained && !o.closed {
			return
		}
	}
	k.reportLocked(c) // a pipe may close before its process is reaped: no-op then
	if closed && !c.outputClosed {
		c.outputClosed = true
		k.notifyLocked(&wire.Closed{ID: c.id, Head: c.ring.Head()})
	}
}

// reportLocked reports the exit of a session.
func (k *Keeper) reportLocked(c *child) {
	if c.exitReported || c.exit == nil {
		return
	}
	c.exitReported = true
	c.exit.Head = c.ring.Head()
	k.notifyLocked(c.exit)
}
