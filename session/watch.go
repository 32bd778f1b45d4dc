package session

import (
	"slices"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

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

// effects are the newest bells, notifications and clipboard writes of a session's program, which no frame shows.
type effects struct {
	mu   sync.Mutex // guards the rest
	list []vterm.Event
	end  uint64 // number behind the newest

	// Owner only.
	grew    bool                          // since the last frame
	allowed map[vterm.EventKind]allowance // nil before the first
}

// Bounds of effects.
const (
	maxEffects     = 32
	maxEffectBytes = 256 << 10 // longer clipboard writes are dropped
	effectsBurst   = 8
	effectsPer     = 250 * time.Millisecond // time for one more than a burst
)

// allowance bounds how often an effect happens.
type allowance struct {
	left int
	at   time.Time
}

func (a *allowance) take(now time.Time) bool {
	if gained := int(now.Sub(a.at) / effectsPer); gained > 0 || a.at.IsZero() {
		a.left, a.at = min(a.left+gained, effectsBurst), now
	}
	a.left--
	a.left = max(a.left, -1)
	return a.left >= 0
}

// add notes an effect. It returns false if there were too many. The newest write of the clipboard always counts.
func (f *effects) add(e *vterm.Event, now time.Time) bool {
	if e.Kind != vterm.EventClipboard {
		a, ok := f.allowed[e.Kind]
		if !ok {
			a.left, a.at = effectsBurst, now
		}
		taken := a.take(now)
		if f.allowed == nil {
			f.allowed = map[vterm.EventKind]allowance{}
		}
		if f.allowed[e.Kind] = a; !taken {
			return false
		}
	}
	if len(e.Text) > maxEffectBytes {
		return false
	}
	f.grew = true
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list, f.end = append(f.list, *e), f.end+1
	size := 0
	for i := len(f.list) - 1; i >= 0; i-- {
		if size += len(f.list[i].Text); size > maxEffectBytes || len(f.list)-i > maxEffects {
			f.list = slices.Delete(f.list, 0, i+1)
			break
		}
	}
	return true
}

// Effects returns the bells, notifications and clipboard writes of the program from number since on, as far as they are kept,
// and the number behind them.
func (s *Session) Effects(since uint64) (list []vterm.Event, next uint64) {
	f := &s.effects
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(f.end-min(since, f.end), uint64(len(f.list)))
	return slices.Clone(f.list[uint64(len(f.list))-n:]), f.end
}

// effect notes one for watchers, and reports notifications. Only the owner calls it.
func (s *Session) effect(e *vterm.Event) {
	if s.effects.add(e, time.Now()) && e.Kind == vterm.EventNotify && !s.quiet && s.cfg.Notified != nil {
		s.cfg.Notified(e.Name, e.Text)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
