//go:build unix

package events

import "sync"

// Terminals is the set of attached clients' terminals. They receive notices that do not belong to a session's screen.
type Terminals struct {
	mu  sync.Mutex
	set map[chan []byte]struct{}
}

// Join adds a client until it calls leave.
func (t *Terminals) Join() (news <-chan []byte, leave func()) {
	c := make(chan []byte, 4)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.set == nil {
		t.set = map[chan []byte]struct{}{}
	}
	t.set[c] = struct{}{}
	return c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.set, c)
	}
}

// Send writes to all terminals and returns how many receive it. A client that is behind misses it.
func (t *Terminals) Send(b []byte) (reached int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.set {
		select {
		case c <- b:
			reached++
		default:
		}
	}
	return reached
}
