// Package session is a living terminal: what a child prints becomes history and a
// screen, what is typed reaches the child.
//
//	ring ─▶ journal (offset) ─▶ emulator ─▶ events ─▶ waits, rules ─▶ watchers
//	child ◀─ PTY ◀─ input queue ◀─ keys, text, paste, replies
//
// # Rooms
//
// This package has the owner's loop (loop.go), what a session is made of (session.go), what is
// known of it (status.go) and its operations. What is decided, is decided by machines in
// internal: they are told what happened and say what to do. For each of them a type here is the
// host that asks the terminal, keeps the files and has the timers:
//
//	typist     input.go, typist.go  ▶ internal/typing, internal/echo
//	rulesHost  rules.go             ▶ internal/rules      rules that answer
//	waits      wait.go              ▶ internal/wait       conditions
//	inputWait  inputwait.go         ▶ internal/inputwait  does the program wait for a person
//	lineHost   exec.go, linehost.go, lineprobe.go, track.go ▶ internal/lineexec  lines in a shell
//	historyHost rebuild.go, journalmarks.go, said.go, checkpointwriter.go ▶ internal/history   what is kept
//
// # Ownership
//
// One goroutine at a time owns a Session, and none while there is nothing to do (doze.go):
// it alone touches the emulator and the journal's writing end. Others ask it by closures
// (Session.do). What may be read without asking is a copy (Status) behind a mutex that
// guards nothing else. Raw followers
// read by offset, from the ring or the journal, and can never hold the owner back.
//
// # Units
//
// Offsets count the bytes the child ever printed; rows and columns are cells,
// 0-based; versions grow with each change of the screen.
package session
