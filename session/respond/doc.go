// Package respond answers what a terminal asks: a list of rules, each a pattern and a
// reply, watched over by an Engine.
//
// The Engine is a machine: events in, actions out. It has no goroutine, no clock and
// does no I/O; the session's owner feeds it, performs its actions in order and
// calls Tick when Next says so. The events:
//
//	Output   bytes the program wrote, with their offset
//	Typed    bytes that were written to the program, by whomever
//	Echo     who shows what is typed
//	Screen   the rows of the screen when it settled
//	Tick     nothing but the time
//	Exit     the program ended
//
// Output becomes logical lines (text.go). A line is matched when it is complete, and
// when it is not but output pauses (Set.Settle): a prompt has no newline. What is
// matched is thus a function of the lines and of the pauses, never of how the output
// was cut into reads. Work is linear in the output: a prefilter (filter.go) looks for
// the literals of all rules in one pass, and the rest looks at windows of bounded size.
//
// Three things never fire: text before the end of the last match (answered), the echo
// of what was typed (echo.go), and an answered prompt that is only drawn again
// (redraw.go). Screens have a matching of their own (screen.go).
//
// Replies wait in a queue (queue.go) because they may contain pauses, and because a
// secret is not sent before the terminal has stopped to echo.
//
// State is everything that is not a rule, as JSON; Restore goes on from it.
package respond
