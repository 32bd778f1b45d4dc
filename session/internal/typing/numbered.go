package typing

import (
	"context"
	"hash/fnv"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
)

// Numbered types what clients number, KEY.N, once and in order: how far each is stands in the ring, from the step in which
// the terminal takes something, and outlives who types. Nothing of it is in the journal, which is not read once
// the ring is gone: the program is, too.
type Numbered struct {
	inputs *ring.Inputs

	mu      sync.Mutex
	pending map[uint64]*Pending // by client: what waits to be typed
}

// NewNumbered goes on where a ring says that the one before was; nil: it has no such memory.
func NewNumbered(in *ring.Inputs) *Numbered {
	if in == nil {
		return nil
	}
	return &Numbered{inputs: in, pending: map[uint64]*Pending{}}
}

// Close is called before the ring is unmapped.
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

// Of is the input with an id; nil: the id has no number, or there is no memory of it.
func (n *Numbered) Of(id string) *InOrder {
	client, number := numbered(id)
	if n == nil || client == "" {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(client)) // never fails
	return &InOrder{n, h.Sum64(), number}
}

// Before says what became of it: it waits to be typed, or was; nil: it was not. known is false for a client of which
// nothing is known.
func (o *InOrder) Before() (p *Pending, known bool) {
	if p := o.of.waiting(o.key); p != nil && o.number <= p.number {
		return p, true
	}
	next, _, known := o.of.inputs.Next(o.key)
	if known && o.number < next {
		return taken, true
	}
	return nil, known
}

// taken is what was typed, whatever it was.
var taken = func() *Pending {
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
	done, err := q.AddNumbered(ctx, data[before:], o.of.inputs.Begin(o.key, o.number, before, total))
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
