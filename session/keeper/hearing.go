//go:build unix

package keeper

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/inbox"
)

// Each process that is woken on the way of an execution costs it more than it is judged for. So a daemon that has just
// judged one takes the next ones itself, for as long as more come soon. What it took is in the listener's inbox, which we
// see: when it is gone we tell the next one of it.

// hearing is who takes what is asked at a listener. Guarded by Keeper.mu.
type hearing struct {
	taking sync.Mutex     // held while one is taken; inbox is made with both held
	inbox  *inbox.Inbox   // nil: no daemon has wanted one
	handed bool           // a daemon takes
	to     int            // its process
	other  bool           // a daemon that does so now and then is there: we need not stay
	look   bool           // what is in the inbox is to be taken over
	stays  bool           // the listener's goroutine waits for more by itself
	mute   bool           // the bell could not be switched
	users  sync.WaitGroup // of the listener, besides its goroutine
}

// take takes what waits, while no daemon does.
func (l *listener) take(fd int) (sys.Notification, error) {
	l.taking.Lock()
	defer l.taking.Unlock()
	if l.inbox == nil {
		return sys.ReceiveNotification(fd)
	}
	return l.inbox.Take(fd)
}

// ringLocked has the bell tell of what nobody waits for.
func (k *Keeper) ringLocked(l *listener) {
	if l.bell == nil {
		return // it is on when it comes to be
	}
	err := l.bell.Set(!l.handed && !l.stays) // it is open as long as the listener is known
	if err == nil {
		l.mute = false
		return
	}
	if !l.mute {
		l.mute = true
		k.log.Error("executions are looked for now and then: the kernel does not tell of them", "session", l.id, "err", err)
		k.ringAgain(l)
	}
}

// ringAgain tries to switch a bell until it can be, and has the listener looked at meanwhile.
func (k *Keeper) ringAgain(l *listener) {
	time.AfterFunc(muteTime, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.listeners[l.run] != l || !l.mute {
			return
		}
		k.ringLocked(l)
		if l.bell.Wake(); l.mute {
			k.ringAgain(l)
		}
	})
}

// muteTime is how long an execution waits at most that the bell could not tell of: without it, it would wait for good.
const muteTime = 100 * time.Millisecond

// lingers says whether the listener's goroutine is to wait for more by itself, and notes that it does; or does not any more.
func (k *Keeper) lingers(l *listener, yes bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	yes = yes && !l.other
	if l.stays != yes {
		l.stays = yes
		k.ringLocked(l)
	}
	return yes
}

// hearAgainLocked has us take what is executed: no daemon does, and what the one before has taken is ours, too.
func (k *Keeper) hearAgainLocked() {
	for _, l := range k.listeners {
		l.other = false
		if l.inbox == nil {
			continue
		}
		l.handed, l.look = false, true
		l.inbox.Grant(0)
		k.ringLocked(l)
		l.wakeLocked()
	}
}

// wakeLocked has the listener's goroutine look, also where nobody asks.
func (l *listener) wakeLocked() {
	wake(l.room)
	if l.bell != nil {
		l.bell.Wake()
	}
}

// takeLeft takes over what is in the inbox of a daemon that is gone.
func (k *Keeper) takeLeft(l *listener, fd int) error {
	k.mu.Lock()
	in, look := l.inbox, l.look
	k.mu.Unlock()
	if !look {
		return nil
	}
	left, err := in.Left()
	if err != nil {
		return err
	}
	k.mu.Lock()
	l.look = false
	if l.handed {
		l.inbox.Grant(l.to)
	}
	k.mu.Unlock()
	for _, n := range left {
		err = errors.Join(err, k.takeOut(l, in, fd, n))
	}
	return err
}

// takeOut takes over one.
func (k *Keeper) takeOut(l *listener, in *inbox.Inbox, fd int, n sys.Notification) error {
	defer in.Clear(n.ID)
	if !sys.NotificationWaits(fd, n.ID) {
		return nil // it was answered, or its process has ended
	}
	return k.took(l, fd, n)
}

// notYet is for a listener where another process takes right now: a daemon that is there will be told by the kernel, too, and
// one that is gone or stopped is not waited for in the kernel.
func (k *Keeper) notYet(l *listener) error {
	k.mu.Lock()
	handed := l.handed
	k.mu.Unlock()
	if !handed {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func handleExecutionHearing(k *Keeper, c *conn, m *wire.ExecutionHearing, _ []*os.File) error {
	k.freeze.RLock()
	l, err := k.handOver(c, m)
	k.freeze.RUnlock()
	if l != nil {
		go k.takeUp(l, c, m) // memory of a process can be a file whose server hangs
	}
	return err
}

// takeUp takes over a call that a daemon leaves to us. What one leaves that is gone meanwhile is taken over with the rest.
func (k *Keeper) takeUp(l *listener, c *conn, m *wire.ExecutionHearing) {
	defer l.users.Done()
	k.freeze.RLock()
	defer k.freeze.RUnlock()
	k.mu.Lock()
	lost := k.super.conn != c
	k.mu.Unlock()
	if lost {
		return
	}
	raw, err := l.file.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(fd int) error {
			if n, ok := l.inbox.Find(m.Number); ok {
				return k.takeOut(l, l.inbox, fd, n)
			}
			return nil
		})
	}
	if err != nil {
		k.log.Error("take an execution over", "session", m.ID, "err", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.waiting[m.Number] == nil { // it was answered meanwhile, or is none
		c.send(&wire.ExecutionGone{ID: m.ID, Run: m.Run, Number: m.Number})
	}
}

// handOver does what a daemon wants, but for a call that it leaves to us: the listener of that is in use then.
func (k *Keeper) handOver(c *conn, m *wire.ExecutionHearing) (*listener, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.listeners[run{m.ID, m.Run}]
	switch {
	case l == nil || k.super.conn != c:
	case m.Inbox:
		return nil, k.handInboxLocked(c, l)
	case l.inbox == nil:
	case m.Number != 0:
		l.users.Add(1)
		return l, nil
	default:
		l.handed, l.to = m.Daemon && k.super.ready, int(c.pid)
		l.other = l.other || l.handed
		switch {
		case !l.handed:
			l.inbox.Grant(0)
		case !l.look: // else when what the daemon before took is known
			l.inbox.Grant(l.to)
		}
		k.ringLocked(l)
	}
	return nil, nil
}

// handInboxLocked gives a daemon what it needs to take executions. Without, it does not.
func (k *Keeper) handInboxLocked(c *conn, l *listener) error {
	if l.inbox == nil {
		in, err := inbox.New()
		if err != nil {
			k.log.Warn("an inbox of executions", "session", l.id, "err", err)
			return nil
		}
		l.taking.Lock()
		l.inbox = in
		l.taking.Unlock()
	}
	if err := c.sendFiles(&wire.ExecutionInbox{ID: l.id, Run: l.number}, l.inbox.File()); err != nil {
		k.log.Warn("hand an inbox to the daemon", "session", l.id, "err", err)
	}
	return nil
}
