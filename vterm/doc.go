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
// The Terminal knows sequences and modes: its handlers stand in files named after what they
// keep (cursor.go, margins.go, tabs.go, charset.go, rendition.go, keyboard.go, title.go, …), and
// the tables of functions say which handler a sequence has. Bytes are cut into sequences by
// internal/parse; cells, rows and scrollback are internal/grid, colours internal/color,
// pictures internal/graphics.
//
// The fast paths (text_fast.go, move_fast.go, sgr_cache.go, fastEscape, and what they call in internal/grid)
// do what the parser and print.go do, for what comes often and when nothing is special about
// the state; everything else takes the slow path.
//
// # Ownership
//
// An Engine is a plain value: no goroutine, clock, I/O or logging inside, and no
// lock. Its owner calls it from one goroutine. A Frame belongs to the caller
// that passed it in and may be handed to another goroutine once filled: nothing it refers to
// is changed by the engine afterwards.
//
// # Units
//
// Rows and columns are cells and 0-based; offsets are bytes counted from the first
// byte ever written to the engine. What is 1-based on the wire (CUP, CPR, mouse
// reports) is converted where it is parsed or encoded and nowhere else.
package vterm

//go:generate go run gen.go
