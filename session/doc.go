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
// # Units
//
// Offsets count the bytes the child ever printed; rows and columns are cells,
// 0-based; versions grow with each change of the screen.
package session
