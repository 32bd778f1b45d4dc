//go:build unix

package keeper

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/notifyqueue"
)

// Each process that an execution wakes on its way costs more than the check itself. So a daemon that has just checked one
// receives the following ones itself, as long as more arrive soon. It records them in the listener's inbox, which the
// keeper shares. After that daemon has exited, the keeper passes them to the next one.

// listenerOwner states which process receives a listener's executions. Guarded by Keeper.mu.
type listenerOwner struct {
	receiveMu         sync.Mutex         // held while an execution is received; inbox is set with this and Keeper.mu held
	inbox             *notifyqueue.Queue // nil: no daemon has requested one
	daemonReceives    bool               // a daemon receives executions
	daemonPID         int                // its process
	daemonCanReceive  bool               // a daemon that receives at times is connected: the keeper's goroutine need not linger
	drainInbox        bool               // the inbox of a former daemon must be drained
	spinWaiting       bool               // the listener's goroutine waits for more by itself
	readySignalBroken bool               // the bell could not be switched
	users             sync.WaitGroup     // users of the listener, besides its goroutine
}

// receive receives an execution while no daemon does.
func (l *listener) receive(fd int) (sys.Notification, error) {
	l.receiveMu.Lock()
	defer l.receiveMu.Unlock()
	if l.inbox == nil {
		return sys.ReceiveNotification(fd)
	}
	return l.inbox.ReceiveUnstored(fd)
}

// setReadySignalLocked enables the ready signal unless a process waits at the listener itself.
func (k *Keeper) setReadySignalLocked(l *listener) {
	if l.readySignal == nil {
		return // it is turned on when it is opened
	}
	err := l.readySignal.SetEnabled(!l.daemonReceives && !l.spinWaiting) // it is open as long as the listener is registered
	if err == nil {
		l.readySignalBroken = false
		return
	}
	if !l.readySignalBroken {
		l.readySignalBroken = true
		k.log.Error("polling for executions: the kernel does not report them", "session", l.id, "err", err)
		k.retryReadySignal(l)
	}
}

// retryReadySignal retries setReadySignalLocked after readySignalRetry, and makes the listener check for executions meanwhile.
func (k *Keeper) retryReadySignal(l *listener) {
	time.AfterFunc(readySignalRetry, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.listeners[l.sessionRun] != l || !l.readySignalBroken {
			return
		}
		k.setReadySignalLocked(l)
		if l.readySignal.Wake(); l.readySignalBroken {
			k.retryReadySignal(l)
		}
	})
}

// readySignalRetry bounds how long an execution waits if its bell is broken; otherwise it would wait forever.
const readySignalRetry = 100 * time.Millisecond

// setSpinWaiting records whether the listener's goroutine waits at the listener itself. It returns the recorded state, which is
// false if a daemon can receive executions.
func (k *Keeper) setSpinWaiting(l *listener, yes bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	yes = yes && !l.daemonCanReceive
	if l.spinWaiting != yes {
		l.spinWaiting = yes
		k.setReadySignalLocked(l)
	}
	return yes
}

// resumeReceivingLocked makes the keeper receive executions again after the daemon has exited, including those that the
// daemon had received.
func (k *Keeper) resumeReceivingLocked() {
	for _, l := range k.listeners {
		l.daemonCanReceive = false
		if l.inbox == nil {
			continue
		}
		l.daemonReceives, l.drainInbox = false, true
		l.inbox.Grant(0)
		k.setReadySignalLocked(l)
		l.wakeLocked()
	}
}

// wakeLocked makes the goroutine of this listener check its state now, instead of at the next execution.
func (l *listener) wakeLocked() {
	setSignal(l.answered)
	if l.readySignal != nil {
		l.readySignal.Wake()
	}
}

// drainStaleInbox takes over the inbox of a daemon that has exited.
func (k *Keeper) drainStaleInbox(l *listener, fd int) error {
	k.mu.Lock()
	in, look := l.inbox, l.drainInbox
	k.mu.Unlock()
	if !look {
		return nil
	}
	left, err := in.Pending()
	if err != nil {
		return err
	}
	k.mu.Lock()
	l.drainInbox = false
	if l.daemonReceives {
		l.inbox.Grant(l.daemonPID)
	}
	k.mu.Unlock()
	for _, n := range left {
		err = errors.Join(err, k.adoptExecution(l, in, fd, n))
	}
	return err
}

