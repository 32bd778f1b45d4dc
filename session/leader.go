package session

import (
	"sync/atomic"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/sys"
)

// leader is who leads the session on its terminal: the process that was started, or in a sandbox with processes of its
// own the program for which that one stands in.
type leader struct {
	inner atomic.Int64 // 0: the process that was started
	asked atomic.Int64 // who was found not to be it
}

// Leader is the process of the session's own program.
func (s *Session) Leader() int {
	if pid := s.leader.inner.Load(); pid > 0 {
		return int(pid)
	}
	return s.Status().PID
}

// look finds out for whom the process that was started stands in: the terminal tells who leads, and a leader counts that
// is the grandchild of that process.
func (l *leader) look(t *evidence.Target, started int) int {
	if t.Leader <= 0 || t.Leader == started || t.Leader == int(l.asked.Load()) {
		return started
	}
	if t.Leader == int(l.inner.Load()) {
		return t.Leader
	}
	if st, err := sys.ReadStat(t.Leader); err == nil {
		if above, err := sys.ReadStat(st.Parent); err == nil && above.Parent == started {
			l.inner.Store(int64(t.Leader))
			return t.Leader
		}
	}
	l.asked.Store(int64(t.Leader))
	return started
}

// findLeader asks the terminal.
func (s *Session) findLeader() {
	if s.cfg.Device == nil {
		return
	}
	// A terminal that tells nothing is looked at again with the next probe.
	_ = s.cfg.Device.Control(func(fd int) error {
		t, err := evidence.TargetOf(fd)
		if err == nil {
			s.leader.look(&t, s.Status().PID)
		}
		return err
	})
}
