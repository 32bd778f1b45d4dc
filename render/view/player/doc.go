// Package player plays a recording on the user's terminal: a session's history, or a file.
//
//	Recording ──→ reader goroutine ──→ Steps ──→ player ──→ emulator (vterm) ──→ canvas
//	tcell events, clock ──────────────────────↗
//
// One goroutine, Play's, owns everything but the reader. The reader stays some steps ahead and is replaced when the
// user jumps to another time. Times are those of the recording; the clock only measures how much of it to play.
package player
