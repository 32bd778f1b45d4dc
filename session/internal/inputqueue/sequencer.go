package inputqueue

import (
	"context"
	"hash/fnv"
	"sync"

	"github.com/longterm-dev/longterm/session/ring"
)

// Sequencer types numbered input, KEY.N, once and in order. The ring has the number of each client's newest input,
// updated in the same step in which the terminal accepts it, so it survives the daemon. The journal does not have it:
// without the ring, the program has ended too.
type Sequencer struct {
	inputs *ring.Inputs

	mu      sync.Mutex
	pending map[uint64]*Pending // input that is being typed, by client
}

// NewSequencer returns a sequencer that continues with a ring's numbers. It returns nil for a nil in.
func NewSequencer(in *ring.Inputs) *Sequencer {
	if in == nil {
		return nil
	}
	return &Sequencer{inputs: in, pending: map[uint64]*Pending{}}
}

// Close releases the numbers. The caller must call it before it unmaps the ring.
func (n *Sequencer) Close() {
	if n != nil {
		n.inputs.Close()
	}
}

// Pending is input that is being typed, or was typed.
type Pending struct {
	number uint64
	done   chan struct{} // closed once the input is typed or failed
	err    error
}

// Wait waits until the terminal has accepted the input, and returns the error of typing.
func (p *Pending) Wait() error {
	<-p.done
	return p.err
}

// NumberedInput is an input with a number.
type NumberedInput struct {
	sequencer   *Sequencer
	key, number uint64 // hash of the client's key; number of the input
}

// Input returns the input with an id. It returns nil if the id has no number, or the ring has no numbers.
func (n *Sequencer) Input(id string) *NumberedInput {
	client, number := splitNumbered(id)
	if n == nil || client == "" {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(client)) // never fails
	return &NumberedInput{n, h.Sum64(), number}
}

// Lookup returns the input if it is queued or was typed, and nil otherwise. known is false for an unknown client.
func (o *NumberedInput) Lookup() (p *Pending, known bool) {
	if p := o.sequencer.pendingOf(o.key); p != nil && o.number <= p.number {
		return p, true
	}
	next, _, known := o.sequencer.inputs.Next(o.key)
	if known && o.number < next {
		return donePending, true
	}
	return nil, known
}

// donePending is the Pending of input that was typed.
var donePending = func() *Pending {
	p := &Pending{done: make(chan struct{})}
	close(p.done)
	return p
}()

// pendingOf returns the client's input that is being typed, or nil.
func (n *Sequencer) pendingOf(key uint64) *Pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pending[key]
}

// Add queues the input's bytes. If an earlier owner typed a part of them, it queues the others.
func (o *NumberedInput) Add(ctx context.Context, q *Queue, data []byte) (*Pending, error) {
	total, before := uint64(len(data)), uint64(0)
	if next, part, known := o.sequencer.inputs.Next(o.key); known && next == o.number {
		before = min(part, total)
	}
	done, err := q.AddNumbered(ctx, data[before:], o.sequencer.inputs.StartInput(o.key, o.number, before, total))
	if err != nil {
		return nil, err
	}
	p := &Pending{number: o.number, done: make(chan struct{})}
	select {
	case p.err = <-done: // the usual case
		close(p.done)
	default:
		o.sequencer.setPending(o.key, p)
		go func() {
			p.err = <-done
			o.sequencer.removePending(o.key, p)
			close(p.done)
		}()
	}
	return p, nil
}

// setPending sets the client's input that is being typed.
func (n *Sequencer) setPending(key uint64, p *Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending[key] = p
}

// removePending removes a client's input, unless a newer one replaced it.
func (n *Sequencer) removePending(key uint64, p *Pending) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending[key] == p {
		delete(n.pending, key)
	}
}
