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

// outbox is what was typed and is not known to have arrived. It is typed again where the connection was lost, under
// numbers by which it is typed once, whichever daemon comes next. Its fields are guarded by the attachment's mutex, which
// those methods lock that are given it.
type outbox struct {
	is    attach.Resume
	most  int      // messages that may be on their way
	typed [][]byte // since is.Typed, in order
	tells bool     // the daemon tells what it took
	kept  []byte   // typed while there was no connection, or enough was on its way
	// refused says that there was more while there was no connection: what comes behind it is not for the session either.
	refused bool
	dropped int // bytes that were refused
	acked   chan struct{}
	since   time.Time // when there was last nothing on its way, or something of it arrived
}

const (
	// maxTyped is how many messages may be on their way to another host; an older daemon remembers 64, of all clients.
	maxTyped = 48
	// maxTypedHere is the same for the daemon of this host, which tells late what it took.
	maxTypedHere = 4096
	// maxKept bounds what is typed while there is no connection, in bytes.
	maxKept = 4096
)

// newOutbox is for a session that is attached from here on; the key is one that no other client has; empty: a new one is made.
func newOutbox(host, key string) *outbox {
	if key == "" {
		key = uuid.NewString()
	}
	o := &outbox{is: attach.Resume{Key: key}, most: maxTyped, acked: make(chan struct{}, 1)}
	if host == "" {
		o.is.Late, o.most = true, maxTypedHere
	}
	return o
}

func (o *outbox) resume(mu *sync.Mutex) attach.Resume {
	mu.Lock()
	defer mu.Unlock()
	return o.is
}

// many says that nothing more may be on its way. A daemon of this host that tells nothing is so old that it never will.
func (o *outbox) many() bool { return len(o.typed) >= o.most && (o.tells || !o.is.Late) }

// waits says that what is typed now has to wait: enough is on its way, or what waits already comes first.
func (o *outbox) waits() bool { return o.many() || len(o.kept) > 0 }

// waiting says whether what is typed has to wait, and whether no more of it can.
func (o *outbox) waiting(mu *sync.Mutex) (waits, full bool) {
	mu.Lock()
	defer mu.Unlock()
	return o.waits(), len(o.kept) >= maxKept
}

// underway says that something typed is not known to have arrived.
func (o *outbox) underway(mu *sync.Mutex) bool {
	mu.Lock()
	defer mu.Unlock()
	return len(o.typed) > 0
}

// note keeps what is typed until it has arrived, and returns its number, from 1.
func (o *outbox) note(b []byte) (n uint64) {
	if len(o.typed) == 0 {
		o.since = time.Now()
	}
	o.typed = append(o.typed, slices.Clone(b))
	n = o.is.Typed + uint64(len(o.typed))
	if len(o.typed) > o.most && !o.many() {
		o.typed, o.is.Typed = o.typed[1:], o.is.Typed+1
	}
	return n
}

// again types what may not have arrived, and what was kept.
func (o *outbox) again(st *client.Stream) error {
	o.refused = false
	for _, b := range o.typed {
		if err := st.Type(b); err != nil {
			return err
		}
	}
	return o.catchUp(st)
}

// catchUp types what was kept, once there is room for it.
func (o *outbox) catchUp(st *client.Stream) error {
	if len(o.kept) == 0 || o.many() {
		return nil
	}
	b := o.kept
	o.kept = nil
	o.note(b)
	return st.Type(b)
}

// told takes what the daemon says of how many messages it has taken.
func (o *outbox) told(mu *sync.Mutex, taken uint64) {
	mu.Lock()
	defer mu.Unlock()
	if taken <= o.is.Typed {
		return
	}
	o.tells = true
	n := min(taken-o.is.Typed, uint64(len(o.typed)))
	o.typed, o.is.Typed, o.since = o.typed[n:], taken, time.Now()
	select {
	case o.acked <- struct{}{}:
	default:
	}
}
