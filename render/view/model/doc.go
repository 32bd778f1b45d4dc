// Package model holds the state of the viewer without a terminal: the known sessions, the tabs with their trees of
// panes, the focus, and the alerts.
//
// Updates (lists of sessions) and the user's actions change a Model. Arrange returns the area of each visible session,
// and Layout the tabs and trees for saving.
//
// A Model does no I/O: it starts nothing, reads no clock and draws nothing; callers pass the time. It is not safe for
// concurrent use: the viewer's goroutine owns it. Areas are cells of the terminal, 0-based.
package model