// adoptExecution takes over one execution from the inbox.
func (k *Keeper) adoptExecution(l *listener, in *notifyqueue.Queue, fd int, n sys.Notification) error {
	defer in.Clear(n.ID)
	if !sys.IsNotificationValid(fd, n.ID) {
		return nil // it was answered, or its process has ended
	}
	return k.forwardExecution(l, fd, n)
}

// deferToDaemon handles a listener where another process receives at the moment. The kernel also notifies a live
// daemon; the keeper must not wait in the kernel for a dead or stopped one.
func (k *Keeper) deferToDaemon(l *listener) error {
	k.mu.Lock()
	handed := l.daemonReceives
	k.mu.Unlock()
	if !handed {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// handleExecutionReceiver handles a daemon's request to receive, or to leave, executions.
func handleExecutionReceiver(k *Keeper, c *conn, m *wire.ExecutionReceiver, _ []*os.File) error {
	k.freezeMu.RLock()
	l, err := k.setReceiver(c, m)
	k.freezeMu.RUnlock()
	if l != nil {
		go k.adoptLeftExecution(l, c, m) // a process's memory can be a file whose server hangs
	}
	return err
}

// adoptLeftExecution takes over an execution that a daemon leaves to the keeper. If that daemon has exited, its executions
// are taken over together.
func (k *Keeper) adoptLeftExecution(l *listener, c *conn, m *wire.ExecutionReceiver) {
	defer l.users.Done()
	k.freezeMu.RLock()
	defer k.freezeMu.RUnlock()
	k.mu.Lock()
	lost := k.supervisor.conn != c
	k.mu.Unlock()
	if lost {
		return
	}
	raw, err := l.file.SyscallConn()
	if err == nil {
		err = sys.Control(raw, func(fd int) error {
			if n, ok := l.inbox.Find(m.Number); ok {
				return k.adoptExecution(l, l.inbox, fd, n)
			}
			return nil
		})
	}
	if err != nil {
		k.log.Error("take an execution over", "session", m.ID, "err", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.waiting[m.Number] == nil { // answered meanwhile, or unknown
		c.send(&wire.ExecutionEnded{ID: m.ID, Run: m.Run, Number: m.Number})
	}
}

// setReceiver handles a daemon's request. It returns the listener, in use, if the daemon leaves an execution to the
// keeper.
func (k *Keeper) setReceiver(c *conn, m *wire.ExecutionReceiver) (*listener, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.listeners[sessionRun{m.ID, m.Run}]
	switch {
	case l == nil || k.supervisor.conn != c:
	case m.Inbox:
		return nil, k.sendInboxLocked(c, l)
	case l.inbox == nil:
	case m.Number != 0:
		l.users.Add(1)
		return l, nil
	default:
		l.daemonReceives, l.daemonPID = m.Daemon && k.supervisor.ready, int(c.pid)
		l.daemonCanReceive = l.daemonCanReceive || l.daemonReceives
		switch {
		case !l.daemonReceives:
			l.inbox.Grant(0)
		case !l.drainInbox: // otherwise once the executions of the daemon before are known
			l.inbox.Grant(l.daemonPID)
		}
		k.setReadySignalLocked(l)
	}
	return nil, nil
}

// sendInboxLocked sends a daemon the inbox that it needs to receive executions; without an inbox it does not receive.
func (k *Keeper) sendInboxLocked(c *conn, l *listener) error {
	if l.inbox == nil {
		in, err := notifyqueue.New()
		if err != nil {
			k.log.Warn("an inbox of executions", "session", l.id, "err", err)
			return nil
		}
		l.receiveMu.Lock()
		l.inbox = in
		l.receiveMu.Unlock()
	}
	if err := c.sendFiles(&wire.ExecutionInbox{ID: l.id, Run: l.number}, l.inbox.File()); err != nil {
		k.log.Warn("hand an inbox to the daemon", "session", l.id, "err", err)
	}
	return nil
}
