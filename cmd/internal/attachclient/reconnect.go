//go:build unix

package attachclient

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/session/attach"
)

// reconnector holds the state for reconnects to a remote host, besides unacknowledged input (outbox): the offset up to
// which the terminal shows output. Its fields are guarded by the attachment's mutex; methods with a mutex parameter
// lock it.
type reconnector struct {
	host   string
	out    *outbox
	next   uint64        // output offset after the next drawing
	filter attach.Filter // tracks whether the output is inside an escape sequence
	buf    []byte        // scratch buffer of filter
	lost   bool          // no connection exists
	// within reports that the terminal is inside an escape sequence or a multi-byte character.
	inSequence bool
	noticedAt  time.Time     // time of the last notice to the user
	backoff    time.Duration // current backoff between reconnect attempts
	// silent reports that the user was notified of missing acknowledgements; patience is how long to wait before that
	// notice.
	silenceShown bool
	silenceLimit time.Duration
}

// minBackoff and maxBackoff are the minimum and maximum backoff between reconnect attempts.
const minBackoff, maxBackoff = 20 * time.Millisecond, 500 * time.Millisecond

// newReconnector returns the reconnect state for a host.
func newReconnector(host string, out *outbox) *reconnector {
	return &reconnector{host: host, out: out, backoff: minBackoff, silenceLimit: answerTime}
}

// reset resets the state after a reconnect.
func (f *reconnector) reset() {
	f.backoff, f.noticedAt, f.lost, f.silenceShown = minBackoff, time.Time{}, false, false
}

// answerTime is how long input may stay unacknowledged before the user is notified: a dead connection is not detected
// at once. settleTime limits how long detaching waits for acknowledgements.
const answerTime, settleTime = 3 * time.Second, time.Second

// ackTimer returns a channel that ticks when acknowledgements should be checked, and a function that stops it.
func (f *reconnector) ackTimer() (tick <-chan time.Time, stop func()) {
	if f == nil {
		return nil, func() {}
	}
	t := time.NewTicker(f.silenceLimit / 3)
	return t.C, t.Stop
}

// checkAcks notifies the user if input has been unacknowledged for too long.
func (at *attachment) checkAcks() {
	at.mu.Lock()
	f := at.reconnector
	silent := len(f.out.unacked) > 0 && time.Since(f.out.ackedAt) > f.silenceLimit
	f.silenceShown = f.silenceShown || silent
	at.mu.Unlock()
	if silent {
		at.showNotice()
	}
}

// hasResumed reports whether acknowledgements have resumed and the notice on the screen must be erased. A notice in the
// title may stay.
func (at *attachment) hasResumed() bool {
	at.mu.Lock()
	defer at.mu.Unlock()
	f := at.reconnector
	if f == nil || !f.silenceShown || len(f.out.unacked) > 0 {
		return false
	}
	f.silenceShown = false
	return !at.Scrollback
}

// awaitAcks waits up to settleTime for acknowledgements when the user detaches. Input without one counts as not sent.
func (at *attachment) awaitAcks(drawn chan error) {
	if at.reconnector == nil {
		return
	}
	over := time.NewTimer(settleTime)
	defer over.Stop()
	for at.out.hasUnacked(&at.mu) {
		select {
		case <-at.out.acked:
			continue
		case why := <-drawn:
			drawn <- why
		case <-over.C:
		}
		at.reconnector.markLost(&at.mu)
		return
	}
}

// noteOffset records the output offset of the next drawing.
func (f *reconnector) noteOffset(mu *sync.Mutex, i *attach.Info) {
	mu.Lock()
	defer mu.Unlock()
	if f.next = i.Next; i.Next == 0 {
		f.next = i.Offset
	}
}

// drawn records that b was drawn on the terminal.
func (f *reconnector) drawn(mu *sync.Mutex, b []byte) {
	mu.Lock()
	defer mu.Unlock()
	f.out.resumeAt.From = f.next
	f.buf = f.filter.Append(f.buf[:0], b)
	f.inSequence = !f.filter.IsBetweenSequences() || len(b) > 0 && b[len(b)-1] >= 0x80
}

// markLost records that the connection was lost.
func (f *reconnector) markLost(mu *sync.Mutex) {
	mu.Lock()
	defer mu.Unlock()
	f.lost = true
}

// unsent returns the number of typed bytes that have not reached the session, or may have been lost.
func (f *reconnector) unsent(mu *sync.Mutex) (bytes int) {
	if f == nil {
		return 0
	}
	mu.Lock()
	defer mu.Unlock()
	if f.lost {
		for _, b := range f.out.unacked {
			bytes += len(b)
		}
	}
	return bytes + len(f.out.queued) + f.out.rejectedBytes
}

// waitReconnect waits for the next reconnect attempt and buffers input during that time. The user can still detach.
func (at *attachment) waitReconnect(ctx context.Context) error {
	f := at.reconnector
	f.markLost(&at.mu)
	at.echo.clear()
	if time.Since(f.noticedAt) > time.Second {
		f.noticedAt = time.Now()
		at.showNotice()
	}
	timer := time.NewTimer(f.backoff)
	defer timer.Stop()
	f.backoff = min(2*f.backoff, maxBackoff)
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
			if err := at.keep(in, maxQueued); err != nil {
				return err
			}
			at.showNotice()
		}
	}
}

// keep buffers input until it can be sent, up to a limit. The detach key still works; switching sessions does not.
func (at *attachment) keep(in []byte, most int) error {
	at.mu.Lock()
	defer at.mu.Unlock()
	at.queuedReads--
	for o := at.out; len(in) > 0; {
		out, do, rest := at.Chords.Feed(in)
		if do == attach.Detach {
			return errDetached
		}
		if o.rejecting = o.rejecting || len(o.queued)+len(out) > most; o.rejecting {
			o.rejectedBytes += len(out)
		} else {
			o.queued = append(o.queued, out...)
		}
		in = rest
	}
	return nil
}

// showNotice notifies the user of the lost connection: on the last row, which the next drawing covers, or in the title with
// --scrollback.
func (at *attachment) showNotice() {
	at.mu.Lock()
	defer at.mu.Unlock()
	f := at.reconnector
	keys := "keys are kept"
	switch n := len(f.out.queued); {
	case f.out.rejecting:
		keys = "keys rejected (buffer full)"
	case n > 0:
		keys = fmt.Sprintf("%d bytes of keys kept", n)
	}
	state := "connection lost, retrying"
	if !f.lost {
		state, keys = fmt.Sprintf("no answer for %d s", int(time.Since(f.out.ackedAt).Seconds())), "what is typed waits"
	}
	text := fmt.Sprintf(" %s: %s; %s; the detach key leaves ", f.host, state, keys)
	if at.Scrollback {
		if !f.inSequence {
			_ = at.t.Draw([]byte("\x1b]2;" + text + "\x1b\\"))
		}
		return
	}
	cols, rows := at.t.Size()
	// CAN and ST end what the connection may have been lost in.
	_ = at.t.Draw(fmt.Appendf(nil, "\x18\x1b\\\x1b7\x1b[%d;1H\x1b[0;7m%s\x1b[0m\x1b[K\x1b8", rows, statusbar.Cut(text, cols)))
}
