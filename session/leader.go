package session

import (
	"sync/atomic"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/sys"
)

// leader is the foreground process of the session's own program. That is the process that was started, or, in a sandbox
// with its own process namespace, the program that this process runs.
type leader struct {
	innerPID    atomic.Int64 // process of the session's own program; 0: the process that was started
	rejectedPID atomic.Int64 // a process that was found not to be the leader
}

// Leader returns the process of the session's own program.
func (s *Session) Leader() int {
	if pid := s.leader.innerPID.Load(); pid > 0 {
		return int(pid)
	}
	return s.Status().PID
}

// find returns the leader. If the started process is a sandbox's helper, the terminal's session leader is its
// grandchild.
func (l *leader) find(t *inputdetect.Target, started int) int {
	if t.Leader <= 0 || t.Leader == started || t.Leader == int(l.rejectedPID.Load()) {
		return started
	}
	if t.Leader == int(l.innerPID.Load()) {
		return t.Leader
	}
	if st, err := sys.ReadStat(t.Leader); err == nil {
		if above, err := sys.ReadStat(st.Parent); err == nil && above.Parent == started {
			l.innerPID.Store(int64(t.Leader))
			return t.Leader
		}
	}
	l.rejectedPID.Store(int64(t.Leader))
	return started
}

// findLeader reads the terminal's session leader.
func (s *Session) findLeader() {
	if s.cfg.Device == nil {
		return
	}
	// If the terminal gives none, the next probe tries again.
	_ = s.cfg.Device.Control(func(fd int) error {
		t, err := inputdetect.TargetOf(fd)
		if err == nil {
			s.leader.find(&t, s.Status().PID)
		}
		return err
	})
}
