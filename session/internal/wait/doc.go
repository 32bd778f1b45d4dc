// Package wait evaluates the conditions that callers wait for in a session: text, prompts, exits, silence, needed
// input.
//
//	output ─▶ Set.Output ─▶ lines without echo ─┐
//	screen ─▶ rows without echo ────────────────┼─▶ conditions ─▶ Host.WaitEnded
//	View   ─▶ state of the session ─────────────┘
//
// Waits are level-triggered: a match between a wait's anchor and its start counts. Waits for text ignore echoed input
// (package echodetect); waits for silence ignore spinners and the like (activity).
//
// Set is a pure machine of the session's owner: it has no goroutine, clock, file or terminal, and queries its Host.
// Offsets count all bytes that the program has printed; rows and columns are cells, 0-based.
package wait
