// Package vterm turns the bytes a program writes to its terminal into a screen.
//
// The pipeline is
//
//	bytes → Engine.Write → grid, scrollback, modes → Frame (cells)
//	                    ↘ events (title, bell, cwd, marks, …)
//	                    ↘ replies (answers to queries, to be written to the PTY)
//
// and back: Key, Mouse and paste values become bytes under the Modes that the
// program asked for (AppendKey, AppendMouse, AppendPaste, AppendFocus).
//
// # Ownership
//
// An Engine is a plain value: no goroutine, clock, I/O or logging inside, and no
// lock. Its owner calls it from one goroutine. A Frame belongs to whoever passed
// it in and may be handed to another goroutine once filled: nothing it refers to
// is changed by the engine afterwards.
//
// # Units
//
// Rows and columns are cells and 0-based; offsets are bytes counted from the first
// byte ever written to the engine. What is 1-based on the wire (CUP, CPR, mouse
// reports) is converted where it is parsed or encoded and nowhere else.
package vterm

//go:generate go run gen.go
