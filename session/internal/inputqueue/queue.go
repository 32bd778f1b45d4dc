package inputqueue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/ring"
)

// Errors of typing.
var (
	ErrEnded      = errors.New("the session has ended")
	ErrOverloaded = errors.New("too much input is waiting for the program to read it")
	// ErrUnreadInput is returned for a secret while the program has not read the input before it.
	ErrUnreadInput = errors.New("what was typed before it has not been read")
	// ErrEcho is returned for a secret that would be shown.
	ErrEcho = errors.New("the terminal shows what is typed")
	// ErrMayEcho is returned for a secret where the program reads keys and may show them.
	ErrMayEcho = errors.New("the program reads keys and may show them (no password box found)")
)

const (
	// MaxQueued bounds the input that waits for the program to read it, in bytes.
	MaxQueued = 16 << 20
	// maxReplies bounds the unread replies to queries: further replies to a program that never reads are dropped.
	maxReplies = 64 << 10
)

// Device is the terminal that is typed into.
type Device interface {
	// Write types bytes; it blocks while the program does not read, until the deadline.
	Write(p []byte) (int, error)
	// TryWrite types as much as fits without waiting and returns its length. It reports no errors; a later Write does.
	TryWrite(p []byte) int
	SetWriteDeadline(t time.Time) error
}

// Queue types into the device, in order, one write after the other. Its goroutine runs only while the queue is not
// empty.
type Queue struct {
	device Device // nil: nothing can be typed

	mu       sync.Mutex
	queue    []*pendingWrite
	bytes    int  // in queue
	replies  int  // bytes of the queue that are replies
	accepted int  // bytes accepted by the terminal since all of them were known to be read
	writing  bool // the goroutine runs
	closed   bool
}

// NewQueue returns a queue for a device. A nil device rejects all input.
func NewQueue(d Device) *Queue { return &Queue{device: d} }

// pendingWrite is one queued write.
type pendingWrite struct {
	data  []byte
	input *ring.Input // of numbered input; otherwise nil
	reply bool        // a reply to a query, which may be dropped
	ctx   context.Context
	done  chan error // buffered; nil for replies
}

// Add queues data. The channel receives the result once the terminal has accepted the data.
func (q *Queue) Add(ctx context.Context, data []byte) (<-chan error, error) {
	return q.AddNoted(ctx, data, nil)
}

// AddNoted works like Add and calls note right before data is typed, unless other input is queued before it.
func (q *Queue) AddNoted(ctx context.Context, data []byte, note func()) (<-chan error, error) {
	return q.add(&pendingWrite{data: data, ctx: ctx, done: make(chan error, 1)}, note)
}

// AddNumbered works like Add for numbered input: the ring always has the number of its typed bytes.
func (q *Queue) AddNumbered(ctx context.Context, data []byte, input *ring.Input) (<-chan error, error) {
	return q.add(&pendingWrite{data: data, input: input, ctx: ctx, done: make(chan error, 1)}, nil)
}

// add writes t at once if possible, and queues the rest.
func (q *Queue) add(t *pendingWrite, note func()) (<-chan error, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return nil, ErrEnded
	case q.bytes+len(t.data) > MaxQueued:
		return nil, fmt.Errorf("%w (%d bytes)", ErrOverloaded, q.bytes)
	}
	if t.data = q.tryWriteLocked(t, note); len(t.data) == 0 {
		t.done <- nil
		return t.done, nil
	}
	q.push(t)
	return t.done, nil
}

// tryWriteLocked types what the terminal accepts at once if the queue is empty, and returns the rest. So a key needs no
// goroutine.
func (q *Queue) tryWriteLocked(t *pendingWrite, note func()) (rest []byte) {
	if q.writing {
		return t.data
	}
	n := 0
	if t.input != nil {
		n, _ = t.input.Type(pieceDevice{q.device}, t.data, false) // Write will report the error
	} else {
		n = q.tryNoted(t.data, note)
	}
	q.accepted += n
	return t.data[n:]
}

// pieceDevice adapts a Device to ring.Device, for pieces of input.
type pieceDevice struct{ Device }

// TypePiece implements ring.Device.
func (d pieceDevice) TypePiece(f *ring.File, p []byte, wait bool) (int, error) {
	switch out, ok := d.Device.(ring.Device); {
	case ok && f != nil:
		return out.TypePiece(f, p, wait)
	case f != nil:
		return 0, ring.ErrNoSendFile
	case wait:
		return d.Write(p)
	}
	return d.TryWrite(p), nil
}

