package session

import "github.com/longterm-dev/longterm/session/internal/wait"

// Progressed tells the session what its output says of the program's progress, up to an
// offset, for those who wait for it.
func (s *Session) Progressed(percent int, at uint64) {
	s.post(func() { s.read = wait.Progress{Known: true, Percent: percent, At: at} })
}

// Progresses forgets how far the program before was: another one begins.
func (s *Session) Progresses() { s.post(func() { s.read = wait.Progress{} }) }
