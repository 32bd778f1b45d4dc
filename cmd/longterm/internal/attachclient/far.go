//go:build unix

package attachclient

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// far is how an attached client goes on where its connection to another host was lost: what was typed and is not
// known to have arrived is typed again, under numbers by which the daemon types it once; what the terminal shows is
// known by its offset. Its fields are guarded by the attachment's mutex, which those methods lock that are given it.
type far struct {
	host   string
	is     attach.Resume
	typed  [][]byte // since is.Typed, in order
	next   uint64   // offset behind the drawing that comes
	filter attach.Filter
	kept   []byte // typed while there was no connection, or enough was on its way
	// refused says that there was more while there was no connection: what comes behind it is not for the session either.
	refused bool
	dropped int  // bytes that were refused
	lost    bool // there is no connection
	acked   chan struct{}
	out     []byte
	// within says that the terminal is within a sequence, or a character.
	within bool
	shown  time.Time // when the person was told last
	pause  time.Duration
}

const (
	// maxTyped is how many messages may be on their way; an older daemon remembers 64, of all clients.
	maxTyped = 48
	// maxKept bounds what is typed while there is no connection, in bytes.
	maxKept = 4096
	// Pauses between tries grow from the first to the last.
	firstAway, lastAway = 20 * time.Millisecond, 500 * time.Millisecond
)

func newFar(host string) *far {
	return &far{host: host, is: attach.Resume{Key: uuid.NewString()}, acked: make(chan struct{}, 1), pause: firstAway}
}

func (f *far) resume(mu *sync.Mutex) attach.Resume {
	mu.Lock()
	defer mu.Unlock()
	return f.is
}

func (f *far) many() bool { return len(f.typed) >= maxTyped }

// waits says that what is typed now has to wait: enough is on its way, or what waits already comes first.
func (f *far) waits() bool { return f.many() || len(f.kept) > 0 }

// waiting says whether what is typed has to wait, and whether no more of it can.
func (f *far) waiting(mu *sync.Mutex) (waits, full bool) {
	mu.Lock()
	defer mu.Unlock()
	return f.waits(), len(f.kept) >= maxKept
}

// note keeps what is typed until it has arrived.
func (f *far) note(b []byte) { f.typed = append(f.typed, slices.Clone(b)) }

// again types what may not have arrived, and what was kept.
func (f *far) again(st *client.Stream) error {
	f.pause, f.shown, f.refused, f.lost = firstAway, time.Time{}, false, false
	for _, b := range f.typed {
		if err := st.Type(b); err != nil {
			return err
		}
	}
	return f.catchUp(st)
}

// catchUp types what was kept, once there is room for it.
func (f *far) catchUp(st *client.Stream) error {
	if len(f.kept) == 0 || f.many() {
		return nil
	}
	b := f.kept
	f.kept = nil
	f.note(b)
	return st.Type(b)
}

// told takes what the daemon says of how far it is.
func (f *far) told(mu *sync.Mutex, i *attach.Info) {
	mu.Lock()
	defer mu.Unlock()
	if f.next = i.Next; i.Next == 0 {
		f.next = i.Offset
	}
	if i.Taken <= f.is.Typed {
		return
	}
	n := min(i.Taken-f.is.Typed, uint64(len(f.typed)))
	f.typed, f.is.Typed = f.typed[n:], i.Taken
	select {
	case f.acked <- struct{}{}:
	default:
	}
}

// drawn notes what the terminal shows.
func (f *far) drawn(mu *sync.Mutex, b []byte) {
	mu.Lock()
	defer mu.Unlock()
	f.is.From = f.next
	f.out = f.filter.Append(f.out[:0], b)
	f.within = !f.filter.Between() || len(b) > 0 && b[len(b)-1] >= 0x80
}

// gone notes that there is no connection.
func (f *far) gone(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	f.lost = true
}

// unsent is how many bytes were typed that did not reach the session, or are not known to have; nil: all did.
func (f *far) unsent(mu *sync.Mutex) (bytes int) {
	if f == nil {
		return 0
	}
	mu.Lock()
	defer mu.Unlock()
	if f.lost {
		for _, b := range f.typed {
			bytes += len(b)
		}
	}
	return bytes + len(f.kept) + f.dropped
}

// away waits a moment while there is no connection, and keeps what is typed. Leaving goes on as ever.
func (at *attachment) away(ctx context.Context) error {
	f := at.far
	f.gone(&at.mu)
	at.ahead.clear()
	if time.Since(f.shown) > time.Second {
		f.shown = time.Now()
		at.say()
	}
	timer := time.NewTimer(f.pause)
	defer timer.Stop()
	f.pause = min(2*f.pause, lastAway)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return nil
		case in, ok := <-at.keys:
			if !ok {
				return errDetached
			}
			if err := at.keep(in, maxKept); err != nil {
				return err
			}
			at.say()
		}
	}
}

// keep keeps what was read until it can be typed, unless that is too much. The key that leaves does so; there is no
// way to another session now.
func (at *attachment) keep(in []byte, most int) error {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.passing--
	for f := at.far; len(in) > 0; {
		out, do, rest := at.Chords.Feed(in)
		if do == attach.Detach {
			return errDetached
		}
		if f.refused = f.refused || len(f.kept)+len(out) > most; f.refused {
			f.dropped += len(out)
		} else {
			f.kept = append(f.kept, out...)
		}
		in = rest
	}
	return nil
}

// say tells the person that there is no connection: on the last row, which the next drawing covers, or in the title
// where the terminal keeps what it shows.
func (at *attachment) say() {
	at.mu.Lock()
	defer at.mu.Unlock()
	f := at.far
	keys := "keys are kept"
	switch n := len(f.kept); {
	case f.refused:
		keys = "no more keys are taken"
	case n > 0:
		keys = fmt.Sprintf("%d bytes of keys kept", n)
	}
	text := fmt.Sprintf(" %s: connection lost, trying again; %s; the detach key leaves ", f.host, keys)
	if at.Scrollback {
		if !f.within {
			_ = at.t.Draw([]byte("\x1b]2;" + text + "\x1b\\"))
		}
		return
	}
	cols, rows := at.t.Size()
	// CAN and ST end what the connection may have been lost in.
	_ = at.t.Draw(fmt.Appendf(nil, "\x18\x1b\\\x1b7\x1b[%d;1H\x1b[0;7m%s\x1b[0m\x1b[K\x1b8", rows, bars.Cut(text, cols)))
}
