// Package player plays a recording on a person's terminal: a session's history, or a file.
//
//	Recording ──→ reader goroutine ──→ Steps ──→ player ──→ emulator (vterm) ──→ canvas
//	tcell events, clock ──────────────────────↗
//
// One goroutine, Play's, owns everything but the reader, which runs ahead by some steps and
// is replaced when the person goes to another moment. Times are the recording's own; the
// clock says only how much of them passes.
package player
