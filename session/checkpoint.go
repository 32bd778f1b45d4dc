package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// A checkpoint is due after this much output, or once output rests this long.
	checkpointBytes = 8 << 20
	checkpointQuiet = 2 * time.Second
)

// checkpoints says when the next checkpoint is due. A snapshot holds the scrollback, so
// it can be much larger than the output since the last one: what is written stays in
// proportion to what was printed, and so does what a restart has to replay.
type checkpoints struct {
	at    uint64 // offset of the newest one
	size  uint64 // of the newest one, bytes
	timer *time.Timer
}

// worth reports whether so much was printed since the newest checkpoint that another
// is worth its size: a sixteenth of it at rest, as much again in a flood.
func (c *checkpoints) worth(off uint64, flood bool) bool {
	grown := off - c.at
	if flood {
		return grown >= max(checkpointBytes, c.size)
	}
	return grown > 0 && grown >= c.size/16
}

func (c *checkpoints) grew(off uint64) {
	wait := checkpointQuiet
	switch {
	case c.worth(off, true):
		wait = 0
	case !c.worth(off, false):
		return
	}
	if c.timer == nil {
		c.timer = time.NewTimer(wait)
	} else {
		c.timer.Reset(wait)
	}
}

// C fires when a checkpoint is due.
func (c *checkpoints) C() <-chan time.Time {
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// sparse keeps the screen, without scrollback, every so often: what looking back begins
// with.
type sparse struct {
	mu     sync.Mutex // Past reads on other goroutines
	series *checkpoint.Series
	at     uint64 // offset of the newest one
}

// keepScreen adds the screen to the series when enough was printed since the last time.
func (s *Session) keepScreen() {
	sp := &s.sparse
	if s.off-sp.at < checkpointBytes || s.journalBad || s.cfg.Dir == "" {
		return
	}
	sp.at = s.off
	c := checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: s.off, Time: time.Now(), Snapshot: s.engine.AppendScreenSnapshot(nil),
	}
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if err := errors.Join(sp.series.Add(c), sp.series.Thin(s.off)); err != nil {
		s.log.Warn("keep a screen for looking back", "session", s.cfg.ID, "err", err)
	}
}

// nearestScreen restores the newest kept screen that is after have and not after until. It
// comes without scrollback: where a full checkpoint is near that is better.
func (s *Session) nearestScreen(engine vterm.Engine, until, have uint64) (from uint64, ok bool) {
	if s.cfg.Dir == "" {
		return 0, false
	}
	s.sparse.mu.Lock()
	c, err := s.sparse.series.Nearest(until)
	s.sparse.mu.Unlock()
	if err != nil || c.Engine != s.engineName() || c.Offset <= have || c.Offset < s.cfg.Journal.Start() || engine.Restore(c.Snapshot) != nil {
		return 0, false
	}
	return c.Offset, true
}

// snapshots are buffers for snapshots with all their scrollback, which many sessions write
// one after the other.
var snapshots = sync.Pool{New: func() any { return new([]byte) }}

// checkpoint writes the emulator's state down. A failure costs only time at the next
// start, and a full disk is reported by the journal.
func (s *Session) checkpoint() {
	s.check.timer = nil
	if s.engine == nil || !s.check.worth(s.off, false) || s.journalBad || s.quarantined {
		return
	}
	if s.cfg.Dir == "" { // nobody will go on from it
		s.check.at = s.off
		return
	}
	s.saveTracking()
	s.saveDedup()
	s.saveSaid()
	buf := snapshots.Get().(*[]byte)
	defer snapshots.Put(buf)
	snapshot := s.engine.AppendSnapshot((*buf)[:0])
	*buf = snapshot
	s.check.at, s.check.size = s.off, uint64(len(snapshot))
	err := checkpoint.Write(s.cfg.Dir, checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: s.off, Time: time.Now(), Snapshot: snapshot,
	})
	if err != nil {
		s.log.Warn("checkpoint", "session", s.cfg.ID, "err", err)
	}
	if time.Since(s.Status().LastOutput) >= checkpointQuiet {
		s.engine.Pack()
	}
}

func (s *Session) engineName() string {
	if s.cfg.Engine == "" {
		return DefaultEngine
	}
	return s.cfg.Engine
}

