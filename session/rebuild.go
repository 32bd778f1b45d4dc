package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/longterm-dev/longterm/session/internal/admit"
	"github.com/longterm-dev/longterm/session/internal/history"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/checkpoint"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// historyHost holds the session's history: the writing end of its journal, checkpoints, screens and the program's
// reported state. It belongs to the owner, except for the parts that package history allows on any goroutine.
type historyHost struct {
	s            *Session
	recorder     history.Recorder           // writes the journal
	checkpoints  history.CheckpointSchedule // decides when a checkpoint is due
	screens      *history.ScreenSeries
	disk         diskWriter
	lastReported *reportedState // as last written; nil: unknown
}

// replayer returns the history for rebuilding earlier screens.
func (h *historyHost) replayer() *history.Replayer {
	s := h.s
	return &history.Replayer{
		Journal: s.cfg.Journal, Dir: s.cfg.Dir, Engine: s.engineName(), Screens: h.screens,
		OnUnusedCheckpoint: func(engine string, err error) {
			if !errors.Is(err, os.ErrNotExist) {
				s.log.Warn("checkpoint not used; replaying from the start", "session", s.cfg.ID, "engine", engine, "err", err)
			}
		},
	}
}

// saveScreenIfDue adds the screen to the series if enough was printed since the last one.
func (h *historyHost) saveScreenIfDue() {
	s := h.s
	if !h.screens.IsDue(s.offset) || h.recorder.IsFailing() || s.cfg.Dir == "" {
		return
	}
	h.screens.NoteTaken(s.offset)
	h.disk.saveScreen(&checkpoint.Checkpoint{
		Engine: s.engineName(), Offset: s.offset, Time: time.Now(), Snapshot: s.engine.AppendScreenSnapshot(nil),
	})
}

