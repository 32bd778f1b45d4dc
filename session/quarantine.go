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

// A session is quarantined if its emulator, tracker or rules panic. Other sessions are not affected. Its output still
// moves from the ring to the journal, its child is not delayed and its end is recorded, but its output is not
// interpreted. Its screen shows the reason; its history can be read. The next daemon tries again.
//
// Some crashes cannot be recovered (stack overflow, concurrent map write) and end the daemon. So a replay is recorded
// before it starts. If daemons crashed maxReplayAttempts times during a session's replay, the session is quarantined without
// another attempt by the same build.

// ErrQuarantined is returned for operations that need a session's emulator, tracker or rules.
var ErrQuarantined = errors.New("the session is quarantined")

const (
	replayAttemptFile = "replay.json" // in a session's directory, while it is replayed
	maxReplayAttempts = 3
)

// replayAttempt is the content of replayAttemptFile.
type replayAttempt struct {
	Crashes int    `json:"crashes"` // of daemons, during replays before this one
	Build   string `json:"build"`   // of the program that replays
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

// quarantine stops all interpretation of output.
func (s *Session) quarantine(why string) {
	repeated := s.quarantined
	s.quarantined, s.publishMuted, s.replayTime = true, false, time.Time{}
	s.lines.shell, s.pendingBells = nil, 0
	if s.rules != nil {
		s.rules.cancel()
		s.rules = nil
	}
	s.offset = max(s.offset, s.history.recorder.HandledOffset()) // it was journaled, and then fed to the emulator
	if s.ring != nil && s.history.recorder.HandledOffset() > 0 {
		s.history.acknowledge()
	}
	s.history.recorder.DropBefore(s.offset)
	s.inputwait, s.lines.timer = newInputWait(s), nil
	s.engine = s.quarantineEngine(why)
	func() {
		defer func() {
			if r := recover(); r != nil {
				s.lines.runs = nil
			}
		}()
		s.lines.endRuns(fmt.Errorf("%w: %s", ErrQuarantined, why))
	}()
	s.waits.set.EndOutputWaits(repeated) // callers can still wait for the end
	if !repeated {
		s.update(ChangeQuarantine, func(st *Status) {
			st.Quarantine, st.Version, st.Offset = why, s.engine.Version(), s.offset
			st.Shell, st.Needs, st.Alt = ShellStatus{}, InputNeed{}, false
		})
	}
	s.watch.frames()
	s.watch.output()
}

// quarantineEngine returns an emulator that shows the reason.
func (s *Session) quarantineEngine(why string) vterm.Engine {
	st, o := s.Status(), s.cfg.Options
	if st.Cols > 0 && st.Rows > 0 {
		o.Cols, o.Rows = st.Cols, st.Rows
	}
	engine, err := NewEngine(DefaultEngine, o)
	if err != nil { // the default engine is known
		panic(err)
	}
	_, _ = fmt.Fprintf(engine, "This session is quarantined (%.200q).\r\nIts program runs on; longterm output shows what it prints.\r\n", why)
	return engine
}

// beginReplayAttempt records the start of a replay. done records that it ended well or was abandoned. ok is false if too
// many daemons crashed in it.
func (s *Session) beginReplayAttempt() (done func(), ok bool) {
	if s.cfg.Dir == "" {
		return func() {}, true
	}
	path := filepath.Join(s.cfg.Dir, replayAttemptFile)
	var a replayAttempt
	b, err := os.ReadFile(path)
	open := err == nil && json.Unmarshal(b, &a) == nil && a.Build == s.cfg.Build
	switch {
	case !open:
		a = replayAttempt{Build: s.cfg.Build}
	case s.cfg.PreviousCrashed:
		a.Crashes++
	}
	unlock := func() {}
	if a.Crashes > 0 && s.cfg.SuspectSlot != nil { // one at a time, so that a crash is attributed correctly
		select {
		case s.cfg.SuspectSlot <- struct{}{}:
			unlock = func() { <-s.cfg.SuspectSlot }
		case <-s.stop:
			return func() {}, true // the replay ends at once
		}
	}
	if b, err = json.Marshal(a); err == nil {
		// Written atomically: half a count is useless. Not synced: it counts crashes of daemons, not of the machine.
		err = atomicfile.Write(path, atomicfile.Options{}, b)
	}
	if err != nil {
		s.log.Warn("record the start of a replay", "session", s.cfg.ID, "err", err)
	}
	if a.Crashes >= maxReplayAttempts {
		unlock()
		return func() {}, false
	}
	return func() {
		_ = os.Remove(path) // at worst the next replay runs alone
		unlock()
	}, true
}

// SkipHistoryBefore makes the next owner of a quarantined session's directory start at an offset, with an empty screen.
// Output before the offset stays in the history but is not interpreted again. The session must be stopped.
func (s *Session) SkipHistoryBefore(off uint64) error {
	engine, err := NewEngine(s.engineName(), s.cfg.Options)
	if err != nil {
		return err
	}
	err = checkpoint.Write(s.cfg.Dir, checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: off, Time: time.Now(), Snapshot: engine.AppendSnapshot(nil),
	})
	for _, name := range []string{replayAttemptFile, trackingFile, rulesFile} {
		if rerr := os.Remove(filepath.Join(s.cfg.Dir, name)); !errors.Is(rerr, os.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
	}
	return err
}
