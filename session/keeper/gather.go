//go:build unix

package keeper

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

const (
	// gatherMax bounds the bytes moved before a notice goes out.
	gatherMax = 256 << 10
	// A ring is trimmed after this much output, once this long nothing came.
	trimAfterBytes = 128 << 10
	trimAfterIdle  = 10 * time.Second
	// A PTY that nobody holds while its child lives may be opened again (/dev/tty).
	reopenCheck = 200 * time.Millisecond
)

// ended says why a gathering stopped.
type ended int

const (
	endedEmpty ended = iota // nothing more to read now
	endedFull               // the ring has no room
	endedLong               // gatherMax reached
	endedEOF                // nobody holds the other end
)

// gather is a session's goroutine: it moves output from the PTY to the ring until the
// terminal is closed or released.
func (k *Keeper) gather(c *child) {
	defer close(c.done)
	raw, err := c.pty.SyscallConn()
	if err != nil {
		k.log.Error("gather", "session", c.id, "err", err)
		return
	}
	var trimmed uint64 // head when the ring was last trimmed
	for {
		reaped := c.reaped.Load() // before reading: what it printed is readable by now
		var why ended
		before := c.ring.Head()
		err := raw.Read(func(fd uintptr) bool {
			why = k.move(c, int(fd))
			return reaped || why != endedEmpty || c.ring.Head() != before
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // the reaper, or time to trim
			_ = c.pty.SetReadDeadline(time.Time{})
			trimmed = k.trim(c, trimmed)
			continue
		case err != nil: // released
			return
		}
		if head := c.ring.Head(); head != before {
			if c.ring.Notice() {
				k.notify(&wire.Output{ID: c.id})
			}
			if head-trimmed >= trimAfterBytes && why == endedEmpty {
				_ = c.pty.SetReadDeadline(time.Now().Add(trimAfterIdle))
			}
		}
		if !k.afterMove(c, why, reaped) {
			return
		}
	}
}

// move reads until the PTY is empty, the ring is full or gatherMax is reached.
func (k *Keeper) move(c *child, fd int) ended {
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	for moved := 0; moved < gatherMax; {
		room := c.ring.Room()
		if room == nil {
			return endedFull
		}
		n, err := syscall.Read(fd, room)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return endedEmpty
		case n <= 0: // 0, EIO: the other side is closed
			return endedEOF
		default:
			c.ring.Publish(n)
			moved += n
		}
	}
	return endedLong
}

// afterMove does what the end of a gathering asks for; false ends the goroutine.
func (k *Keeper) afterMove(c *child, why ended, reaped bool) bool {
	if reaped && (why == endedEmpty || why == endedEOF) {
		k.reportExit(c)
	}
	switch why {
	case endedFull:
		if !c.ring.Stall() {
			// The daemon sees the flag after its next acknowledgement. A release
			// closes the PTY and sends a resume.
			<-c.resume
		}
	case endedEOF:
		if c.pipe || reaped {
			k.reportClosed(c)
			return false
		}
		select { // its terminal is closed but it lives on
		case <-c.resume:
		case <-time.After(reopenCheck):
		}
	}
	return true
}

func (k *Keeper) trim(c *child, trimmed uint64) uint64 {
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	head := c.ring.Head()
	if head-trimmed < trimAfterBytes || head != c.ring.Tail() {
		return trimmed
	}
	if err := c.ring.Trim(); err != nil {
		k.log.Debug("trim", "session", c.id, "err", err)
	}
	return head
}
