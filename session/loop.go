package session

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// drainBytes bounds the output that is handled before operations get a turn.
	drainBytes = 256 << 10
	// journalRetry is the interval of retries of a failing journal while no output triggers one.
	journalRetry = time.Second
)

// run rebuilds the session and runs the owner.
func (s *Session) run() {
	built := false
	s.typing.loadUnfinishedInput()
	if s.guard(func() { built = s.rebuild() }) == nil && !built {
		s.abandon()
		s.closeStopped()
		return
	}
	if !built { // rebuild panicked: output still continues at the journal's end
		s.setOffsets()
	}
	s.scheduleEviction()
	s.parking.idle = true // until there is output or an operation
	s.runOwner()
}

// runOwner runs the owner's goroutine. It ends if the session is idle and is restarted later: see park.go.
func (s *Session) runOwner() {
	for {
		stopped, idle := s.iterate()
		if idle && s.park() {
			return
		}
		if stopped {
			break
		}
	}
	_ = s.guard(s.saveState)
	s.cleanup()
	s.closeStopped()
}

// closeStopped closes s.stopped and wakes watchers after the owner has exited.
func (s *Session) closeStopped() {
	close(s.stopped)
	s.watch.notifyNext()
}

// iterate handles pending work and waits for more. stopped: the session is stopped. idle: the owner can park.
func (s *Session) iterate() (stopped, idle bool) {
	_ = s.guard(func() { // an error is in the status
		if s.drain() {
			signal(s.output) // more output is pending; operations come first
		}
		s.afterDrain()
		if s.inputwait.isDue() {
			s.inputwait.probe()
			return
		}
		if idle = s.canPark(); idle {
			return
		}
		select {
		case <-s.stop:
			stopped = true
		case f := <-s.ops:
			s.parking.pendingOps.Add(-1)
			f()
		case <-s.output:
		case <-s.clock.C():
			s.clock.onTimer()
			s.watch.frames()
		case <-s.history.checkpoints.C():
			s.history.checkpoint()
		case <-s.parking.C():
			s.parking.onTimer()
		case <-s.lines.timer:
			s.lines.onExecTimer()
		case <-s.waits.idleTimer():
		case <-s.journalRetryTimer():
		case <-s.rules.C():
			s.rules.onTimer()
		}
	})
	return stopped, idle
}

// journalRetryTimer fires after journalRetry while the journal is failing.
func (s *Session) journalRetryTimer() <-chan time.Time {
	if !s.history.recorder.IsFailing() {
		return nil
	}
	return time.After(journalRetry)
}

// drain moves output from the ring to journal and emulator, up to drainBytes, and reports whether more may be pending.
func (s *Session) drain() (more bool) {
	if s.ring == nil {
		return false
	}
	s.ring.ArmNotice() // from here on a new byte sends a notice
	if n := s.ring.MissedBytes(s.offset); n > 0 {
		s.history.skipTo(s.offset + n)
	}
	head := s.ring.Head()
	if head != s.offset {
		s.watch.output() // for bytes without a notice that came after the followers read
	}
	if s.history.recorder.IsFailing() {
		s.history.retryJournal()
	}
	taken := 0
	for taken < drainBytes {
		p := s.ring.BytesAt(s.offset, s.history.recorder.LimitPiece(drainBytes-taken))
		if len(p) == 0 {
			break
		}
		taken += len(p)
		s.ingest(p)
	}
	if taken == 0 {
		return false
	}
	s.noteActivity()
	if s.offset > head { // more bytes came during the drain, the last ones perhaps without a notice
		s.watch.output()
	}
	s.publish()
	return taken >= drainBytes
}

// ingest journals, shows and acknowledges p, the bytes at s.off. p is ring memory: it stays valid until the
// acknowledgement, which comes last.
func (s *Session) ingest(p []byte) {
	if err := s.history.recorder.RecordOutput(s.offset, p); err != nil {
		s.history.onJournalError(err)
	}
	if s.quarantined {
		s.offset += uint64(len(p))
	} else {
		s.feedOutput(p)
	}
	s.history.recorder.DropIfRingFills(s.offset)
	s.history.acknowledge()
}

// feedOutput feeds p to all readers of output.
func (s *Session) feedOutput(p []byte) {
	s.typing.emulate(p)
	s.offset += uint64(len(p))
	s.applyEvents(s.offset)
	s.waits.set.Output(p, s.offset-uint64(len(p)))
	s.rules.output(p)
}

// acknowledge acknowledges journaled output in the ring.
func (h *historyHost) acknowledge() {
	s := h.s
	if s.ring.Ack(h.recorder.HandledOffset()) {
		s.cfg.Device.Resume()
	}
}

// onJournalError records that the journal cannot be written.
func (h *historyHost) onJournalError(err error) {
	s := h.s
	h.recorder.MarkFailing()
	s.log.Error("history not written; session continues", "session", s.cfg.ID, "err", err)
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = err.Error() })
}

// retryJournal retries the output that could not be journaled.
func (h *historyHost) retryJournal() {
	s := h.s
	gap, ok := h.recorder.Retry(s.offset)
	if !ok {
		return
	}
	h.acknowledge()
	s.log.Warn("history is being written again", "session", s.cfg.ID, "gap_bytes", gap)
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = "" })
}

