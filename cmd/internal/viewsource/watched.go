//go:build unix

package viewsource

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Watch opens a stream that finds its session again after a restart of the daemon.
func (v source) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	ctx, cancel := context.WithCancel(ctx)
	w := &watched{
		s: v.c.Session(id), reach: v.reach, useAllProcessors: v.useAllProcessors, sizeBy: v.sizes.first(id), ignoresSize: v.sizes.ignoresSize(), cancel: cancel, frames: make(chan panes.Frame), wake: make(chan struct{}, 1), progressed: make(chan struct{}, 1),
		size: attach.Act{Cols: cols, Rows: rows}, queue: newQueue(v.host == ""),
	}
	go w.run(ctx)
	return w
}

const (
	// maxUnackedRemote limits unacknowledged acts of a remote session. An older daemon remembers 64 of all clients.
	maxUnackedRemote = 48
	// maxUnackedLocal is the limit for this host's daemon, which acknowledges late.
	maxUnackedLocal = 4096
)

// queue holds a session's pending input in order. An act stays until the daemon acknowledges it. After a lost
// connection it is sent again under the same number, so the daemon applies it once.
type queue struct {
	resume        attach.Resume
	limit         int // limit of unacknowledged acts
	acts          []attach.Act
	sent          int  // number of acts, from the first one, that were sent
	typing        int  // number of acts that type
	noAcks        bool // the daemon sends no acknowledgements and does not detect duplicates
	connected     bool // a connection exists
	rejectedBytes int  // typed bytes that were rejected because the queue was full
}

// newQueue returns a queue for a session of this host or of a remote one.
func newQueue(here bool) queue {
	q := queue{resume: attach.Resume{Key: uuid.NewString(), AcksLate: here}, limit: maxUnackedRemote}
	if here {
		q.limit = maxUnackedLocal
	}
	return q
}

// add queues an act. It returns its number among the acts that type, from 1, or 0 if its acknowledgement never comes or
// comes late.
func (q *queue) add(a attach.Act) (n uint64) {
	if most := map[bool]int{false: maxWaiting, true: maxActs}[q.connected]; len(q.acts) >= most {
		q.rejectedBytes += typedBytes(&a)
		return 0
	}
	if q.acts = append(q.acts, a); !a.IsInput() {
		return 0
	}
	if q.typing++; q.resume.AcksLate || q.noAcks || !q.connected {
		return 0
	}
	return q.resume.Acknowledged + uint64(q.typing)
}

// typedBytes returns about how many bytes the user typed; the daemon determines the exact encoding.
func typedBytes(a *attach.Act) int {
	switch {
	case a.Key != nil:
		return len(input.AppendKey(nil, *a.Key, &vterm.Modes{}))
	case a.Paste != nil:
		return len(*a.Paste)
	}
	return len(a.Text)
}

// unsent returns how many typed bytes have not reached the session, or may have been lost with the connection.
func (q *queue) unsent() (bytes int) {
	from := 0
	if q.connected {
		from = q.sent
	}
	for i := range q.acts[from:] {
		bytes += typedBytes(&q.acts[from+i])
	}
	return q.rejectedBytes + bytes
}

// next returns the next act to send.
func (q *queue) next() (attach.Act, bool) {
	if q.sent >= len(q.acts) || q.sent >= q.limit {
		return attach.Act{}, false
	}
	return q.acts[q.sent], true
}

// onSent records that the next act was sent.
func (q *queue) onSent() {
	if !q.noAcks && q.acts[q.sent].IsInput() {
		q.sent++
		return
	}
	if q.acts[q.sent].IsInput() {
		q.typing--
	}
	q.acts = slices.Delete(q.acts, q.sent, q.sent+1)
}

// acknowledge handles an acknowledgement: the number of applied actions. nil means an older daemon without acknowledgements.
func (q *queue) acknowledge(taken *uint64) {
	n := q.sent
	if q.noAcks = taken == nil; taken != nil {
		n = int(min(*taken-min(*taken, q.resume.Acknowledged), uint64(n)))
	}
	q.acts, q.sent, q.typing = q.acts[n:], q.sent-n, q.typing-n
	q.resume.Acknowledged += uint64(n)
}

// resumeState prepares the queue for a new connection.
func (q *queue) resumeState() attach.Resume {
	q.sent, q.noAcks = 0, false
	return q.resume
}

const (
	// maxWaiting limits the input that is queued while the daemon is unreachable, in acts.
	maxWaiting = 10_000
	// maxActs limits what is queued while connected. A paste into a terminal without bracketed paste arrives key by
	// key, faster than it is sent.
	maxActs = 500_000
)

// watched is the stream of a session that the viewer shows. Input is queued in order while the daemon is unreachable.
type watched struct {
	s                *client.Session
	reach            *reachability
	cancel           context.CancelFunc
	sizeBy           string // requested size policy of the session; empty: unchanged
	ignoresSize      bool   // the viewer has no influence on sizes
	useAllProcessors func() // see Tune; nil: not needed
	frames           chan panes.Frame
	wake             chan struct{}
	progressed       chan struct{} // receives a value when something was sent, or cannot be

	mu    sync.Mutex // guards the fields below
	queue queue
	size  attach.Act // newest size
}

func (w *watched) Frames() <-chan panes.Frame { return w.frames }

