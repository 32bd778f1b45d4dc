// Package vterm turns the bytes a program writes to its terminal into a screen.
//
// The pipeline is
//
//	bytes → Engine.Write → grid, scrollback, modes → Frame (cells)
//	                    ↘ events (title, bell, cwd, marks, …)
//	                    ↘ replies (answers to queries, to be written to the PTY)
//
// What a person types, points at and pastes becomes bytes in package input, under the Modes
// that the program asked for. Output without a screen, as lines, is package plaintext.
//
// Most rows are only ever appended to and then scrolled away. Such a row is a draft: it is
// kept in the form the history keeps, and has cells only once somebody wants to see or
// change them (draft.go). The quick ways (text_quick.go, text_run.go, lines.go,
// sgr_cache.go, quickEscape) do what the parser and print.go do, for what comes often and
// when nothing is special about the state; everything else goes the long way.
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