// publish updates status, frames and probes after new output.
func (s *Session) publish() {
	if s.quarantined {
		now := time.Now()
		s.outputTimes.add(s.Status().Offset, s.offset, now)
		s.update(ChangeOutput, func(st *Status) { st.Offset, st.LastOutput = s.offset, now })
		s.watch.output()
		return
	}
	s.typing.typeReplies()
	if s.history.recorder.HasStreams() {
		defer s.watch.output() // the streams of the output are known at return
	}
	now := time.Now()
	version := s.engine.Version()
	changed := version != s.Status().Version || s.effects.pending
	s.effects.pending = false
	s.outputTimes.add(s.Status().Offset, s.offset, now)
	s.update(ChangeOutput, func(st *Status) { st.Offset, st.Version, st.LastOutput = s.offset, version, now })
	if changed && s.clock.frameDue(now) {
		s.watch.frames()
	}
	s.history.checkpoints.NoteOutput(s.offset)
	s.history.saveScreenIfDue()
	s.inputwait.onOutput(now)
	s.waits.set.CheckActivity()
}

// applyEvents turns the emulator's events into status. The emulator has processed the output up to off.
func (s *Session) applyEvents(off uint64) {
	s.events = s.engine.Events(s.events[:0])
	before := off - s.engine.Written() // of output that the engine has not seen; wraps around
	for i := range s.events {
		s.events[i].At += before
		s.applyEvent(&s.events[i])
	}
	if cap(s.events) > 64 {
		s.events = nil // a burst must not cost an idle session memory
	}
}

// applyEvent applies one event to the status.
func (s *Session) applyEvent(e *vterm.Event) {
	switch e.Kind {
	case vterm.EventBell:
		s.pendingBells, s.bellAt = s.pendingBells+1, e.At
		s.update(ChangeBell, func(*Status) {})
		s.addEffect(e)
	case vterm.EventNotify, vterm.EventClipboard:
		s.addEffect(e)
	case vterm.EventTitle:
		s.update(ChangeTitle, func(st *Status) { st.Title = e.Text })
	case vterm.EventCwd:
		if dir := shell.ParseCwd(e.Name, e.Text).Path; dir != "" && dir != s.Status().Cwd && !s.lines.tracksCwd() {
			s.update(ChangeCwd, func(st *Status) { st.Cwd = dir })
		}
	case vterm.EventAltScreen:
		s.update(ChangeAlt, func(st *Status) { st.Alt = e.Num == 1 })
		s.watch.output() // followers redraw
	case vterm.EventProgress:
		s.update(ChangeProgress, func(st *Status) { st.Progress, st.Percent = e.Name, e.Num })
	}
	s.lines.track(e)
}

// afterDrain handles the end of the program and of its output, once the ring is drained.
func (s *Session) afterDrain() {
	if s.exit != nil && s.offset >= s.exitAt {
		s.recordExit()
	}
	s.waits.set.Check()
	s.rules.schedule()
	if s.outputEnded && s.Status().State != Running && !s.released && s.isRingDrained() {
		s.released = true
		s.history.checkpoint()
		s.detach()
	}
}

// isRingDrained reports whether the ring has no unhandled output.
func (s *Session) isRingDrained() bool {
	return s.ring == nil || s.ring.Head() == s.offset && s.history.recorder.HandledOffset() == s.offset
}

// detach releases ring and PTY: only the history remains.
func (s *Session) detach() {
	if s.cfg.Device == nil {
		return
	}
	s.detached.Store(true)
	s.unmapRing()
	s.typing.queue.End()
	s.cfg.Device.Release()
	s.scheduleEviction()
}

// recordExit records the child's exit after the last byte it printed.
func (s *Session) recordExit() {
	e := *s.exit
	s.exit = nil
	rec := journal.Exit{Code: e.Code, Signal: e.Number, User: e.User, System: e.System, MaxRSS: e.MaxRSS}
	if err := s.cfg.Journal.AppendExit(rec); err != nil {
		s.log.Error("the exit was not journaled", "session", s.cfg.ID, "err", err)
	}
	s.diskTasks.Go(func() { // the disk can take its time
		if err := s.cfg.Journal.Sync(); err != nil {
			s.log.Error("sync the history of an ended session", "session", s.cfg.ID, "err", err)
		}
	})
	s.lines.shellEnded(&e)
	s.rules.onEnd()
	s.update(ChangeState, func(st *Status) { st.State, st.Exit, st.Ended = Exited, &e, e.Time })
	s.lines.endRuns(ErrEnded)
	s.watch.frames()
	s.watch.output()
}

// abandon ends a session that was not rebuilt. Its state does not match the journal's end, so it writes nothing, reads
// nothing from the ring and acknowledges nothing. The next owner finds everything unchanged.
func (s *Session) abandon() {
	s.endWaits()
	s.cleanup()
}

// saveState saves all state for the next owner.
func (s *Session) saveState() {
	s.history.checkpoint() // output that the ring still holds is left to the next owner
	s.rules.save()
	s.rules.end()
	s.endWaits()
	if err := s.history.recorder.EndStreamRange(); err != nil {
		s.log.Warn("journal", "session", s.cfg.ID, "err", err)
	}
}

// cleanup releases what remains. Nothing in it can panic.
func (s *Session) cleanup() {
	s.typing.queue.End()
	s.diskTasks.Wait()
	s.leaveCache()
	if s.Status().State != Running {
		s.unmapRing()
	}
	if err := s.cfg.Journal.Close(); err != nil {
		s.log.Error("close the journal", "session", s.cfg.ID, "err", err)
	}
}
