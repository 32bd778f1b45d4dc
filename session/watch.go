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
	mu  sync.Mutex
	set map[*Watch]struct{}
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

func (ws *watchers) output() { ws.each(func(w *Watch) { signal(w.out) }) }

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
