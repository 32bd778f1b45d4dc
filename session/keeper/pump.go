//go:build unix

package keeper

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/rawio"
)

const (
	// maxMoveBytes bounds the bytes moved before a notice is sent.
	maxMoveBytes = 256 << 10
	// trimAfterBytes is the output after which a ring is trimmed, once it was idle for trimAfterIdle.
	trimAfterBytes = 128 << 10
	trimAfterIdle  = 10 * time.Second
	// reopenCheck is the interval of checks of a PTY that no process holds while its child lives: the child may open it
	// again (/dev/tty).
	reopenCheck = 200 * time.Millisecond
)

// moveEnd is the reason why a move ended.
type moveEnd int

const (
	moveEmpty    moveEnd = iota // nothing more to read now
	moveRingFull                // the ring has no room
	moveLimit                   // maxMoveBytes reached
	moveEOF                     // no process holds the other end
)

// pump is a stream's goroutine: it moves output to the ring until the stream is closed or released.
func (k *Keeper) pump(c *child, o *stream) {
	if k.pumpUntilIdle(c, o) {
		return // continues when output arrives
	}
	if c.activePumps.Add(-1) == 0 {
		c.order.close()
		close(c.pumpsDone)
	}
}

// pumpUntilIdle moves output and reports whether the stream was parked; otherwise it was closed.
func (k *Keeper) pumpUntilIdle(c *child, o *stream) (rests bool) {
	raw, err := o.file.SyscallConn()
	if err != nil {
		k.log.Error("pump", "session", c.id, "err", err)
		return false
	}
	var wasDrained bool // the stream was read until empty since the process was reaped
	for {
		reaped := c.reaped.Load() // before reading: all that the process printed is readable by now
		var why moveEnd
		moved := 0
		err := raw.Read(func(fd uintptr) bool {
			why, moved = k.move(c, o, int(fd))
			// A read without waiting is due once: a descendant may hold the other end forever.
			return reaped && !wasDrained || why != moveEmpty || moved > 0
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // the reaper, or time to trim
			_ = o.file.SetReadDeadline(time.Time{})
			k.trim(c)
			if o.idle.Load() && k.parkStream(c, o) {
				return true
			}
			continue
		case err != nil: // the session was released
			return false
		}
		o.idle.Store(false)
		k.poller.NoteActivity()
		if moved > 0 {
			if c.ring.ShouldNotify() {
				k.notify(&wire.Output{ID: c.id})
			}
			if c.ring.Head()-c.trimmedHead.Load() >= trimAfterBytes && why == moveEmpty {
				_ = o.file.SetReadDeadline(time.Now().Add(trimAfterIdle))
			}
		}
		if reaped && !wasDrained && (why == moveEmpty || why == moveEOF) {
			wasDrained = true
			k.reportDrained(c, o)
		}
		if !k.afterMove(c, o, why, reaped) {
			return false
		}
	}
}

// move reads until the stream is empty, the ring is full or enough was moved. Two streams alternate after each read,
// which keeps their order as accurate as two pipes allow.
func (k *Keeper) move(c *child, o *stream, fd int) (why moveEnd, moved int) {
	k.freezeMu.RLock()
	defer k.freezeMu.RUnlock()
	c.ringMu.Lock()
	defer c.ringMu.Unlock()
	enough := maxMoveBytes
	if len(c.outputs) > 1 {
		enough = 1
		if s, ok := c.order.firstReady(); ok && s != o.id {
			moved = c.moveFrom(c.outputs[s])
		}
	}
	for first := true; first || moved < enough; first = false {
		room := c.ring.RoomFor(o.id)
		if room == nil {
			return moveRingFull, moved
		}
		n, err := rawio.Read(fd, room)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return moveEmpty, moved
		case n <= 0: // 0, EIO: the other side is closed
			return moveEOF, moved
		default:
			c.ring.PublishAs(o.id, n)
			moved += n
		}
	}
	return moveLimit, moved
}

// moveFrom reads once from the other stream, for which its own goroutine would come too late. That goroutine handles the
// end of the stream.
func (c *child) moveFrom(o *stream) (n int) {
	raw, err := o.file.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if room := c.ring.RoomFor(o.id); room != nil {
			if n, err = syscall.Read(int(fd), room); n > 0 {
				c.ring.PublishAs(o.id, n)
			}
		}
	})
	return max(n, 0)
}

// afterMove handles the end of a move; false ends the goroutine.
func (k *Keeper) afterMove(c *child, o *stream, why moveEnd, reaped bool) bool {
	switch why {
	case moveRingFull:
		if c.mustWaitForRoom(o) {
			// The daemon sees the flag after its next acknowledgement. A release closes the stream and sends a resume.
			<-o.resume
		}
	case moveEOF:
		if c.onPipes || reaped {
			k.reportClosed(c, o)
			return false
		}
		select { // the terminal is closed but the child lives on
		case <-o.resume:
		case <-time.After(reopenCheck):
		}
	}
	return true
}

// mustWaitForRoom reports whether the stream must wait for room in the ring. Otherwise it wakes the other streams, which
// may wait because of its flag.
func (c *child) mustWaitForRoom(o *stream) bool {
	c.ringMu.Lock()
	defer c.ringMu.Unlock()
	if !c.ring.StallFor(o.id) {
		return true
	}
	c.wakeAll()
	return false
}

// trim frees the unused memory of a ring.
func (k *Keeper) trim(c *child) {
	k.freezeMu.RLock()
	defer k.freezeMu.RUnlock()
	c.ringMu.Lock()
	defer c.ringMu.Unlock()
	head := c.ring.Head()
	if head-c.trimmedHead.Load() < trimAfterBytes || head != c.ring.Tail() {
		return
	}
	if err := c.ring.Trim(); err != nil {
		k.log.Debug("trim", "session", c.id, "err", err)
	}
	c.trimmedHead.Store(head)
}
