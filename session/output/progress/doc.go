// Package progress estimates how far a running command is, how long it still takes, and finds its first problem.
//
//	bytes ── Feed (plaintext.Writer) ──→ lines and unfinished lines ─┐
//	OSC 9;4 ─────────────────────────────────────────────────────────┼─→ Machine ──→ State
//	durations of earlier runs ───────────────────────────────────────┘
//
// A Machine is pure: it has no clock, and the same lines at the same times give the same State. Its memory is bounded.
//
// Numbers in text count as progress only with evidence (see tracker): a percentage in a report is not progress. Package
// diagnostics finds errors and warnings.
package progress
