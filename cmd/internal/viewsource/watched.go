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
		s: v.c.Session(id), reach: v.reach, more: v.more, sizeBy: v.sizes.first(id), mute: v.sizes.none(), cancel: cancel, frames: make(chan panes.Frame), wake: make(chan struct{}, 1), went: make(chan struct{}, 1),
		size: attach.Act{Cols: cols, Rows: rows}, queue: newQueue(v.at == ""),
	}
	go w.run(ctx)
	return w
}

const (
	// maxFlying is how many acts may be on their way to another host; an older daemon there remembers 64, of all clients.
	maxFlying = 48
	// maxFlyingHere is the same for the daemon of this host, which tells late what it took.
	maxFlyingHere = 4096
)

// queue is what is to be done in a session, in order. It is kept until the daemon has said that it was taken, and sent
// again on the next connection, under numbers by which it is done once.
type queue struct {
	resume attach.Resume
	most   int // acts on their way
	acts   []attach.Act
	flying int  // of acts, from the beginning: they were sent
	typing int  // of acts: they type
	older  bool // the daemon does not say what was taken, nor keeps what is sent again from being done twice
	open   bool // there is a connection
	full   int  // bytes typed for which there was no room
}

// newQueue is for a session of this host, or of another one.
func newQueue(here bool) queue {
	q := queue{resume: attach.Resume{Key: uuid.NewString(), Late: here}, most: maxFlying}
	if here {
		q.most = maxFlyingHere
	}
	return q
}

// add queues an act. n is its number among those that type, from 1; 0: nobody says when it is taken, or soon.
func (q *queue) add(a attach.Act) (n uint64) {
	if most := map[bool]int{false: maxWaiting, true: maxActs}[q.open]; len(q.acts) >= most {
		q.full += typedBytes(&a)
		return 0
	}
	if q.acts = append(q.acts, a); !a.Types() {
		return 0
	}
	if q.typing++; q.resume.Late || q.older || !q.open {
		return 0
	}
	return q.resume.Typed + uint64(q.typing)
}

// typedBytes is about how many bytes a person typed: what they become is for the daemon to say.
func typedBytes(a *attach.Act) int {
	switch {
	case a.Key != nil:
		return len(input.AppendKey(nil, *a.Key, &vterm.Modes{}))
	case a.Paste != nil:
		return len(*a.Paste)
	}
	return len(a.Text)
}

// unsent is how many bytes a person typed that did not reach the session, or are not known to have where the connection
// was lost.
func (q *queue) unsent() (bytes int) {
	from := 0
	if q.open {
		from = q.flying
	}
	for i := range q.acts[from:] {
		bytes += typedBytes(&q.acts[from+i])
	}
	return q.full + bytes
}

// next is what is to be sent next.
func (q *queue) next() (attach.Act, bool) {
	if q.flying >= len(q.acts) || q.flying >= q.most {
		return attach.Act{}, false
	}
	return q.acts[q.flying], true
}

// sent takes notice that it was sent.
func (q *queue) sent() {
	if !q.older && q.acts[q.flying].Types() {
		q.flying++
		return
	}
	if q.acts[q.flying].Types() {
		q.typing--
	}
	q.acts = slices.Delete(q.acts, q.flying, q.flying+1)
}

// told takes what the daemon says of how many acts were taken; nil: it does not say, being older.
func (q *queue) told(taken *uint64) {
	n := q.flying
	if q.older = taken == nil; taken != nil {
		n = int(min(*taken-min(*taken, q.resume.Typed), uint64(n)))
	}
	q.acts, q.flying, q.typing = q.acts[n:], q.flying-n, q.typing-n
	q.resume.Typed += uint64(n)
}

// again begins anew on another connection.
func (q *queue) again() attach.Resume {
	q.flying, q.older = 0, false
	return q.resume
}

const (
	// maxWaiting bounds what is typed into a session whose daemon is away.
	maxWaiting = 10_000
	// maxActs bounds what waits for one that takes it: what is pasted into a terminal that does not tell pastes comes a key
	// at a time, faster than it goes.
	maxActs = 500_000
)

// watched is a session the viewer shows. What is done while the daemon is away waits
// for it, in order.
type watched struct {
	s      *client.Session
	reach  *reach
	cancel context.CancelFunc
	sizeBy string // whose size the session shall take; empty: as it is
	mute   bool   // the viewer has no say in sizes
	more   func() // see Tune; nil: nobody minds
	frames chan panes.Frame
	wake   chan struct{}
	went   chan struct{} // poked when something was sent, or cannot be

	mu    sync.Mutex // guards the fields below
	queue queue
	size  attach.Act // the newest
}

func (w *watched) Frames() <-chan panes.Frame { return w.frames }

// Close lets what was typed just now go first: it is with the connection in no time, unless that takes nothing.
func (w *watched) Close() (unsent int) {
	late := time.NewTimer(partingTime)
	defer late.Stop()
	for waits := true; waits && w.goes(); {
		select {
		case <-w.went:
		case <-late.C:
			waits = false
		}
	}
	w.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.unsent()
}

// partingTime is how long what was typed may take to go.
const partingTime = 100 * time.Millisecond

// goes says that something waits to be sent, and there is a connection for it.
func (w *watched) goes() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.open && w.queue.unsent() > w.queue.full
}

func (w *watched) Resize(cols, rows int) {
	size := attach.Act{Cols: cols, Rows: rows}
	w.mu.Lock()
	w.size = size
	w.mu.Unlock()
	w.act(size) // one of 0×0 does nothing but wake up
}

func (w *watched) Act(in panes.Input) (n uint64) {
	return w.act(attach.Act{Key: in.Key, Mouse: in.Mouse, Paste: in.Paste, Focus: in.Focus, Outer: in.Outer})
}

// Picture asks for an image that was shown.
func (w *watched) Picture(key string) { w.act(attach.Act{Picture: key}) }

// act queues; the viewer must not wait for a daemon.
func (w *watched) act(a attach.Act) (n uint64) {
	w.mu.Lock()
	n = w.queue.add(a)
	w.mu.Unlock()
	w.rouse()
	return n
}

// connected says whether there is a connection.
func (w *watched) connected(is bool) {
	w.mu.Lock()
	w.queue.open = is
	w.mu.Unlock()
	w.goOn()
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
	w.queue.sent()
	w.mu.Unlock()
	w.goOn()
}

// goOn has who waits for something to go look again.
func (w *watched) goOn() {
	select {
	case w.went <- struct{}{}:
	default:
	}
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
			w.connected(true)
			w.converse(ctx, st, size.Cols > 0)
			w.connected(false)
			_ = st.Close()
			w.hand(ctx, panes.Frame{Anew: true})
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
		shown := panes.Frame{Screen: &f.Screen, Modes: f.Modes, Held: f.Held, Effects: effectsOf(f.Effects)}
		if f.Picture != nil {
			if w.more != nil { // to be decoded and drawn, which takes long
				w.more()
			}
			shown = panes.Frame{Picture: &panes.Picture{Key: f.Picture.Key, PNG: f.Picture.PNG}}
		} else {
			w.mu.Lock()
			w.queue.told(f.Taken)
			shown.Taken = w.queue.resume.Typed
			w.mu.Unlock()
			w.rouse()
		}
		if !w.hand(ctx, shown) {
			return
		}
	}
}

// hand hands a frame over.
func (w *watched) hand(ctx context.Context, f panes.Frame) bool {
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
