// Package admit decides whether the owner of a session types a caller's input.
//
//	Input, State ──Admit──▶ Decision:  Accept ─▶ the owner records it, sends it and schedules a probe
//	                                   Known, Await ─▶ the result of the first request with the same id
//	                                   Skip, Reject ─▶ nothing is typed
//
// LineText is the text of the line that was typed since the last line end. How bytes reach the terminal (the queue, ids over
// restarts, type-ahead) is in package inputqueue.
//
// The package has no clock, goroutine or I/O, and belongs to the owner. Admit reads facts that cost a system call or a copy of
// the screen from a Terminal, and only where they decide.
package admit