// rebuild brings the emulator to the journal's end: newest checkpoint, then replay.
// What programs asked back then was answered back then. False: it was stopped before it was
// there, and stands nowhere.
func (s *Session) rebuild() bool {
	if s.stopping() {
		return false
	}
	if s.cfg.Journal.End() == 0 {
		s.recordSize()
		s.begin()
		return true
	}
	if c := s.cfg.Rebuilding; c != nil {
		select {
		case c <- struct{}{}:
			defer func() { <-c }()
		case <-s.wanted: // somebody waits for this one
		case <-s.stop:
			return false
		}
	}
	done, ok := s.attemptReplay()
	defer done()
	if !ok {
		s.quarantine(fmt.Sprintf("the daemon crashed %d times while this session's screen was made anew; another version of it will try again", maxAttempts))
		s.stand()
		return true
	}
	ctx, cancel := s.untilStop()
	defer cancel()
	end := s.cfg.Journal.End()
	from, size := s.restoreInto(s.engine, end)
	s.check.at, s.check.size = from, size
	s.resumeTracking(from)
	s.resumeDedup()
	s.resumeSaid()
	s.quiet = true // nobody is told again what happened back then
	s.statusOfScreen()
	if _, err := replay(ctx, s.cfg.Journal.NewReader(from), s.engine, end, s.replayed); ctx.Err() != nil {
		return false
	} else if err != nil {
		s.log.Error("history could not be replayed to its end; the screen may be incomplete", "session", s.cfg.ID, "err", err)
	}
	s.quiet, s.replaying = false, time.Time{}
	s.engine.Pack()
	s.begin()
	return true
}

func (s *Session) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// untilStop is a context that ends when the session is stopped.
func (s *Session) untilStop() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		select {
		case <-s.stop:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// replayed takes what a piece of history says besides what it shows.
func (s *Session) replayed(rec *journal.Record, at uint64) {
	s.replaying = rec.Time
	if rec.Kind == journal.KindMark {
		s.retell(rec)
		return
	}
	s.happened(at)
}

// recordSize makes the size a replay has to begin with the journal's first record.
func (s *Session) recordSize() {
	st := s.Status()
	if err := s.cfg.Journal.AppendResize(st.Cols, st.Rows); err != nil {
		s.journalFails(err)
	}
}

// restoreInto loads the newest checkpoint that is not after until, and returns the offset
// to replay from and the checkpoint's size in bytes.
func (s *Session) restoreInto(engine vterm.Engine, until uint64) (from, size uint64) {
	if s.cfg.Dir == "" {
		return s.cfg.Journal.Start(), 0
	}
	c, err := checkpoint.Read(s.cfg.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return s.cfg.Journal.Start(), 0
	case err != nil, c.Engine != s.engineName(), c.Offset > s.cfg.Journal.End():
		s.log.Warn("checkpoint not used; replaying from the start", "session", s.cfg.ID, "engine", c.Engine, "err", err)
		return s.cfg.Journal.Start(), 0
	case c.Offset > until:
		return s.cfg.Journal.Start(), 0
	}
	if err := engine.Restore(c.Snapshot); err != nil {
		s.log.Warn("checkpoint not used; replaying from the start", "session", s.cfg.ID, "err", err)
		return s.cfg.Journal.Start(), 0
	}
	return c.Offset, uint64(len(c.Snapshot))
}

// begin makes everything stand where the journal ends.
func (s *Session) begin() {
	s.stand()
	s.resumeRules()
}

// stand makes journal, ring and what is known of the output meet.
func (s *Session) stand() {
	s.off = s.cfg.Journal.End()
	if s.ring != nil && s.ring.Head() < s.off {
		s.stepBack(s.ring.Head())
	}
	s.journalled = s.off
	if s.ring != nil {
		s.ring.Ack(s.off) // journalled by an earlier owner who died before saying so
		s.cfg.Device.Resume()
		if tail := s.ring.Tail(); s.off < tail {
			s.skipTo(tail)
		}
	}
	s.streams.beginAt(s.off)
	s.watch.output()
	if s.ring != nil { // it may ask already, and print no more: an earlier owner's finding died with it
		s.inputwait.lookAt(s.inputwait.machine.Restart(time.Now()))
	}
	v := s.engine.Version()
	s.update(ChangeOutput, func(st *Status) { st.Offset, st.Version = s.off, v })
}

// skipTo goes on at an offset that the journal does not reach: history was lost (an
// older directory was put back, say). The gap is recorded, not hidden.
func (s *Session) skipTo(off uint64) {
	s.log.Error("journal and ring do not meet; the bytes between are lost", "session", s.cfg.ID, "journal", s.off, "ring", off)
	if err := s.reach(off); err != nil {
		s.journalFails(err)
	}
	s.off, s.journalled = off, off
}

// stepBack goes on at the ring's head when the journal reaches past it (it is another
// session's, or damaged): bytes of a ring are believed up to its head and no further.
func (s *Session) stepBack(head uint64) {
	err := fmt.Sprintf("the history kept reaches to %d, past the %d bytes that were printed; nothing is added up to there", s.off, head)
	s.log.Error(err, "session", s.cfg.ID)
	s.off = head
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = err })
}
