// Package vterm turns the bytes that a program writes to its terminal into a screen.
//
// The pipeline is
//
//	bytes → Engine.Write → grid, scrollback, modes → Frame (cells)
//	                    ↘ events (title, bell, cwd, marks, …)
//	                    ↘ replies (answers to queries, written to the PTY by the owner)
//
// Package input encodes keys, mouse and pastes as bytes, under the Modes that the program set. Package plaintext turns
// output into lines without a screen.
//
// Terminal implements sequences and modes. Its handlers are in files named after their state (cursor.go, margins.go,
// tabs.go, charset.go, rendition.go, keyboard.go, title.go, …), and the tables of functions map sequences to handlers.
// internal/parse cuts bytes into sequences; internal/grid holds cells, rows and scrollback, internal/color colours,
// internal/graphics pictures.
//
// The fast paths (text_fast.go, move_fast.go, sgr_cache.go, fastEscape, and their callees in internal/grid) have the
// same effect as the parser and print.go, for frequent input in a plain state. All other input takes the slow path.
//
// # Ownership
//
// An Engine is a plain value without goroutine, clock, I/O, logging or lock. Its owner calls it from one goroutine. A
// Frame belongs to the caller that passed it in and may be handed to another goroutine once filled: the engine never
// changes the data it refers to.
//
// # Units
//
// Rows and columns are cells and 0-based; offsets are bytes counted from the first byte ever written to the engine.
// Values that are 1-based on the wire (CUP, CPR, mouse reports) are converted where they are parsed or encoded and
// nowhere else.
package vterm

//go:generate go run gen.go
