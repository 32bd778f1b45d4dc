package inputqueue

import (
	"context"
	"hash/fnv"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
)

// Numbered types numbered input, KEY.N, once and in order. The ring has the number of each client's newest input,
// updated in the same step in which the terminal accepts it, so it survives the daemon. The journal does not have it:
// without the ring, the program has ended too.
type Numbered struct {
	inputs *ring.Inputs

	mu      sync.Mutex
	pending map[uint64]*Pending // by client: what waits to be typed
}

// NewNumbered continues with a ring's numbers. It returns nil for a nil in.
func NewNumbered(in *ring.Inputs) *Numbered {
	if in == nil {
		return nil
	}
	return &Numbered{inputs: in, pending: map[uint64]*Pending{}}
}

// Close must be called before the ring is unmapped.
func (n *Numbered) Close() {
	if n != nil {
		n.inputs.Close()
	}
}

// Pending is input that is being typed, or was.
type Pending struct {
	number uint64
	done   chan struct{}
	err    error
}

// Wait returns when the terminal has taken it all.
func (p *Pending) Wait() error {
	<-p.done
	return p.err
}

// InOrder is input with a number.
type InOrder struct {
	of          *Numbered
	key, number uint64
}

// Of returns the handle of the input with an id. It returns nil if the id has no number, or the ring has no numbers.
func (n *Numbered) Of(id string) *InOrder {
	client, number := splitNumbered(id)
	if n == nil || client == "" {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(client)) // never fails
	return &InOrder{n, h.Sum64(), number}
}

// Before returns the input if it is queued or was typed, and nil otherwise. known is false for an unknown client.
func (o *InOrder) Before() (p *Pending, known bool) {
	if p := o.of.waiting(o.key); p != nil && o.number <= p.number {
		return p, true
	}
	next, _, known := o.of.inputs.Next(o.key)
	if known && o.number < next {
		return typedBefore, true
	}
	return nil, known
}

// typedBefore is the Pending of input that was typed.
var typedBefore = func() *Pending {
	p := &Pending{done: make(chan struct{})}
	close(p.done)
	return p
}()

func (n *Numbered) waiting(key uint64) *Pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pending[key]
}

// Add queues its bytes: those that were not typed, where an earlier owner got so far with it.
func (o *InOrder) Add(ctx context.Context, q *Queue, data []byte) (*Pending, error) {
	total, before := uint64(len(data)), uint64(0)
	if next, part, known := o.of.inputs.Next(o.key); known && next == o.number {
		before = min(part, total)
	}
	done, err := q.AddNumbered(ctx, data[before:], o.of.inputs.StartInput(o.key, o.number, before, total))
	if err != nil {
		return nil, err
	}
	p := &Pending{number: o.number, done: make(chan struct{})}
	select {
	case p.err = <-done: // as nearly always
		close(p.done)
	default:
		o.of.keep(o.key, p)
		go func() {
			p.err = <-done
			o.of.drop(o.key, p)
			close(p.done)
		}()
	}
	return p, nil
}

func (n *Numbered) keep(key uint64, p *Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending[key] = p
}

func (n *Numbered) drop(key uint64, p *Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending[key] == p {
		delete(n.pending, key)
	}
}
