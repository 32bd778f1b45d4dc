//go:build unix

package viewsource

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/render/view/panes"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
)

// Watch opens a stream that finds its session again after a restart of the daemon.
func (v source) Watch(ctx context.Context, id string, cols, rows int) panes.Stream {
	ctx, cancel := context.WithCancel(ctx)
	w := &watched{
		s: v.c.Session(id), reach: v.reach, sizeBy: v.sizes.first(id), mute: v.sizes.none(), cancel: cancel, frames: make(chan panes.Frame), wake: make(chan struct{}, 1),
		size: attach.Act{Cols: cols, Rows: rows},
	}
	if v.at != "" {
		w.queue.resume.Key = uuid.NewString()
	}
	go w.run(ctx)
	return w
}

// maxFlying is how many acts may be on their way to another host; an older daemon there remembers 64, of all clients.
const maxFlying = 48

// queue is what is to be done in a session, in order. What goes to another host is kept until that has said that it was
// taken, and sent again on the next connection, under numbers by which it is done once.
type queue struct {
	resume attach.Resume // without a key: what was sent was taken
	acts   []attach.Act
	flying int  // of acts, from the beginning: they were sent
	older  bool // the daemon does not say what was taken, nor keeps what is sent again from being done twice
}

func (q *queue) add(a attach.Act) {
	if len(q.acts) < maxActs {
		q.acts = append(q.acts, a)
	}
}

// next is what is to be sent next.
func (q *queue) next() (attach.Act, bool) {
	if q.flying >= len(q.acts) || q.flying >= maxFlying {
		return attach.Act{}, false
	}
	return q.acts[q.flying], true
}

// sent takes notice that it was sent.
func (q *queue) sent() {
	if q.resume.Key != "" && !q.older && q.acts[q.flying].Types() {
		q.flying++
		return
	}
	q.acts = slices.Delete(q.acts, q.flying, q.flying+1)
}

// told takes what the daemon says of how many acts were taken; nil: it does not say, being older.
func (q *queue) told(taken *uint64) {
	n := q.flying
	if q.older = taken == nil; taken != nil {
		n = int(min(*taken-min(*taken, q.resume.Typed), uint64(n)))
	}
	q.acts, q.flying = q.acts[n:], q.flying-n
	q.resume.Typed += uint64(n)
}

// again begins anew on another connection.
func (q *queue) again() attach.Resume {
	q.flying, q.older = 0, false
	return q.resume
}

// maxActs bounds what is typed into a session whose daemon is away.
const maxActs = 10_000

// watched is a session the viewer shows. What is done while the daemon is away waits
// for it, in order.
type watched struct {
	s      *client.Session
	reach  *reach
	cancel context.CancelFunc
	sizeBy string // whose size the session shall take; empty: as it is
	mute   bool   // the viewer has no say in sizes
	frames chan panes.Frame
	wake   chan struct{}

	mu    sync.Mutex // guards the fields below
	queue queue
	size  attach.Act // the newest
}

func (w *watched) Frames() <-chan panes.Frame { return w.frames }

func (w *watched) Close() { w.cancel() }

func (w *watched) Resize(cols, rows int) {
	size := attach.Act{Cols: cols, Rows: rows}
	w.mu.Lock()
	w.size = size
	w.mu.Unlock()
	w.act(size) // one of 0×0 does nothing but wake up
}

func (w *watched) Act(in panes.Input) {
	w.act(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus})
}

// Picture asks for an image that was shown.
func (w *watched) Picture(key string) { w.act(attach.Act{Picture: key}) }

// act queues; the viewer must not wait for a daemon.
func (w *watched) act(a attach.Act) {
	w.mu.Lock()
	w.queue.add(a)
	w.mu.Unlock()
	w.rouse()
}

// rouse has what waits be sent.
func (w *watched) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next is the oldest act that was not sent; sent notes that it was.
func (w *watched) next() (attach.Act, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.next()
}

func (w *watched) sent() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue.sent()
}

func (w *watched) run(ctx context.Context) {
	defer close(w.frames)
	for ctx.Err() == nil {
		w.mu.Lock()
		size := w.size
		o := client.StreamOptions{Cols: size.Cols, Rows: size.Rows, Size: w.sizeBy, Resume: w.queue.again(), Blocks: true, Pictures: true}
		w.mu.Unlock()
		if w.mute {
			o.Size = "none"
		}
		st, err := w.s.Watch(ctx, o)
		if err == nil {
			w.sizeBy = ""
			w.converse(ctx, st, size.Cols > 0)
			_ = st.Close()
		}
		if !w.changedSay(size.Cols > 0) {
			w.reach.await(ctx)
		}
	}
}

// changedSay reports that the viewer wants a say in the session's size and has none, or
// the reverse: that takes another stream.
func (w *watched) changedSay(had bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return had != (w.size.Cols > 0)
}

func (w *watched) converse(ctx context.Context, st *client.Stream, say bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		defer cancel()
		w.show(ctx, st)
	}()
	defer func() { // the stream's frames end before the next one's begin
		cancel()
		_ = st.Close()
		<-shown
	}()
	for {
		for a, ok := w.next(); ok; a, ok = w.next() {
			if w.changedSay(say) {
				return
			}
			if st.Act(a) != nil {
				return
			}
			w.sent()
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

func (w *watched) show(ctx context.Context, st *client.Stream) {
	for {
		f, err := st.NextFrame()
		if err != nil {
			return
		}
		shown := panes.Frame{Screen: &f.Screen, Modes: f.Modes, Held: f.Held}
		if f.Picture != nil {
			shown = panes.Frame{Picture: &panes.Picture{Key: f.Picture.Key, PNG: f.Picture.PNG}}
			select {
			case w.frames <- shown:
				continue
			case <-ctx.Done():
				return
			}
		}
		w.mu.Lock()
		w.queue.told(f.Taken)
		w.mu.Unlock()
		w.rouse()
		select {
		case w.frames <- shown:
		case <-ctx.Done():
			return
		}
	}
}
