package session

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// drainBytes bounds what is taken from the ring before operations get a turn.
	drainBytes = 256 << 10
	// journalRetry is how often a failing journal is tried again while nothing
	// arrives that would try it anyway.
	journalRetry = time.Second
)

// run begins the owner's life.
func (s *Session) run() {
	built := false
	s.typing.takeLeftTyping()
	if s.guard(func() { built = s.rebuild() }) == nil && !built {
		s.abandon()
		s.gone()
		return
	}
	if !built { // it panicked: the output goes on where the journal ends all the same
		s.stand()
	}
	s.mayRest()
	s.doze.calm = true // until something is printed or asked for
	s.live()
}

// live is the owner's goroutine, which ends when there is nothing to do and is begun again: see doze.
func (s *Session) live() {
	for {
		over, idle := s.turn()
		if idle && s.dozes() {
			return
		}
		if over {
			break
		}
	}
	_ = s.guard(s.finish)
	s.leave()
	s.gone()
}

// gone tells that there is no owner any more.
func (s *Session) gone() {
	close(s.stopped)
	s.watch.callNext()
}

// turn takes what there is to do and waits for more. over: the session is stopped; idle: there is nothing to wait for.
func (s *Session) turn() (over, idle bool) {
	_ = s.guard(func() { // what it did is in the status
		if s.drain() {
			signal(s.output) // more is there; operations first
		}
		s.afterDrain()
		if s.inputwait.isDue() {
			s.inputwait.look()
			return
		}
		if idle = s.mayDoze(); idle {
			return
		}
		select {
		case <-s.stop:
			over = true
		case f := <-s.ops:
			s.doze.calls.Add(-1)
			f()
		case <-s.output:
		case <-s.clock.C():
			s.clock.fired()
			s.watch.frames()
		case <-s.history.due.C():
			s.history.checkpoint()
		case <-s.doze.C():
			s.doze.passed()
		case <-s.lines.timer:
			s.lines.execDue()
		case <-s.waits.nextWait():
		case <-s.retry():
		case <-s.rules.C():
			s.rules.due()
		}
	})
	return over, idle
}

// retry fires while the journal is failing, to find out when it works again.
func (s *Session) retry() <-chan time.Time {
	if !s.history.record.Failing() {
		return nil
	}
	return time.After(journalRetry)
}

// drain moves what the ring holds to journal and emulator, up to drainBytes, and
// reports whether more is left.
func (s *Session) drain() (more bool) {
	if s.ring == nil {
		return false
	}
	s.ring.ArmNotice() // from here on a new byte makes a new notice
	if n := s.ring.Missed(s.off); n > 0 {
		s.history.skipTo(s.off + n)
	}
	told := s.ring.Head()
	if told != s.off {
		s.watch.output() // of bytes that came without a notice, after the followers looked
	}
	if s.history.record.Failing() {
		s.history.saveBacklog()
	}
	taken := 0
	for taken < drainBytes {
		p := s.ring.Unread(s.off, s.history.record.Piece(drainBytes-taken))
		if len(p) == 0 {
			break
		}
		taken += len(p)
		s.ingest(p)
	}
	if taken == 0 {
		return false
	}
	s.stir()
	if s.off > told { // bytes that came meanwhile, the last of them maybe without a notice
		s.watch.output()
	}
	s.publish()
	return taken >= drainBytes
}

// ingest journals, shows and acknowledges p, the bytes at s.off. p is ring memory: it
// stays valid because it is acknowledged last.
func (s *Session) ingest(p []byte) {
	if err := s.history.record.Output(s.off, p); err != nil {
		s.history.journalFails(err)
	}
	if s.quarantined {
		s.off += uint64(len(p))
	} else {
		s.showNew(p)
	}
	s.history.record.MakeRoom(s.off)
	s.history.ack()
}

// showNew gives p to everything that looks at output.
func (s *Session) showNew(p []byte) {
	s.typing.emulate(p)
	s.off += uint64(len(p))
	s.applyEvents(s.off)
	s.waits.set.Output(p, s.off-uint64(len(p)))
	s.rules.output(p)
}

func (h *historyHost) ack() {
	s := h.s
	if s.ring.Ack(h.record.Done()) {
		s.cfg.Device.Resume()
	}
}

// journalFails tells that the journal cannot be written.
func (h *historyHost) journalFails(err error) {
	s := h.s
	h.record.Fail()
	s.log.Error("history is not being written; the session goes on", "session", s.cfg.ID, "err", err)
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = err.Error() })
}

// saveBacklog tries to journal what could not be.
func (h *historyHost) saveBacklog() {
	s := h.s
	gap, ok := h.record.Retry(s.off)
	if !ok {
		return
	}
	h.ack()
	s.log.Warn("history is being written again", "session", s.cfg.ID, "gap_bytes", gap)
	s.update(ChangeHistory, func(st *Status) { st.HistoryError = "" })
}

