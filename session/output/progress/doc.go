// Package progress says how a running command gets on: how far it is, how long it will take,
// and what went wrong first.
//
//	bytes ── Feed (plaintext.Writer) ──→ lines and unfinished lines ─┐
//	OSC 9;4 ─────────────────────────────────────────────────────────┼─→ Machine ──→ State
//	how long it took before ─────────────────────────────────────────┘
//
// A Machine is pure: it has no clock, and the same lines at the same times give the same
// State. Its memory is bounded.
//
// Numbers in text are progress only with evidence (see tracker): a percentage in a report
// is none. Errors and warnings are those of package diagnostics.
package progress
