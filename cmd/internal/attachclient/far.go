//go:build unix

package attachclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/session/attach"
)

// far is how an attached client goes on where its connection to another host was lost, besides what it typed (outbox): what
// the terminal shows is known by its offset. Its fields are guarded by the attachment's mutex, which those methods lock
// that are given it.
type far struct {
	host   string
	out    *outbox
	next   uint64 // offset behind the drawing that comes
	filter attach.Filter
	buf    []byte
	lost   bool // there is no connection
	// within says that the terminal is within a sequence, or a character.
	within bool
	shown  time.Time // when the person was told last
	pause  time.Duration
	// silent says that the person was told that nothing answers what is typed; patience is how long it may not.
	silent   bool
	patience time.Duration
}

// Pauses between tries grow from the first to the last.
const firstAway, lastAway = 20 * time.Millisecond, 500 * time.Millisecond

func newFar(host string, out *outbox) *far {
	return &far{host: host, out: out, pause: firstAway, patience: answerTime}
}

// again is called where there is a connection again.
func (f *far) again() { f.pause, f.shown, f.lost, f.silent = firstAway, time.Time{}, false, false }

// answerTime is how long what is typed may be on its way before the person is told: a connection may be dead without
// anybody knowing it yet. settleTime is how long leaving waits for it to have arrived.
const answerTime, settleTime = 3 * time.Second, time.Second

// looks is when it is to be looked whether what was typed arrived.
func (f *far) looks() (at <-chan time.Time, stop func()) {
	if f == nil {
		return nil, func() {}
	}
	t := time.NewTicker(f.patience / 3)
	return t.C, t.Stop
}

// look tells the person when nothing has answered for a while to what was typed.
func (at *attachment) look() {
	at.mu.Lock()
	f := at.far
	silent := len(f.out.typed) > 0 && time.Since(f.out.since) > f.patience
	f.silent = f.silent || silent
	at.mu.Unlock()
	if silent {
		at.say()
	}
}

// heard says that there is an answer again to what was typed, and that what the person was told meanwhile stands on the
// screen. In a title it may stay.
func (at *attachment) heard() bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	f := at.far
	if f == nil || !f.silent || len(f.out.typed) > 0 {
		return false
	}
	f.silent = false
	return !at.Scrollback
}

// settle waits a moment for what was typed to arrive, as the person leaves. What did not is counted as not sent.
func (at *attachment) settle(drawn chan error) {
	if at.far == nil {
		return
	}
	over := time.NewTimer(settleTime)
	defer over.Stop()
	for at.out.underway(&at.mu) {
		select {
		case <-at.out.acked:
			continue
		case why := <-drawn:
			drawn <- why
		case <-over.C:
		}
		at.far.gone(&at.mu)
		return
	}
}

// told takes where the terminal will be.
func (f *far) told(mu *sync.Mutex, i *attach.Info) {
	mu.Lock()
	defer mu.Unlock()
	if f.next = i.Next; i.Next == 0 {
		f.next = i.Offset
	}
}

// drawn notes what the terminal shows.
func (f *far) drawn(mu *sync.Mutex, b []byte) {
	mu.Lock()
	defer mu.Unlock()
	f.out.is.From = f.next
	f.buf = f.filter.Append(f.buf[:0], b)
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
		for _, b := range f.out.typed {
			bytes += len(b)
		}
	}
	return bytes + len(f.out.kept) + f.out.dropped
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
	for o := at.out; len(in) > 0; {
		out, do, rest := at.Chords.Feed(in)
		if do == attach.Detach {
			return errDetached
		}
		if o.refused = o.refused || len(o.kept)+len(out) > most; o.refused {
			o.dropped += len(out)
		} else {
			o.kept = append(o.kept, out...)
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
	switch n := len(f.out.kept); {
	case f.out.refused:
		keys = "no more keys are taken"
	case n > 0:
		keys = fmt.Sprintf("%d bytes of keys kept", n)
	}
	state := "connection lost, trying again"
	if !f.lost {
		state, keys = fmt.Sprintf("no answer for %d s", int(time.Since(f.out.since).Seconds())), "what is typed waits"
	}
	text := fmt.Sprintf(" %s: %s; %s; the detach key leaves ", f.host, state, keys)
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
