// Package session is a living terminal: what a child prints becomes history and a
// screen, what is typed reaches the child.
//
//	ring ─▶ journal (offset) ─▶ emulator ─▶ events ─▶ waiters ─▶ watchers
//	child ◀─ PTY ◀─ input queue ◀─ keys, text, paste, replies
//
// # Ownership
//
// One goroutine owns a Session: it alone touches the emulator and the journal's
// writing end. Others ask it by closures (Session.do). What may be read without
// asking is a copy (Status) behind a mutex that guards nothing else. Raw followers
// read by offset, from the ring or the journal, and can never hold the owner back.
//
// # In this process
//
// Start runs a program without daemon and keeper: the same Session over a local terminal
// (start_unix.go: a PTY; start_line.go: a function) with a ring and a journal in memory
// (start_memory.go). Program, its handle, adds what scripts and tests need: Expect, which
// reads the output in order and once (start_expect.go; start_type.go tells it what was
// typed), and Exec (start_exec.go). Its
// goroutines are the session's owner, one that gathers output, one that reaps, and one that
// feeds Expect; Close ends the process tree (start_tree_*.go) and waits for them all.
//
// # Units
//
// Offsets count the bytes the child ever printed; rows and columns are cells,
// 0-based; versions grow with each change of the screen.
package session
