// Package respond answers the prompts of a terminal's program: an Engine applies a list of rules, each a pattern and a
// reply.
//
// The Engine is a state machine: events in, actions out. It has no goroutine, no clock and does no I/O. The session's
// owner passes it events, performs its actions in order and calls Tick when Next requires it. The events:
//
//	Output       bytes the program wrote, with their offset
//	HandleInput  bytes that were written to the program, by any author
//	SetEcho      which side echoes input
//	Screen       the rows of the screen after it settled
//	Tick         the time
//	Exit         the program ended
//
// Output becomes logical lines (text.go). A line is matched when it is complete, and while it is unfinished if output
// pauses (Set.Settle): a prompt has no newline. So the result depends on the lines and the pauses, never on how the
// output was cut into reads. Work is linear in the output: a prefilter (filter.go) searches the literals of all rules
// in one pass, and the full match examines windows of bounded size.
//
// Three texts never match: text before the end of the last match (answered), the echo of input (package echodetect), and
// an answered prompt that is only redrawn (redraw.go). Screens are matched separately (screen.go).
//
// Replies wait in a queue (queue.go), because they may contain pauses, and because a secret is not sent before the
// terminal has disabled echo.
//
// State is everything except the rules, as JSON; Restore continues from it.
package respond
