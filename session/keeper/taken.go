//go:build unix

package keeper

import (
	"os"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// handleExecutionTake lets the daemon hear a listener, or hears it again.
func handleExecutionTake(k *Keeper, c *conn, m *wire.ExecutionTake, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.listeners[m.ID]
	switch {
	case l == nil || l.slots == nil || k.super.conn != c:
	case m.Back && l.taken && l.taker == c:
		go k.takeBack(l, c)
	case !m.Back && !l.taken:
		l.taken, l.taker = true, c
		if l.heard != nil {
			_ = l.heard.Close() // its goroutine lets go
		}
		wake(l.room)
	}
	return nil
}

// letTake is the end of our hearing.
func (k *Keeper) letTake(l *listener, c *conn) {
	if err := l.slots.Unlock(); err != nil {
		k.log.Error("let the daemon hear a listener", "session", l.id, "err", err)
	}
	c.send(&wire.ExecutionTake{ID: l.id}) // to one that is gone, it is taken back
}

// takeAllBackLocked follows the end of a daemon's connection.
func (k *Keeper) takeAllBackLocked(c *conn) {
	for _, l := range k.listeners {
		if l.taken && l.taker == c {
			go k.takeBack(l, c)
		}
	}
}

// Pauses between looks whether a daemon that is ending, or lost us, hears no more.
const (
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
)

// takeBack hears again what a daemon heard, as soon as it does no more. What it had taken and not answered is told to the
// next.
func (k *Keeper) takeBack(l *listener, from *conn) {
	if k.takenBack(l, from) {
		k.hear(l)
	}
}

func (k *Keeper) takenBack(l *listener, from *conn) bool {
	l.ear.Lock()
	defer l.ear.Unlock()
	for wait := firstLook; l.slots.Lock() != nil; wait = min(2*wait, lastLook) {
		time.Sleep(wait)
		k.mu.Lock()
		still := l.taken && l.taker == from
		k.mu.Unlock()
		if !still {
			return false // another goroutine did it
		}
	}
	return k.collect(l, from)
}

// collect takes over what stands in the slots; false: somebody else did. It is held over by no upgrade.
func (k *Keeper) collect(l *listener, from *conn) bool {
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	k.mu.Lock()
	taken := l.taken && l.taker == from
	if taken {
		l.taken, l.taker = false, nil
	}
	k.mu.Unlock()
	if !taken {
		return false
	}
	left, err := l.slots.Left()
	if err != nil {
		k.log.Error("executions that a daemon had taken wait for nobody", "session", l.id, "err", err)
	}
	_ = l.control(func(fd int) error {
		for _, n := range left {
			switch {
			case !sys.NotificationWaits(fd, n.ID):
			case n.IsExecution():
				k.passOn(l, n, fd)
			default:
				if err := k.answerCall(n, fd); err != nil {
					k.log.Error("answer a call", "session", l.id, "err", err)
				}
			}
		}
		return nil
	})
	if err := l.slots.Clear(); err != nil {
		k.log.Error("clear what a daemon had taken", "session", l.id, "err", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.super.ready && k.listeners[l.id] == l {
		k.handListenerLocked(l)
	}
	return true
}

// asks says that a call waits for who took the listener.
func (l *listener) asks() (is bool) {
	_ = l.control(func(fd int) error {
		is = sys.NotificationPending(fd)
		return nil
	})
	left, err := l.slots.Left()
	return is || err == nil && len(left) > 0
}
