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
	kept   []byte // typed while there was no connection
	// refused says that there was more.
	refused bool
	acked   chan struct{}
	out     []byte
	// within says that the terminal is within a sequence, or a character.
	within bool
	shown  time.Time // when the person was told last
	pause  time.Duration
}

const (
	// maxTyped is how many messages may be on their way; the daemon remembers 64.
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

func (f *far) full(mu *sync.Mutex) bool {
	mu.Lock()
	defer mu.Unlock()
	return f.many()
}

// note keeps what is typed until it has arrived.
func (f *far) note(b []byte) { f.typed = append(f.typed, slices.Clone(b)) }

// again types what may not have arrived, and what was kept.
func (f *far) again(st *client.Stream) error {
	f.pause, f.shown = firstAway, time.Time{}
	for _, b := range f.typed {
		if err := st.Type(b); err != nil {
			return err
		}
	}
	if len(f.kept) == 0 {
		return nil
	}
	f.note(f.kept)
	err := st.Type(f.kept)
	f.kept, f.refused = nil, false
	return err
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

// away waits a moment while there is no connection, and keeps what is typed. Leaving goes on as ever.
func (at *attachment) away(ctx context.Context) error {
	f := at.far
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
			out, do, _ := at.Chords.Feed(in)
			if do == attach.Detach {
				return errDetached
			}
			at.mu.Lock()
			at.passing--
			if f.refused = len(f.kept)+len(out) > maxKept; !f.refused {
				f.kept = append(f.kept, out...)
			}
			at.mu.Unlock()
			at.say()
		}
	}
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