// notedWriter is a device that calls note immediately before the write: no lock, no allocation and no scheduling comes
// between them. A process that is killed in between has lost the input.
type notedWriter interface {
	TryWriteNoted(p []byte, note func()) int
}

// tryNoted types what the device accepts at once, with note called before it.
func (q *Queue) tryNoted(data []byte, note func()) int {
	if note == nil {
		return q.device.TryWrite(data)
	}
	if d, ok := q.device.(notedWriter); ok {
		return d.TryWriteNoted(data, note)
	}
	note()
	return q.device.TryWrite(data)
}

// Reply queues a reply of the emulator. It drops the reply if too many wait.
func (q *Queue) Reply(data []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.device == nil || q.replies+len(data) > maxReplies {
		return
	}
	t := &pendingWrite{data: data, reply: true, ctx: context.Background()}
	if t.data = q.tryWriteLocked(t, nil); len(t.data) == 0 {
		return
	}
	q.replies += len(t.data)
	q.push(t)
}

// push appends a write and starts the goroutine.
func (q *Queue) push(t *pendingWrite) {
	q.queue = append(q.queue, t)
	q.bytes += len(t.data)
	if !q.writing {
		q.writing = true
		go q.run()
	}
}

// run writes the queue until it is empty.
func (q *Queue) run() {
	for {
		q.mu.Lock()
		if len(q.queue) == 0 || q.closed {
			q.writing, q.queue = false, nil
			q.mu.Unlock()
			return
		}
		t := q.queue[0]
		q.queue = q.queue[1:]
		q.mu.Unlock()
		err := q.writeUntilDone(t)
		q.mu.Lock()
		q.bytes, q.accepted = q.bytes-len(t.data), q.accepted+len(t.data)
		if t.reply {
			q.replies -= len(t.data)
		}
		q.mu.Unlock()
		if t.done != nil {
			t.done <- err
		}
	}
}

// writeUntilDone writes t until it is done, the device fails, or its caller cancels.
func (q *Queue) writeUntilDone(t *pendingWrite) error {
	if err := t.ctx.Err(); err != nil {
		return fmt.Errorf("nothing was typed: %w", err)
	}
	set := make(chan struct{})
	stop := context.AfterFunc(t.ctx, func() {
		defer close(set)
		_ = q.device.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := q.writeOnce(t)
	if !stop() {
		<-set // it may still be running, and must not set the deadline last
		_ = q.device.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return nil
	case t.ctx.Err() != nil:
		return fmt.Errorf("the program took %d of %d bytes: %w", n, len(t.data), t.ctx.Err())
	default:
		return fmt.Errorf("%w: the terminal took %d of %d bytes: %w", ErrEnded, n, len(t.data), err)
	}
}

// writeOnce writes all of t, until its deadline.
func (q *Queue) writeOnce(t *pendingWrite) (int, error) {
	if t.input != nil {
		return t.input.Type(pieceDevice{q.device}, t.data, true)
	}
	return q.device.Write(t.data)
}

// End rejects all later input, and fails the queued input.
func (q *Queue) End() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, t := range q.queue {
		if t.done != nil {
			t.done <- ErrEnded
		}
	}
	if q.device != nil && q.writing {
		_ = q.device.SetWriteDeadline(time.Unix(1, 0)) // interrupts a running write
	}
}

// AcceptedBytes returns how many bytes the terminal accepted since all input was known to be read, and whether the queue is
// empty.
func (q *Queue) AcceptedBytes() (bytes int, idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.accepted, !q.writing && len(q.queue) == 0
}

// NoteAllRead records that the program has read all accepted bytes.
func (q *Queue) NoteAllRead() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.accepted = 0
}

// AddNow works like AddNoted for data that the terminal accepts at once, or fails: it never queues.
func (q *Queue) AddNow(data []byte, note func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return ErrEnded
	case q.writing || len(q.queue) > 0:
		return ErrUnreadInput
	}
	if rest := q.tryWriteLocked(&pendingWrite{data: data}, note); len(rest) > 0 {
		return fmt.Errorf("terminal accepted only %d of %d bytes", len(data)-len(rest), len(data))
	}
	return nil
}

// DropReplies drops the replies to queries that wait to be typed.
func (q *Queue) DropReplies() {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.queue[:0]
	for _, t := range q.queue {
		if t.reply {
			q.bytes -= len(t.data)
			q.replies -= len(t.data)
			continue
		}
		kept = append(kept, t)
	}
	q.queue = kept
}

// IsEmpty reports whether the queue is empty.
func (q *Queue) IsEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.writing
}
