package session

import (
	"fmt"
	"slices"
	"sync"

	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// An ended session's screen and scrollback are in its last checkpoint. Memory holds them only for the few ended
// sessions that were used last. Other emulators are evicted; an operation rebuilds them first.

// EmulatorCache is the set of ended sessions whose emulators are in memory, newest use first.
type EmulatorCache struct {
	limit int // most emulators in memory

	mu   sync.Mutex
	list []*Session // newest use first
}

// NewEmulatorCache returns a cache of at most limit emulators.
func NewEmulatorCache(limit int) *EmulatorCache { return &EmulatorCache{limit: limit} }

// touch records a use of s. In a full cache, the least recently used session then evicts its emulator.
func (a *EmulatorCache) touch(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removeLocked(s)
	a.list = append(a.list, nil)
	copy(a.list[1:], a.list)
	a.list[0] = s
	if len(a.list) > a.limit {
		last := a.list[a.limit]
		a.list = a.list[:a.limit]
		last.postRaw(func() {
			if !a.has(last) { // otherwise the session was used since
				last.evictEmulator()
			}
		})
	}
}

// has reports whether s is in the cache.
func (a *EmulatorCache) has(s *Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.list, s)
}

// remove removes s from the cache.
func (a *EmulatorCache) remove(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removeLocked(s)
}

// removeLocked works like remove. The caller holds mu.
func (a *EmulatorCache) removeLocked(s *Session) {
	for i, x := range a.list {
		if x == s {
			a.list = append(a.list[:i], a.list[i+1:]...)
			return
		}
	}
}

// isDrained reports whether output has ended and is fully journaled.
func (s *Session) isDrained() bool {
	return s.ring == nil && s.Status().State != Running && !s.history.recorder.IsFailing() && s.offset == s.cfg.Journal.End()
}

// scheduleEviction makes an ended session's emulator eligible for eviction.
func (s *Session) scheduleEviction() {
	if s.cfg.EmulatorCache != nil && s.isDrained() {
		s.cfg.EmulatorCache.touch(s)
	}
}

// ensureEmulator restores an evicted emulator. It is called before each operation.
func (s *Session) ensureEmulator() error {
	if s.cfg.EmulatorCache == nil || s.quarantined || !s.isDrained() {
		return nil
	}
	s.scheduleEviction()
	if s.engine != nil {
		return nil
	}
	engine, err := s.restoreEmulator()
	if err != nil {
		return fmt.Errorf("rebuild the screen: %w", err)
	}
	s.engine = engine
	s.describeOuter(engine)
	v := engine.Version()
	s.update(ChangeOutput, func(st *Status) { st.Version = v })
	return nil
}

// restoreEmulator returns an emulator that shows the end of the session's output.
func (s *Session) restoreEmulator() (vterm.Engine, error) {
	engine, err := NewEngine(s.engineName(), s.cfg.Options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.stopContext()
	defer cancel()
	past := s.history.replayer()
	from, _ := past.Restore(engine, s.offset)
	_, err = past.Replay(ctx, engine, from, s.offset, func(*journal.Record, uint64) { engine.Events(nil) })
	return engine, err
}

// evictEmulator frees the emulator of an ended session, unless a wait needs it or an operation used it since the
// eviction was scheduled.
func (s *Session) evictEmulator() {
	if s.cfg.EmulatorCache.has(s) || !s.isDrained() || s.quarantined || s.engine == nil || s.waits.set.Len() > 0 {
		return
	}
	s.history.checkpoint()
	s.history.checkpoints.Stop()
	s.events = nil
	s.inputwait = newInputWait(s)
	s.waits.set.ForgetScreen()
	s.engine = nil
}

// unmapRing unmaps the ring, which must have no readers.
func (s *Session) unmapRing() {
	r := s.ring
	s.followers.Close()
	s.typing.sequencer.Close()
	s.ring = nil
	s.history.recorder.Detach()
	if r == nil {
		return
	}
	if err := r.Close(); err != nil {
		s.log.Warn("unmap a ring", "session", s.cfg.ID, "err", err)
	}
}

// leaveCache removes the session from the emulator cache when its owner ends.
func (s *Session) leaveCache() {
	if s.cfg.EmulatorCache != nil {
		s.cfg.EmulatorCache.remove(s)
	}
}
