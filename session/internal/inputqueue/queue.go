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
	// ErrAhead is returned for a secret before which other input waits to be read.
	ErrAhead = errors.New("what was typed before it has not been read")
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

// Queue types into the device, in order, one write after the other. Its
// goroutine exists only while there is something to type.
type Queue struct {
	device Device // nil: nothing can be typed

	mu      sync.Mutex
	queue   []*typed
	bytes   int // in queue
	replies int // bytes of it that are replies
	sent    int // bytes that the terminal took since all of them were last known to be read
	writing bool
	closed  bool
}

// NewQueue makes a queue for a device; nil: all input is refused.
func NewQueue(d Device) *Queue { return &Queue{device: d} }

// typed is one write.
type typed struct {
	data  []byte
	input *ring.Input // of numbered input; otherwise nil
	reply bool
	ctx   context.Context
	done  chan error // buffered; nil for replies
}

// Add queues data. The channel receives the result once the terminal has accepted the data.
func (q *Queue) Add(ctx context.Context, data []byte) (<-chan error, error) {
	return q.AddNoted(ctx, data, nil)
}

// AddNoted works like Add and calls note right before data is typed, unless other input is queued before it.
func (q *Queue) AddNoted(ctx context.Context, data []byte, note func()) (<-chan error, error) {
	return q.add(&typed{data: data, ctx: ctx, done: make(chan error, 1)}, note)
}

// AddNumbered works like Add for numbered input: the ring always has the number of its typed bytes.
func (q *Queue) AddNumbered(ctx context.Context, data []byte, input *ring.Input) (<-chan error, error) {
	return q.add(&typed{data: data, input: input, ctx: ctx, done: make(chan error, 1)}, nil)
}

func (q *Queue) add(t *typed, note func()) (<-chan error, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return nil, ErrEnded
	case q.bytes+len(t.data) > MaxQueued:
		return nil, fmt.Errorf("%w (%d bytes)", ErrOverloaded, q.bytes)
	}
	if t.data = q.tryLocked(t, note); len(t.data) == 0 {
		t.done <- nil
		return t.done, nil
	}
	q.push(t)
	return t.done, nil
}

// tryLocked types what the terminal takes at once when nothing is queued before it, and
// returns the rest. A key costs no goroutine that way.
func (q *Queue) tryLocked(t *typed, note func()) (rest []byte) {
	if q.writing {
		return t.data
	}
	n := 0
	if t.input != nil {
		n, _ = t.input.Type(pieces{q.device}, t.data, false) // an error is Write's to find
	} else {
		n = q.tryNoted(t.data, note)
	}
	q.sent += n
	return t.data[n:]
}

// pieces is a device that types pieces of input.
type pieces struct{ Device }

// TypePiece implements ring.Device.
func (d pieces) TypePiece(f *ring.File, p []byte, wait bool) (int, error) {
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

// Reply queues an answer of the emulator; it is dropped when too many wait.
func (q *Queue) Reply(data []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.device == nil || q.replies+len(data) > maxReplies {
		return
	}
	t := &typed{data: data, reply: true, ctx: context.Background()}
	if t.data = q.tryLocked(t, nil); len(t.data) == 0 {
		return
	}
	q.replies += len(t.data)
	q.push(t)
}

func (q *Queue) push(t *typed) {
	q.queue = append(q.queue, t)
	q.bytes += len(t.data)
	if !q.writing {
		q.writing = true
		go q.write()
	}
}

// write empties the queue and ends.
func (q *Queue) write() {
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
		err := q.typeOut(t)
		q.mu.Lock()
		q.bytes, q.sent = q.bytes-len(t.data), q.sent+len(t.data)
		if t.reply {
			q.replies -= len(t.data)
		}
		q.mu.Unlock()
		if t.done != nil {
			t.done <- err
		}
	}
}

// typeOut writes t until it is done, the device fails, or its caller cancels.
func (q *Queue) typeOut(t *typed) error {
	if err := t.ctx.Err(); err != nil {
		return fmt.Errorf("nothing was typed: %w", err)
	}
	set := make(chan struct{})
	stop := context.AfterFunc(t.ctx, func() {
		defer close(set)
		_ = q.device.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := q.writeOut(t)
	if !stop() {
		<-set // it may be under way still, and must not have the last word
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

// writeOut writes t as a whole, or until its deadline.
func (q *Queue) writeOut(t *typed) (int, error) {
	if t.input != nil {
		return t.input.Type(pieces{q.device}, t.data, true)
	}
	return q.device.Write(t.data)
}

// End refuses and fails everything from now on.
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
		_ = q.device.SetWriteDeadline(time.Unix(1, 0)) // ends the write under way
	}
}

// AcceptedBytes returns how many bytes the terminal accepted since all input was known to be read, and whether the queue is
// empty.
func (q *Queue) AcceptedBytes() (bytes int, idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent, !q.writing && len(q.queue) == 0
}

// AllRead notes that everything the terminal took has been read.
func (q *Queue) AllRead() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = 0
}

// AddNow works like AddNoted for data that the terminal accepts at once, or fails: it never queues.
func (q *Queue) AddNow(data []byte, note func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return ErrEnded
	case q.writing || len(q.queue) > 0:
		return ErrAhead
	}
	if rest := q.tryLocked(&typed{data: data}, note); len(rest) > 0 {
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

// Empty reports whether the queue is empty.
func (q *Queue) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.writing
}