// checkpointFiles returns the files to write before a checkpoint, by name: state that a replay from the checkpoint
// does not restore.
func (h *historyHost) checkpointFiles() map[string][]byte {
	s := h.s
	if h.disk.reportWriteFailure() {
		s.typing.dedup.MarkUnsaved()
		h.lastReported = nil
	}
	files := map[string][]byte{}
	for name, state := range map[string]func() ([]byte, error){
		trackingFile: s.lines.trackingState, dedupFile: s.typing.dedupState, reportedFile: h.changedReportedState,
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

// checkpoint saves the emulator's state. A failure only makes the next start slower, and the journal reports a full
// disk.
func (h *historyHost) checkpoint() {
	s := h.s
	h.checkpoints.Stop()
	if s.engine == nil || !h.checkpoints.IsWorthwhile(s.offset, false) || h.recorder.IsFailing() || s.quarantined {
		return
	}
	if s.cfg.Dir == "" { // no owner will continue from it
		h.checkpoints.NoteWritten(s.offset, h.checkpoints.Size())
		return
	}
	buf := snapshots.get()
	*buf = s.engine.AppendSnapshot(*buf)
	h.checkpoints.NoteWritten(s.offset, uint64(len(*buf)))
	h.disk.saveCheckpoint(&pendingCheckpoint{
		Checkpoint: checkpoint.Checkpoint{Engine: s.engineName(), Offset: s.offset, Time: time.Now(), Snapshot: *buf},
		buf:        buf, files: h.checkpointFiles(),
	})
	if time.Since(s.Status().LastOutput) >= history.CheckpointIdle {
		s.engine.Pack()
	}
}

// engineName returns the name of the session's emulator.
func (s *Session) engineName() string {
	if s.cfg.Engine == "" {
		return DefaultEngine
	}
	return s.cfg.Engine
}

// rebuild restores the emulator up to the journal's end: newest checkpoint, then replay. Replies to old queries are not
// sent again. It returns false if the session was stopped first; the state is then unusable.
func (s *Session) rebuild() bool {
	if s.isStopping() {
		return false
	}
	if s.cfg.Journal.End() == 0 {
		s.replayMarksWithoutOutput()
		s.restoreSize()
		s.history.recordSize()
		s.startAtEnd()
		return true
	}
	if c := s.cfg.RebuildSlots; c != nil {
		select {
		case c <- struct{}{}:
			defer func() { <-c }()
		case <-s.rebuildNow: // a caller waits for this session
		case <-s.stop:
			return false
		}
	}
	done, ok := s.beginReplayAttempt()
	defer done()
	if !ok {
		s.quarantine(fmt.Sprintf("the daemon crashed %d times while it rebuilt this session's screen; another version will retry", maxReplayAttempts))
		s.setOffsets()
		return true
	}
	ctx, cancel := s.stopContext()
	defer cancel()
	end := s.cfg.Journal.End()
	past := s.history.replayer()
	from, size := past.Restore(s.engine, end)
	s.history.checkpoints.NoteWritten(from, size)
	s.lines.restoreTracking(from)
	s.typing.restoreDedup()
	s.history.restoreReported()
	s.publishMuted = true // old changes are not published again
	s.restoreStatusFromScreen()
	if _, err := past.Replay(ctx, s.engine, from, end, s.applyRecord); ctx.Err() != nil {
		return false
	} else if err != nil {
		s.log.Error("history could not be replayed to its end; the screen may be incomplete", "session", s.cfg.ID, "err", err)
	}
	s.publishMuted, s.replayTime = false, time.Time{}
	s.typing.lineText = admit.InheritedLine()
	s.engine.Pack()
	s.restoreSize()
	s.startAtEnd()
	return true
}

// restoreSize sets the emulator to the terminal's size, or, without a terminal, to the last size in the journal. A
// killed daemon may not have recorded a size everywhere; a later resize to that size would then be ignored as already
// in effect. The emulator may have neither size: sizes that a checkpoint seems to include are not replayed, and after
// the clock was set back newer ones look included.
func (s *Session) restoreSize() {
	cols, rows, known := s.terminalSize()
	noted := s.lastSize
	if noted == [2]int{} {
		noted = s.screenSize()
	}
	if known && noted != [2]int{cols, rows} {
		if err := s.cfg.Journal.AppendResize(cols, rows); err != nil {
			s.history.onJournalError(err)
		}
		noted = [2]int{cols, rows}
	}
	s.engine.Resize(noted[0], noted[1])
	if st := s.Status(); noted != [2]int{st.Cols, st.Rows} {
		s.update(ChangeSize, func(st *Status) { st.Cols, st.Rows = noted[0], noted[1] })
	}
}

// screenSize returns the emulator's columns and rows.
func (s *Session) screenSize() [2]int {
	var f vterm.Frame
	s.engine.Frame(&f, vterm.Query{Since: s.engine.Version()}) // no rows
	return [2]int{f.Cols, f.Rows}
}

// terminalSize returns the size of the terminal.
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

// replayMarksWithoutOutput replays the marks of a program that has printed nothing, but may have got input.
func (s *Session) replayMarksWithoutOutput() {
	ctx, cancel := s.stopContext()
	defer cancel()
	s.typing.restoreDedup()
	s.publishMuted = true
	_, err := s.history.replayer().Replay(ctx, s.engine, 0, 0, s.applyRecord)
	s.publishMuted, s.replayTime = false, time.Time{}
	if err != nil && ctx.Err() == nil {
		s.log.Warn("what was typed is not known; it may be typed twice", "session", s.cfg.ID, "err", err)
	}
}

// isStopping reports whether the session is being stopped.
func (s *Session) isStopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// stopContext returns a context that ends when the session is stopped.
func (s *Session) stopContext() (context.Context, context.CancelFunc) {
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

// applyRecord applies a replayed record's effects other than those on the screen.
func (s *Session) applyRecord(rec *journal.Record, at uint64) {
	s.replayTime = rec.Time
	switch rec.Kind {
	case journal.KindMark:
		s.replayMark(rec)
	case journal.KindResize:
		s.lastSize = [2]int{rec.Cols, rec.Rows}
	default:
		s.inputwait.journaled = InputNeed{}
		s.applyEvents(at)
	}
}

// recordSize makes the initial size the journal's first record.
func (h *historyHost) recordSize() {
	s := h.s
	st := s.Status()
	if err := s.cfg.Journal.AppendResize(st.Cols, st.Rows); err != nil {
		h.onJournalError(err)
	}
}

// startAtEnd starts the session at the journal's end, with input and rules of the previous owner.
func (s *Session) startAtEnd() {
	s.setOffsets()
	s.typing.journalUnfinishedInput()
	s.restoreRules()
}

// setOffsets sets all offsets to the journal's end, as far as the ring agrees.
func (s *Session) setOffsets() {
	s.offset = s.cfg.Journal.End()
	if s.ring != nil && s.ring.Head() < s.offset {
		s.history.resetToHead(s.ring.Head())
	}
	if s.ring != nil {
		s.ring.Ack(s.offset) // journaled by an earlier owner that died before the acknowledgement
		s.cfg.Device.Resume()
		if tail := s.ring.Tail(); s.offset < tail {
			s.history.skipTo(tail)
		}
	}
	s.history.recorder.SetEnd(s.offset)
	s.watch.output()
	v := s.engine.Version()
	s.update(ChangeOutput, func(st *Status) { st.Offset, st.Version = s.offset, v })
	// the program may wait at a prompt already and print nothing more; the earlier owner's finding was lost
	if s.ring != nil {
		s.inputwait.restore()
	}
}

// silentSince returns when the program last printed, or its start.
func (s *Session) silentSince() time.Time {
	st := s.Status()
	if st.LastOutput.After(st.Started) {
		return st.LastOutput
	}
	return st.Started
}

// skipTo continues at an offset that the journal does not reach: history was lost (an older directory was restored, for
// example). The gap is recorded, not hidden.
func (h *historyHost) skipTo(off uint64) {
	s := h.s
	s.log.Error("journal and ring do not meet; the bytes between are lost", "session", s.cfg.ID, "journal", s.offset, "ring", off)
	if err := h.recorder.SkipTo(off); err != nil {
		h.onJournalError(err)
	}
	s.offset = off
}

// resetToHead continues at the ring's head if the journal is longer (of another session, or damaged): a ring's content
// is valid up to its head only.
func (h *historyHost) resetToHead(head uint64) {
	s := h.s
	err := fmt.Sprintf("history is longer (%d bytes) than the output (%d bytes); no output is added up to its end", s.offset, head)
	s.log.Error(err, "session", s.cfg.ID)
	s.offset = head
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = err })
}
