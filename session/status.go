package session

import (
	"time"

	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/shell"
)

// State is the state of a session.
type State string

// States.
const (
	Running State = "running"
	Exited  State = "exited" // the child ended and its exit status is known
	Lost    State = "lost"   // the child has exited and its status is unknown (keeper killed, reboot)
)

// Exit is how a child ended.
type Exit struct {
	Code   int    // exit status; -1 when a signal ended it
	Signal string // name of that signal, as in "SIGKILL"
	Number int    // its number
	Time   time.Time
	User   time.Duration // CPU time
	System time.Duration
	MaxRSS int64 // bytes
}

// Status is a session's state that needs no query of its owner.
type Status struct {
	State      State
	PID        int
	Cols, Rows int // cells
	Title      string
	Cwd        string // as the program reported it (OSC 7); if empty, the kernel's is used
	Alt        bool   // a full-screen program is shown
	Started    time.Time
	Ended      time.Time
	Exit       *Exit
	Offset     uint64 // bytes printed so far
	Version    uint64 // of the screen
	LastOutput time.Time
	LastTyped  time.Time // when a line was last typed to its end
	Progress   string    // OSC 9;4 state, or ""
	Percent    int
	Shell      ShellStatus
	Needs      InputNeed // input that the program waits for
	// HistoryError is the reason why history is not written, or "".
	HistoryError string
	// Quarantine is the reason why output is not interpreted, or "".
	Quarantine string
}

// ShellStatus is the state of the session's shell. Phase is empty if the program is not a supported shell.
type ShellStatus struct {
	Phase   shell.Phase
	Quality shell.Quality
	Since   time.Time // when Phase started
	Command string    // the running command
	Number  uint64    // its number
	// Program is the shell that reads the terminal instead of the followed one, or "".
	Program string
	// Reason is why commands of Program are not followed, or "".
	Reason string
	// Continuation reports that the shell waits for the rest of a line.
	Continuation bool
}

// Change is the kind of a change of Status.
type Change uint8

// Changes.
const (
	ChangeState Change = iota
	ChangeSize
	ChangeTitle
	ChangeCwd
	ChangeBell
	ChangeAlt
	ChangeProgress
	ChangeShell   // the state of the shell
	ChangeCommand // a command started or ended
	ChangeInput   // the program waits for input, or no longer does
	ChangeHistory // writing history fails, or works again
	ChangeQuarantine
	ChangeInputKept // the program still waits at the prompt that was there before the user typed a part of a line
	ChangeOutput    // not published: only Offset, Version and LastOutput
)

// Status returns a copy of the session's status.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg.Status
}

// update changes the status and publishes the change. Only the owner calls it.
func (s *Session) update(c Change, f func(*Status)) {
	s.mu.Lock()
	f(&s.cfg.Status)
	st := s.cfg.Status
	s.mu.Unlock()
	if c != ChangeOutput && !s.publishMuted && s.cfg.OnChange != nil {
		s.cfg.OnChange(st, c)
	}
}

// SetProgress stores the program's progress as found in its output up to an offset, for waits.
func (s *Session) SetProgress(percent int, at uint64) {
	s.storeObservation(func() { s.progress = wait.Progress{Known: true, Percent: percent, At: at} })
}

// SetAgentState stores the state of the agent in the session, for waits.
func (s *Session) SetAgentState(a AgentState) {
	s.storeObservation(func() { s.agent = a })
}

// SetPorts stores the TCP ports at which the session's processes accept connections, for waits. It keeps the slice.
func (s *Session) SetPorts(ports []int) {
	s.storeObservation(func() { s.ports = ports })
}

// SetAnomaly stores the anomaly of the newest command, for waits.
func (s *Session) SetAnomaly(a Anomaly) {
	s.storeObservation(func() { s.anomaly = a })
}

// storeObservation stores an observation of another goroutine and wakes the owner. Each wait that starts or is checked
// afterwards uses it, and of two calls the later one counts: post would guarantee neither.
func (s *Session) storeObservation(set func()) {
	s.mu.Lock()
	set()
	s.mu.Unlock()
	s.NotifyOutput()
}

// ResetProgress clears the progress of the previous program when a new one starts.
func (s *Session) ResetProgress() { s.storeObservation(func() { s.progress = wait.Progress{} }) }