// publish does what new output asks for besides showing it.
func (s *Session) publish() {
	if s.quarantined {
		now := time.Now()
		s.arrivals.add(s.Status().Offset, s.off, now)
		s.update(ChangeOutput, func(st *Status) { st.Offset, st.LastOutput = s.off, now })
		s.watch.output()
		return
	}
	s.typing.typeReplies()
	if s.history.record.Apart() {
		defer s.watch.output() // the streams of what was taken are known from here on
	}
	now := time.Now()
	version := s.engine.Version()
	changed := version != s.Status().Version || s.effects.pending
	s.effects.pending = false
	s.arrivals.add(s.Status().Offset, s.off, now)
	s.update(ChangeOutput, func(st *Status) { st.Offset, st.Version, st.LastOutput = s.off, version, now })
	if changed && s.clock.due(now) {
		s.watch.frames()
	}
	s.history.due.Grew(s.off)
	s.history.keepScreen()
	s.inputwait.output(now)
	s.waits.set.Changed()
}

// applyEvents turns the emulator's events into status. The emulator has seen the output up
// to off.
func (s *Session) applyEvents(off uint64) {
	s.events = s.engine.Events(s.events[:0])
	before := off - s.engine.Written() // of what the engine has not seen; wraps around
	for i := range s.events {
		s.events[i].At += before
		s.applyEvent(&s.events[i])
	}
	if cap(s.events) > 64 {
		s.events = nil // a burst must not cost an idle session memory
	}
}

func (s *Session) applyEvent(e *vterm.Event) {
	switch e.Kind {
	case vterm.EventBell:
		s.bells, s.bellAt = s.bells+1, e.At
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
		s.watch.output() // followers draw anew
	case vterm.EventProgress:
		s.update(ChangeProgress, func(st *Status) { st.Progress, st.Percent = e.Name, e.Num })
	}
	s.lines.track(e)
}

// afterDrain does what depends on everything so far having been taken.
func (s *Session) afterDrain() {
	if s.exit != nil && s.off >= s.exitAt {
		s.ended()
	}
	s.waits.set.Check()
	s.rules.schedule()
	if s.closed && s.Status().State != Running && !s.released && s.drained() {
		s.released = true
		s.history.checkpoint()
		s.detach()
	}
}

func (s *Session) drained() bool {
	return s.ring == nil || s.ring.Head() == s.off && s.history.record.Done() == s.off
}

// detach gives ring and PTY up: history is all there is now.
func (s *Session) detach() {
	if s.cfg.Device == nil {
		return
	}
	s.detached.Store(true)
	s.forgetRing()
	s.typing.queue.End()
	s.cfg.Device.Release()
	s.mayRest()
}

// ended records the child's exit after the last byte it printed.
func (s *Session) ended() {
	e := *s.exit
	s.exit = nil
	rec := journal.Exit{Code: e.Code, Signal: e.Number, User: e.User, System: e.System, MaxRSS: e.MaxRSS}
	if err := s.cfg.Journal.AppendExit(rec); err != nil {
		s.log.Error("the exit was not journalled", "session", s.cfg.ID, "err", err)
	}
	s.aside.Go(func() { // the disk can take its time
		if err := s.cfg.Journal.Sync(); err != nil {
			s.log.Error("sync the history of an ended session", "session", s.cfg.ID, "err", err)
		}
	})
	s.lines.shellEnded(&e)
	s.rules.ended()
	s.update(ChangeState, func(st *Status) { st.State, st.Exit, st.Ended = Exited, &e, e.Time })
	s.lines.endRuns(ErrEnded)
	s.watch.frames()
	s.watch.output()
}

// abandon ends a session that was not rebuilt: it does not stand where its journal ends, so
// it writes nothing, takes nothing from the ring and acknowledges nothing. The next owner
// finds everything as this one found it.
func (s *Session) abandon() {
	s.endWaits()
	s.leave()
}

// finish leaves everything so that the next owner goes on from here.
func (s *Session) finish() {
	s.history.checkpoint() // what the ring still holds is the next owner's
	s.rules.save()
	s.rules.end()
	s.endWaits()
	if err := s.history.record.Leave(); err != nil {
		s.log.Warn("journal", "session", s.cfg.ID, "err", err)
	}
}

// leave ends what depends on nothing that can panic.
func (s *Session) leave() {
	s.typing.queue.End()
	s.aside.Wait()
	s.endDormancy()
	if s.Status().State != Running {
		s.forgetRing()
	}
	if err := s.cfg.Journal.Close(); err != nil {
		s.log.Error("close the journal", "session", s.cfg.ID, "err", err)
	}
}
