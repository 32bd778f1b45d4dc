package session

import (
	"fmt"
	"slices"
	"sync"

	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// An ended session's screen and scrollback are in its last checkpoint: memory holds them for
// the few sessions that were looked at last. The others are dormant; an operation rebuilds
// them first.

// Awake is the ended sessions whose emulators are in memory, newest use first.
type Awake struct {
	max int

	mu   sync.Mutex
	list []*Session
}

// NewAwake makes a set that holds at most so many sessions.
func NewAwake(most int) *Awake { return &Awake{max: most} }

// touch notes a use, and has the one that was not used for the longest time give up its
// emulator.
func (a *Awake) touch(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removeLocked(s)
	a.list = append(a.list, nil)
	copy(a.list[1:], a.list)
	a.list[0] = s
	if len(a.list) > a.max {
		last := a.list[a.max]
		a.list = a.list[:a.max]
		last.hand(func() {
			if !a.has(last) { // else it was used again meanwhile
				last.rest()
			}
		})
	}
}

func (a *Awake) has(s *Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.list, s)
}

func (a *Awake) remove(s *Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.removeLocked(s)
}

func (a *Awake) removeLocked(s *Session) {
	for i, x := range a.list {
		if x == s {
			a.list = append(a.list[:i], a.list[i+1:]...)
			return
		}
	}
}

// over says that nothing will be printed any more and all that was is in the journal.
func (s *Session) over() bool {
	return s.ring == nil && s.Status().State != Running && !s.history.record.Failing() && s.off == s.cfg.Journal.End()
}

// mayRest lets an ended session become dormant.
func (s *Session) mayRest() {
	if s.cfg.Awake != nil && s.over() {
		s.cfg.Awake.touch(s)
	}
}

// used is called before an operation: it finds an emulator, and a dormant session's is made
// anew.
func (s *Session) used() error {
	if s.cfg.Awake == nil || s.quarantined || !s.over() {
		return nil
	}
	s.mayRest()
	if s.engine != nil {
		return nil
	}
	engine, err := s.revive()
	if err != nil {
		return fmt.Errorf("rebuild the screen: %w", err)
	}
	s.engine = engine
	s.describeOuter(engine)
	v := engine.Version()
	s.update(ChangeOutput, func(st *Status) { st.Version = v })
	return nil
}

// revive makes an emulator stand at the session's end.
func (s *Session) revive() (vterm.Engine, error) {
	engine, err := NewEngine(s.engineName(), s.cfg.Options)
	if err != nil {
		return nil, err
	}
	ctx, cancel := s.untilStop()
	defer cancel()
	past := s.history.past()
	from, _ := past.Restore(engine, s.off)
	_, err = past.Replay(ctx, engine, from, s.off, func(*journal.Record, uint64) { engine.Events(nil) })
	return engine, err
}

// rest gives the emulator of an ended session up, unless a caller waits for something on it, or used it
// since this was asked for.
func (s *Session) rest() {
	if s.cfg.Awake.has(s) || !s.over() || s.quarantined || s.engine == nil || s.waits.set.Len() > 0 {
		return
	}
	s.history.checkpoint()
	s.history.due.Stop()
	s.events = nil
	s.inputwait = newInputWait(s)
	s.waits.set.Forget()
	s.engine = nil
}

// forgetRing unmaps the ring, which has no readers any more.
func (s *Session) forgetRing() {
	r := s.ring
	s.followers.Close()
	s.typing.ordered.Close()
	s.ring = nil
	s.history.record.Detach()
	if r == nil {
		return
	}
	if err := r.Close(); err != nil {
		s.log.Warn("unmap a ring", "session", s.cfg.ID, "err", err)
	}
}

// endDormancy is called when the owner ends.
func (s *Session) endDormancy() {
	if s.cfg.Awake != nil {
		s.cfg.Awake.remove(s)
	}
}
