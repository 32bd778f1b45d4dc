package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/vterm"
)

// A session whose emulator, tracker or rules panic is quarantined, alone: its output goes on
// from the ring into the journal, its child is not held up and its end is recorded, but
// nothing looks at its output any more. Its screen says so; its history can be read. The
// next daemon tries again.
//
// What cannot be recovered from (a stack that overflows, a concurrent map write) ends the
// daemon. So a replay is written down before it begins: a session in whose replays daemons
// crashed maxAttempts times is quarantined without another one, until it is another program
// that tries.

// ErrQuarantined is returned for what only a session's emulator, tracker and rules can do.
var ErrQuarantined = errors.New("the session is quarantined")

const (
	attemptFile = "replay.json" // in a session's directory, while it is replayed
	maxAttempts = 3
)

// attempt is the file's content.
type attempt struct {
	Crashes int    `json:"crashes"` // of daemons, during replays before this one
	Build   string `json:"build"`   // of the program that tries
}

// guard runs f, on the owner's goroutine. A panic quarantines the session.
func (s *Session) guard(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("panic; the session is quarantined", "session", s.cfg.ID, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: panic: %v", ErrQuarantined, r)
			s.quarantine(fmt.Sprintf("panic: %v", r))
		}
	}()
	f()
	return nil
}

// quarantine gives up everything that looks at output.
func (s *Session) quarantine(why string) {
	again := s.quarantined
	s.quarantined, s.quiet, s.replaying = true, false, time.Time{}
	s.lines.shell, s.bells = nil, 0
	if s.rules != nil {
		s.rules.cancel()
		s.rules = nil
	}
	s.off = max(s.off, s.history.record.Done()) // it was journalled, and then shown
	if s.ring != nil && s.history.record.Done() > 0 {
		s.history.ack()
	}
	s.history.record.Forget(s.off)
	s.inputwait, s.lines.timer = newInputWait(s), nil
	s.engine = s.placeholder(why)
	func() {
		defer func() {
			if r := recover(); r != nil {
				s.lines.runs = nil
			}
		}()
		s.lines.endRuns(fmt.Errorf("%w: %s", ErrQuarantined, why))
	}()
	s.waits.set.GiveUp(again) // an end can be waited for still
	if !again {
		s.update(ChangeQuarantine, func(st *Status) {
			st.Quarantine, st.Version, st.Offset = why, s.engine.Version(), s.off
			st.Shell, st.Needs, st.Alt = ShellStatus{}, Needs{}, false
		})
	}
	s.watch.frames()
	s.watch.output()
}

// placeholder is an emulator that shows why there is no screen.
func (s *Session) placeholder(why string) vterm.Engine {
	st, o := s.Status(), s.cfg.Options
	if st.Cols > 0 && st.Rows > 0 {
		o.Cols, o.Rows = st.Cols, st.Rows
	}
	engine, err := NewEngine(DefaultEngine, o)
	if err != nil { // the default is known
		panic(err)
	}
	_, _ = fmt.Fprintf(engine, "This session is quarantined (%.200q).\r\nIts program runs on; longterm output shows what it prints.\r\n", why)
	return engine
}

// attemptReplay notes that a replay begins. done notes that it ended well, or was given up;
// not ok: too many daemons crashed in it.
func (s *Session) attemptReplay() (done func(), ok bool) {
	if s.cfg.Dir == "" {
		return func() {}, true
	}
	path := filepath.Join(s.cfg.Dir, attemptFile)
	var a attempt
	b, err := os.ReadFile(path)
	open := err == nil && json.Unmarshal(b, &a) == nil && a.Build == s.cfg.Build
	switch {
	case !open:
		a = attempt{Build: s.cfg.Build}
	case s.cfg.Crashed:
		a.Crashes++
	}
	unlock := func() {}
	if a.Crashes > 0 && s.cfg.Suspects != nil { // alone, so that no other is blamed for it
		select {
		case s.cfg.Suspects <- struct{}{}:
			unlock = func() { <-s.cfg.Suspects }
		case <-s.stop:
			return func() {}, true // its replay ends at once
		}
	}
	if b, err = json.Marshal(a); err == nil {
		// Whole, whatever happens: half a count would be none. Not synced: it counts crashes of
		// daemons, not of the machine.
		err = atomicfile.Write(path, atomicfile.Options{}, b)
	}
	if err != nil {
		s.log.Warn("note that a replay begins", "session", s.cfg.ID, "err", err)
	}
	if a.Crashes >= maxAttempts {
		unlock()
		return func() {}, false
	}
	return func() {
		_ = os.Remove(path) // at worst it is looked at alone next time
		unlock()
	}, true
}

// BeginAfter has the next owner of a quarantined session's directory begin at an offset, with
// an empty screen: what was printed before is history that is not looked at again. The
// session must have been stopped.
func (s *Session) BeginAfter(off uint64) error {
	engine, err := NewEngine(s.engineName(), s.cfg.Options)
	if err != nil {
		return err
	}
	err = checkpoint.Write(s.cfg.Dir, checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: off, Time: time.Now(), Snapshot: engine.AppendSnapshot(nil),
	})
	for _, name := range []string{attemptFile, trackingFile, rulesFile} {
		if rerr := os.Remove(filepath.Join(s.cfg.Dir, name)); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
