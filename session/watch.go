package session

import "sync"

// Watch tells of changes. A signal says "look again": signals that were not taken
// yet merge, so a slow watcher costs nothing.
type Watch struct {
	// Output has a signal when there is new output (or the session ended).
	Output <-chan struct{}
	// Frames has a signal when the screen changed, at most once a FrameInterval.
	Frames <-chan struct{}
	// Done is closed when the owner is gone.
	Done <-chan struct{}

	out, fr chan struct{}
	of      *watchers
}

// Close ends the watch.
func (w *Watch) Close() { w.of.remove(w) }

// watchers is the set of a session's watches. Its lock guards the set only.
type watchers struct {
	mu   sync.Mutex
	set  map[*Watch]struct{}
	next []func() // see NextOutput
}

// Watch begins to tell of changes. Both signals are set at first, so that the watcher
// begins with a look.
func (s *Session) Watch() *Watch {
	s.Start()
	w := &Watch{out: make(chan struct{}, 1), fr: make(chan struct{}, 1), of: &s.watch, Done: s.stopped}
	w.Output, w.Frames = w.out, w.fr
	signal(w.out)
	signal(w.fr)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	if s.watch.set == nil {
		s.watch.set = map[*Watch]struct{}{}
	}
	s.watch.set[w] = struct{}{}
	return w
}

func (ws *watchers) remove(w *Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.set, w)
}

// NextOutput has f called once, on a goroutine of its own, when there is new output or the owner is gone. It is a watch for
// whoever may have to wait for long: nothing stands by meanwhile.
func (s *Session) NextOutput(f func()) {
	s.Start()
	s.watch.mu.Lock()
	s.watch.next = append(s.watch.next, f)
	s.watch.mu.Unlock()
	select {
	case <-s.stopped: // who told of its end has come too early
		s.watch.callNext()
	default:
	}
}

func (ws *watchers) callNext() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.callNextLocked()
}

func (ws *watchers) callNextLocked() {
	for _, f := range ws.next {
		go f()
	}
	ws.next = nil
}

func (ws *watchers) output() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.set {
		signal(w.out)
	}
	if ws.next != nil {
		ws.callNextLocked()
	}
}

func (ws *watchers) frames() { ws.each(func(w *Watch) { signal(w.fr) }) }

func (ws *watchers) each(f func(*Watch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.set {
		f(w)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
