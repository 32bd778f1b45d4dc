package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// historyHost is what is kept of a session: its journal's writing end, checkpoints, screens, and what
// the program said of itself. It belongs to the owner, but for what package history says may be used
// from any goroutine.
type historyHost struct {
	s       *Session
	record  history.Recorder
	due     history.Checkpoints
	screens *history.Screens
	disk    diskWriter
	said    *said // what is in its file; nil: it is not known
}

// past is what is kept, to make emulators of back then from.
func (h *historyHost) past() *history.Past {
	s := h.s
	return &history.Past{
		Journal: s.cfg.Journal, Dir: s.cfg.Dir, Engine: s.engineName(), Screens: h.screens,
		Unused: func(engine string, err error) {
			if !errors.Is(err, os.ErrNotExist) {
				s.log.Warn("checkpoint not used; replaying from the start", "session", s.cfg.ID, "engine", engine, "err", err)
			}
		},
	}
}

// keepScreen adds the screen to the series when enough was printed since the last time.
func (h *historyHost) keepScreen() {
	s := h.s
	if !h.screens.Due(s.off) || h.record.Failing() || s.cfg.Dir == "" {
		return
	}
	h.screens.Taken(s.off)
	h.disk.keepScreen(&checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: s.off, Time: time.Now(), Snapshot: s.engine.AppendScreenSnapshot(nil),
	})
}

// besideCheckpoint is what has to be written before a checkpoint, by the files' names: what its
// replay will not bring.
func (h *historyHost) besideCheckpoint() map[string][]byte {
	s := h.s
	if h.disk.lost() {
		s.typing.dedup.Unsaved()
		h.said = nil
	}
	files := map[string][]byte{}
	for name, state := range map[string]func() ([]byte, error){
		trackingFile: s.lines.trackingState, dedupFile: s.typing.dedupState, saidFile: h.saidState,
	} {
		b, err := state()
		if err != nil {
			s.log.Warn("write down what no replay brings", "session", s.cfg.ID, "file", name, "err", err)
		}
		if b != nil {
			files[name] = b
		}
	}
	return files
}

