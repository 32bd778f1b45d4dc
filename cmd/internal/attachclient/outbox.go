//go:build unix

package attachclient

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// outbox holds typed input until the daemon acknowledges it. After a lost connection it is sent again under the same
// message numbers, so the daemon types each message once. The attachment's mutex guards its fields; methods with a
// mutex parameter lock it.
type outbox struct {
	resumeAt attach.Resume // key and number of the last acknowledged message, as sent with a reconnect
	limit    int           // limit of unacknowledged messages
	unacked  [][]byte      // unacknowledged messages after resumeAt.Typed, in order
	acks     bool          // the daemon acknowledges input
	queued   []byte        // input that waits to be sent: typed while disconnected, or beyond the limit
	// refused reports that input was rejected while disconnected. Later input is then rejected too.
	rejecting     bool
	rejectedBytes int           // bytes of rejected input
	acked         chan struct{} // receives a value with each acknowledgement
	ackedAt       time.Time     // time of the last acknowledgement, or of the first message after an idle time
}

const (
	// maxUnackedRemote limits unacknowledged messages to a remote host. An older daemon remembers 64 of all clients.
	maxUnackedRemote = 48
	// maxUnackedLocal is the limit for this host's daemon, which acknowledges late.
	maxUnackedLocal = 4096
	// maxQueued limits input typed while disconnected, in bytes.
	maxQueued = 4096
)

// newOutbox returns an outbox for a new attachment. key identifies it among all clients; empty creates a new one.
func newOutbox(host, key string) *outbox {
	if key == "" {
		key = uuid.NewString()
	}
	o := &outbox{resumeAt: attach.Resume{Key: key}, limit: maxUnackedRemote, acked: make(chan struct{}, 1)}
	if host == "" {
		o.resumeAt.AcksLate, o.limit = true, maxUnackedLocal
	}
	return o
}

// resume returns the state to send with a reconnect.
func (o *outbox) resume(mu *sync.Mutex) attach.Resume {
	mu.Lock()
	defer mu.Unlock()
	return o.resumeAt
}

// isFull reports whether too much input is unacknowledged. A daemon of this host that never acknowledged is too old to
// do so.
func (o *outbox) isFull() bool { return len(o.unacked) >= o.limit && (o.acks || !o.resumeAt.AcksLate) }

// mustWait reports whether new input must wait, because too much is unacknowledged or earlier input waits already.
func (o *outbox) mustWait() bool { return o.isFull() || len(o.queued) > 0 }

// waiting reports whether new input must wait, and whether the outbox is full.
func (o *outbox) waiting(mu *sync.Mutex) (waits, full bool) {
	mu.Lock()
	defer mu.Unlock()
	return o.mustWait(), len(o.queued) >= maxQueued
}

// hasUnacked reports whether input is unacknowledged.
func (o *outbox) hasUnacked(mu *sync.Mutex) bool {
	mu.Lock()
	defer mu.Unlock()
	return len(o.unacked) > 0
}

// note stores a message until it is acknowledged, and returns its number, from 1.
func (o *outbox) note(b []byte) (n uint64) {
	if len(o.unacked) == 0 {
		o.ackedAt = time.Now()
	}
	o.unacked = append(o.unacked, slices.Clone(b))
	n = o.resumeAt.Acknowledged + uint64(len(o.unacked))
	if len(o.unacked) > o.limit && !o.isFull() {
		o.unacked, o.resumeAt.Acknowledged = o.unacked[1:], o.resumeAt.Acknowledged+1
	}
	return n
}

// resend sends unacknowledged messages again, and then the waiting input.
func (o *outbox) resend(st *client.Stream) error {
	o.rejecting = false
	for _, b := range o.unacked {
		if err := st.Type(b); err != nil {
			return err
		}
	}
	return o.catchUp(st)
}

// catchUp sends waiting input while the limit of unacknowledged messages allows.
func (o *outbox) catchUp(st *client.Stream) error {
	if len(o.queued) == 0 || o.isFull() {
		return nil
	}
	b := o.queued
	o.queued = nil
	o.note(b)
	return st.Type(b)
}

// acknowledge handles an acknowledgement of all messages up to taken.
func (o *outbox) acknowledge(mu *sync.Mutex, taken uint64) {
	mu.Lock()
	defer mu.Unlock()
	if taken <= o.resumeAt.Acknowledged {
		return
	}
	o.acks = true
	n := min(taken-o.resumeAt.Acknowledged, uint64(len(o.unacked)))
	o.unacked, o.resumeAt.Acknowledged, o.ackedAt = o.unacked[n:], taken, time.Now()
	select {
	case o.acked <- struct{}{}:
	default:
	}
}