// Close waits up to partingTime until queued input was sent, and returns the number of unsent bytes.
func (w *watched) Close() (unsent int) {
	late := time.NewTimer(partingTime)
	defer late.Stop()
	for waits := true; waits && w.canSend(); {
		select {
		case <-w.progressed:
		case <-late.C:
			waits = false
		}
	}
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.unsent()
}

// partingTime is how long Close waits for queued input to be sent.
const partingTime = 100 * time.Millisecond

// canSend reports whether input is queued and a connection exists.
func (w *watched) canSend() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.connected && w.queue.unsent() > w.queue.rejectedBytes
}

func (w *watched) Resize(cols, rows int) {
	size := attach.Act{Cols: cols, Rows: rows}
	w.mu.Lock()
	w.size = size
	w.mu.Unlock()
	w.enqueue(size) // one of 0×0 does nothing but wake up
}

// SendInput queues input of the user.
func (w *watched) SendInput(in panes.Input) (n uint64) {
	return w.enqueue(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus, Outer: in.Outer})
}

// Picture requests an image of a frame.
func (w *watched) Picture(key string) { w.enqueue(attach.Act{Picture: key}) }

// enqueue queues input. It does not wait for the daemon.
func (w *watched) enqueue(a attach.Act) (n uint64) {
	w.mu.Lock()
	n = w.queue.add(a)
	w.mu.Unlock()
	w.wakeSender()
	return n
}

// setConnected records whether a connection exists.
func (w *watched) setConnected(is bool) {
	w.mu.Lock()
	w.queue.connected = is
	w.mu.Unlock()
	w.wakeWaiters()
}

// wakeSender wakes the sender.
func (w *watched) wakeSender() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next returns the oldest unsent act; onSent marks it as sent.
func (w *watched) next() (attach.Act, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.next()
}

func (w *watched) onSent() {
	w.mu.Lock()
	w.queue.onSent()
	w.mu.Unlock()
	w.wakeWaiters()
}

// wakeWaiters wakes goroutines that wait for the queue to drain.
func (w *watched) wakeWaiters() {
	select {
	case w.progressed <- struct{}{}:
	default:
	}
}

func (w *watched) run(ctx context.Context) {
	defer close(w.frames)
	for ctx.Err() == nil {
		w.mu.Lock()
		size := w.size
		o := client.StreamOptions{Cols: size.Cols, Rows: size.Rows, Size: w.sizeBy, Resume: w.queue.resumeState(), Blocks: true, Pictures: true}
		w.mu.Unlock()
		if w.ignoresSize {
			o.Size = "none"
		}
		st, err := w.s.Watch(ctx, o)
		if err == nil {
			w.sizeBy = ""
			w.setConnected(true)
			w.converse(ctx, st, size.Cols > 0)
			w.setConnected(false)
			_ = st.Close()
			w.deliver(ctx, panes.Frame{Reconnecting: true})
		}
		if !w.sizeInfluenceChanged(size.Cols > 0) {
			w.reach.await(ctx)
		}
	}
}

// sizeInfluenceChanged reports whether the viewer's influence on the session's size has changed. A change requires a new stream.
func (w *watched) sizeInfluenceChanged(had bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return had != (w.size.Cols > 0)
}

// converse sends queued acts and receives frames until the stream ends.
func (w *watched) converse(ctx context.Context, st *client.Stream, say bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		defer cancel()
		w.show(ctx, st)
	}()
	defer func() { // frames of this stream end before the next stream's start
		cancel()
		_ = st.Close()
		<-shown
	}()
	for {
		for a, ok := w.next(); ok; a, ok = w.next() {
			if w.sizeInfluenceChanged(say) {
				return
			}
			if st.Act(a) != nil {
				return
			}
			w.onSent()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

// show receives frames until the stream ends.
func (w *watched) show(ctx context.Context, st *client.Stream) {
	for {
		f, err := st.NextFrame()
		if err != nil {
			return
		}
		shown := panes.Frame{Screen: &f.Screen, Modes: f.Modes, InputRejected: f.IsViewOnly, Effects: effectsOf(f.Effects)}
		if f.Picture != nil {
			if w.useAllProcessors != nil { // to be decoded and drawn, which takes long
				w.useAllProcessors()
			}
			shown = panes.Frame{Picture: &panes.Picture{Key: f.Picture.Key, PNG: f.Picture.PNG}}
		} else {
			w.mu.Lock()
			w.queue.acknowledge(f.Accepted)
			shown.Acked = w.queue.resume.Acknowledged
			w.mu.Unlock()
			w.wakeSender()
		}
		if !w.deliver(ctx, shown) {
			return
		}
	}
}

// deliver passes a frame to the viewer. It returns false if ctx ended.
func (w *watched) deliver(ctx context.Context, f panes.Frame) bool {
	select {
	case w.frames <- f:
		return true
	case <-ctx.Done():
		return false
	}
}

var effectKinds = map[string]panes.EffectKind{
	attach.EffectBell: panes.EffectBell, attach.EffectNotify: panes.EffectNotify, attach.EffectClipboard: panes.EffectClipboard,
}

// effectsOf converts effects for the viewer, without the kinds that it does not know.
func effectsOf(list []attach.Effect) (known []panes.Effect) {
	for _, e := range list {
		if kind, ok := effectKinds[e.Kind]; ok {
			known = append(known, panes.Effect{Kind: kind, Title: e.Title, Text: e.Text})
		}
	}
	return known
}