// checkpoint has the emulator's state written down. A failure costs only time at the next
// start, and a full disk is reported by the journal.
func (h *historyHost) checkpoint() {
	s := h.s
	h.due.Stop()
	if s.engine == nil || !h.due.Worth(s.off, false) || h.record.Failing() || s.quarantined {
		return
	}
	if s.cfg.Dir == "" { // no owner will go on from it
		h.due.Wrote(s.off, h.due.Size())
		return
	}
	buf := snapshots.take()
	*buf = s.engine.AppendSnapshot(*buf)
	h.due.Wrote(s.off, uint64(len(*buf)))
	h.disk.keepPoint(&keptPoint{
		Checkpoint: checkpoint.Checkpoint{Engine: s.engineName(), Offset: s.off, Time: time.Now(), Snapshot: *buf},
		buf:        buf, files: h.besideCheckpoint(),
	})
	if time.Since(s.Status().LastOutput) >= history.CheckpointQuiet {
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
		s.replaySilence()
		s.settleSize()
		s.history.recordSize()
		s.begin()
		return true
	}
	if c := s.cfg.Rebuilding; c != nil {
		select {
		case c <- struct{}{}:
			defer func() { <-c }()
		case <-s.wanted: // a caller waits for this one
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
	past := s.history.past()
	from, size := past.Restore(s.engine, end)
	s.history.due.Wrote(from, size)
	s.lines.resumeTracking(from)
	s.typing.resumeDedup()
	s.history.resumeSaid()
	s.quiet = true // what happened back then is not announced again
	s.statusOfScreen()
	if _, err := past.Replay(ctx, s.engine, from, end, s.replayed); ctx.Err() != nil {
		return false
	} else if err != nil {
		s.log.Error("history could not be replayed to its end; the screen may be incomplete", "session", s.cfg.ID, "err", err)
	}
	s.quiet, s.replaying = false, time.Time{}
	s.typing.half = half{opaque: true, before: true}
	s.engine.Pack()
	s.settleSize()
	s.begin()
	return true
}

// settleSize goes on with the size that the terminal has, or for what has none the one that the journal knew last: a daemon
// that was killed may not have come to note it everywhere. A size that nobody knew of would never be set again: it is
// there already. The emulator may have neither: sizes that a checkpoint seems to have seen are not replayed, and by a clock
// that was set back it seems so of newer ones.
func (s *Session) settleSize() {
	cols, rows, known := s.terminalSize()
	noted := s.lastSize
	if noted == [2]int{} {
		noted = s.screenSize()
	}
	if known && noted != [2]int{cols, rows} {
		if err := s.cfg.Journal.AppendResize(cols, rows); err != nil {
			s.history.journalFails(err)
		}
		noted = [2]int{cols, rows}
	}
	s.engine.Resize(noted[0], noted[1])
	if st := s.Status(); noted != [2]int{st.Cols, st.Rows} {
		s.update(ChangeSize, func(st *Status) { st.Cols, st.Rows = noted[0], noted[1] })
	}
}

// screenSize is the emulator's columns and rows.
func (s *Session) screenSize() [2]int {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows
	return [2]int{f.Cols, f.Rows}
}

// terminalSize asks the terminal for its size.
func (s *Session) terminalSize() (cols, rows int, known bool) {
	if s.cfg.Device == nil {
		return 0, 0, false
	}
	err := s.cfg.Device.Control(func(fd int) (err error) {
		cols, rows, err = sys.Size(fd)
		return err
	})
	return cols, rows, err == nil && vterm.ValidSize(cols, rows)
}

// replaySilence takes what the journal knows of a program that has printed nothing, yet may have been typed into.
func (s *Session) replaySilence() {
	ctx, cancel := s.untilStop()
	defer cancel()
	s.typing.resumeDedup()
	s.quiet = true
	_, err := s.history.past().Replay(ctx, s.engine, 0, 0, s.replayed)
	s.quiet, s.replaying = false, time.Time{}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
	}
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
	switch rec.Kind {
	case journal.KindMark:
		s.replayMark(rec)
	case journal.KindResize:
		s.lastSize = [2]int{rec.Cols, rec.Rows}
	default:
		s.inputwait.asked = Needs{}
		s.applyEvents(at)
	}
}

// recordSize makes the size a replay has to begin with the journal's first record.
func (h *historyHost) recordSize() {
	s := h.s
	st := s.Status()
	if err := s.cfg.Journal.AppendResize(st.Cols, st.Rows); err != nil {
		h.journalFails(err)
	}
}

// begin makes everything stand where the journal ends.
func (s *Session) begin() {
	s.stand()
	s.typing.keepLeft()
	s.resumeRules()
}

// stand makes journal, ring and what is known of the output meet.
func (s *Session) stand() {
	s.off = s.cfg.Journal.End()
	if s.ring != nil && s.ring.Head() < s.off {
		s.history.stepBack(s.ring.Head())
	}
	if s.ring != nil {
		s.ring.Ack(s.off) // journalled by an earlier owner who died before saying so
		s.cfg.Device.Resume()
		if tail := s.ring.Tail(); s.off < tail {
			s.history.skipTo(tail)
		}
	}
	s.history.record.StandAt(s.off)
	s.watch.output()
	v := s.engine.Version()
	s.update(ChangeOutput, func(st *Status) { st.Offset, st.Version = s.off, v })
	if s.ring != nil { // it may ask already, and print no more: an earlier owner's finding died with it
		s.inputwait.resume()
	}
}

// silentSince is when the program fell silent, as far as is known.
func (s *Session) silentSince() time.Time {
	st := s.Status()
	if st.LastOutput.After(st.Started) {
		return st.LastOutput
	}
	return st.Started
}

// skipTo goes on at an offset that the journal does not reach: history was lost (an
// older directory was put back, say). The gap is recorded, not hidden.
func (h *historyHost) skipTo(off uint64) {
	s := h.s
	s.log.Error("journal and ring do not meet; the bytes between are lost", "session", s.cfg.ID, "journal", s.off, "ring", off)
	if err := h.record.Skip(off); err != nil {
		h.journalFails(err)
	}
	s.off = off
}

// stepBack goes on at the ring's head when the journal reaches past it (it is another
// session's, or damaged): bytes of a ring are believed up to its head and no further.
func (h *historyHost) stepBack(head uint64) {
	s := h.s
	err := fmt.Sprintf("the history kept reaches to %d, past the %d bytes that were printed; nothing is added up to there", s.off, head)
	s.log.Error(err, "session", s.cfg.ID)
	s.off = head
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = err })
}
