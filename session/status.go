package session

import (
	"time"

	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/shell"
)

// State is where a session stands.
type State string

// States.
const (
	Running State = "running"
	Exited  State = "exited" // the child ended and its exit status is known
	Lost    State = "lost"   // the child is gone and its end was not seen (keeper killed, reboot)
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

// Status is what is known of a session without asking its owner.
type Status struct {
	State      State
	PID        int
	Cols, Rows int // cells
	Title      string
	Cwd        string // as the program said (OSC 7); empty: ask the kernel
	Alt        bool   // a full-screen program is up
	Started    time.Time
	Ended      time.Time
	Exit       *Exit
	Offset     uint64 // bytes printed so far
	Version    uint64 // of the screen
	LastOutput time.Time
	LastTyped  time.Time // when a line was last typed to its end
	Progress   string    // OSC 9;4 state; empty: none
	Percent    int
	Shell      ShellStatus
	Needs      Needs // input that is waited for
	// HistoryError says that history is not being written, and why.
	HistoryError string
	// Quarantine says why nothing looks at the session's output any more; empty: all does.
	Quarantine string
}

// ShellStatus is what the session's shell is doing. Phase is empty when the program is no
// shell that can be followed.
type ShellStatus struct {
	Phase   shell.Phase
	Quality shell.Quality
	Since   time.Time // when Phase began
	Command string    // while one runs
	Number  uint64    // its number
	// Program is the shell that reads the terminal instead of the one that is followed; empty:
	// none does.
	Program string
	// Continuation says that the shell asks for the rest of a line.
	Continuation bool
}

// Change says what about a Status changed.
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
	ChangeShell   // what the shell is doing
	ChangeCommand // a command began or ended
	ChangeInput   // the program waits for input, or does no longer
	ChangeHistory // writing history began to fail or works again
	ChangeQuarantine
	ChangeInputAgain // the program asks for what it asked for before a person typed a part of it
	ChangeOutput     // not announced: only Offset, Version and LastOutput
)

// Status is a copy of what is known.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cfg.Status
}

// update changes the status and announces it. Only the owner calls it.
func (s *Session) update(c Change, f func(*Status)) {
	s.mu.Lock()
	f(&s.cfg.Status)
	st := s.cfg.Status
	s.mu.Unlock()
	if c != ChangeOutput && !s.quiet && s.cfg.Changed != nil {
		s.cfg.Changed(st, c)
	}
}

// Progressed tells the session what its output says of the program's progress, up to an
// offset, for those who wait for it.
func (s *Session) Progressed(percent int, at uint64) {
	s.storeFinding(func() { s.read = wait.Progress{Known: true, Percent: percent, At: at} })
}

// AgentIs tells the session how the agent in it is, for those who wait for it.
func (s *Session) AgentIs(a AgentState) {
	s.storeFinding(func() { s.agent = a })
}

// storeFinding stores a finding of another goroutine and wakes the owner. Each wait that is started or checked after
// storeFinding returns sees it, and of two calls the later one counts: post would guarantee neither.
func (s *Session) storeFinding(set func()) {
	s.mu.Lock()
	set()
	s.mu.Unlock()
	s.Notice()
}

// Progresses forgets how far the program before was: another one begins.
func (s *Session) Progresses() { s.storeFinding(func() { s.read = wait.Progress{} }) }
