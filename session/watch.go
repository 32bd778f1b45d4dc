package session

import "sync"

// Watch signals changes. A signal means that something changed since the last one. Unread signals merge, so a slow
// watcher costs nothing.
type Watch struct {
	// Output has a signal when there is new output (or the session ended).
	Output <-chan struct{}
	// Frames has a signal when the screen changed, at most once per FrameInterval.
	Frames <-chan struct{}
	// Done is closed when the owner has exited.
	Done <-chan struct{}

	out, fr  chan struct{} // sending ends of Output and Frames
	watchers *watchers     // set that the watch belongs to
}

// Close ends the watch.
func (w *Watch) Close() { w.watchers.remove(w) }

// watchers is the set of a session's watches. Its lock guards the set only.
type watchers struct {
	mu         sync.Mutex
	set        map[*Watch]struct{} // open watches
	nextOutput []func()            // functions of NextOutput
}

// Watch starts a watch. Both signals are set at first, so that the watcher starts with a read.
func (s *Session) Watch() *Watch {
	s.Start()
	w := &Watch{out: make(chan struct{}, 1), fr: make(chan struct{}, 1), watchers: &s.watch, Done: s.stopped}
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

// remove removes a watch.
func (ws *watchers) remove(w *Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.set, w)
}

// NextOutput calls f once, on a separate goroutine, at new output or after the owner has exited. It suits long waits,
// during which it needs no goroutine.
func (s *Session) NextOutput(f func()) {
	s.Start()
	s.watch.mu.Lock()
	s.watch.nextOutput = append(s.watch.nextOutput, f)
	s.watch.mu.Unlock()
	select {
	case <-s.stopped: // closeStopped may have run before f was added
		s.watch.notifyNext()
	default:
	}
}

// notifyNext calls the functions of NextOutput.
func (ws *watchers) notifyNext() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.notifyNextLocked()
}

// notifyNextLocked calls the functions of NextOutput. The caller holds mu.
func (ws *watchers) notifyNextLocked() {
	for _, f := range ws.nextOutput {
		go f()
	}
	ws.nextOutput = nil
}

// output signals new output to all watches.
func (ws *watchers) output() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.set {
		signal(w.out)
	}
	if ws.nextOutput != nil {
		ws.notifyNextLocked()
	}
}

// frames signals a changed screen to all watches.
func (ws *watchers) frames() { ws.each(func(w *Watch) { signal(w.fr) }) }

// each calls f for each watch.
func (ws *watchers) each(f func(*Watch)) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.set {
		f(w)
	}
}

// signal sets a signal, unless it is set already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
