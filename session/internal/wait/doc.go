// Package wait is what is waited for in a session: texts, prompts, ends, silence, input that a program
// asks for.
//
//	output ─▶ Set.Output ─▶ lines without echo ─┐
//	screen ─▶ rows without echo ────────────────┼─▶ conditions ─▶ Host.Over
//	View   ─▶ what the session knows ───────────┘
//
// Waits are level-triggered: what came true between a wait's anchor and its beginning counts. Waits for
// text leave out what was typed (package echo); waits for silence leave out what only moves (activity).
//
// Set is a pure machine of the session's owner: it has no goroutine, clock, file or terminal, and asks its
// Host. Offsets count the bytes the program ever printed, rows and columns are cells, 0-based.
package wait
