//go:build unix

package keeper

import (
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// reap collects every process that ended: children, the daemon, helpers, and orphans
// of sessions that were handed to us as their subreaper.
func (k *Keeper) reap() {
	k.spawning.Lock()
	defer k.spawning.Unlock()
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
		k.reaped(pid, status, &usage)
	}
}

func (k *Keeper) reaped(pid int, status syscall.WaitStatus, usage *syscall.Rusage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if fn, ok := k.waiting[pid]; ok {
		delete(k.waiting, pid)
		go fn(status)
		return
	}
	for _, c := range k.children {
		if c.pid == pid && !c.reaped.Load() {
			c.exit = exitOf(c.id, status, usage)
			c.reaped.Store(true)
			// Wakes the gathering goroutine, which drains and reports.
			if c.pty.SetReadDeadline(time.Unix(1, 0)) != nil || c.closed {
				k.reportLocked(c)
			}
			wake(c.resume)
			return
		}
	}
}

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

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// reportExit tells the daemon of an exit, once all that was printed is in the ring.
func (k *Keeper) reportExit(c *child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reportLocked(c)
}

func (k *Keeper) reportLocked(c *child) {
	if c.reported || c.exit == nil {
		return
	}
	c.reported = true
	c.exit.Head = c.ring.Head()
	k.notifyLocked(c.exit)
}

func (k *Keeper) reportClosed(c *child) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.closed = true
	k.reportLocked(c) // a pipe may close before its process is reaped: no-op then
	k.notifyLocked(&wire.Closed{ID: c.id, Head: c.ring.Head()})
}
