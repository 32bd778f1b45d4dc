package session

// readProgress is how far a program is by what it prints ([16/40], 40%), as whoever reads
// its output found. What it reports itself (OSC 9;4) is in the status.
type readProgress struct {
	known   bool
	percent int
	at      uint64 // offset of the output that says so
}

// Progressed tells the session what its output says of the program's progress, up to an
// offset, for those who wait for it.
func (s *Session) Progressed(percent int, at uint64) {
	s.post(func() { s.read = readProgress{true, percent, at} })
}

// Progresses forgets how far the program before was: another one begins.
func (s *Session) Progresses() { s.post(func() { s.read = readProgress{} }) }
