// Package view shows sessions in panes on a person's terminal (tcell).
//
//	Source ──→ model ──→ arrange ──→ panes, bars, overlays ──→ canvas ──→ tcell screen
//	Stream ──→ panes ──────────────────↗
//	tcell events ──→ events ──→ overlay, action (keymap), footer, copy mode, or session
//
// The package itself holds the event loop, the table of actions, the routing of keys and mouse,
// the options, the frame pacer, the keeper of layouts and the footer's host. What a person sees
// stands in rooms of its own:
//
//	model     sessions, tabs, focus, alerts, layouts as they are kept; layout: trees of panes
//	panes     a session's frames on the screen; copymode: rows that stand still, on page
//	bars      the status bar, the panes' first rows
//	overlays  help, lists (found by fuzzy), prompts, questions and approvals, hints
//	prompt    the line at the foot: a footer, joined to the viewer by what feeds it
//	player    playback of a recording, a program of its own
//	picture   what terminals say that they can draw, and images as they draw them
//	canvas    cells of the terminal, and images over them; events: tcell's keys and mouse; keymap: keys and help; theme
//
// Arrows among them point from what is seen to what it is made of; none points to this package
// but those of what feeds the viewer.
//
// One goroutine, Run's, owns the model and the screen. Others only fetch: one per stream hands
// its frames over, one reads the terminal, and what takes time (sources, stores, clipboards)
// runs beside the loop. The viewer knows nothing of daemons: a Source is where sessions come
// from, and reconnecting is the Source's business.
//
// Positions are cells of the person's terminal, x and y, 0-based.
package view
