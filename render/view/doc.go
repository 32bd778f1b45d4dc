// Package view shows sessions in panes on the user's terminal (tcell).
//
//	Source ──→ model ──→ arrange ──→ panes, statusbar, overlays ──→ canvas ──→ tcell screen
//	Stream ──→ panes ──────────────────↗
//	tcell events ──→ events ──→ overlay, action (keymap), footer, copy mode, or session
//
// The package itself holds the event loop, the table of actions, the routing of keys and mouse, the options, the frame
// pacer, the keeper of layouts and the footer's host. Its subpackages draw what the user sees:
//
//	model      sessions, tabs, focus, alerts, saved layouts; layout: trees of panes
//	panes      a session's frames on the screen; copymode: frozen rows, on page
//	statusbar  the status bar, the panes' title rows
//	overlays   help, lists (searched with fuzzy), prompts, questions and approvals, hints
//	prompt     the prompt line at the bottom: a footer that gets its data from the viewer
//	player     playback of a recording, as a separate program
//	picture    what images the terminal can draw, and images encoded for it
//	canvas     cells of the terminal and images over them; events: tcell's keys and mouse; keymap: keys and help; theme
//
// Imports among them run from display to data. Only packages that feed the viewer import this one.
//
// One goroutine, Run's, owns the model and the screen. Others only fetch: one per stream hands its frames to Run, one
// reads the terminal, and slow work (sources, stores, clipboards) runs in the background. The viewer does not know the
// daemon: sessions come from a Source, which also reconnects.
//
// Positions are cells of the user's terminal, x and y, 0-based.
package view
