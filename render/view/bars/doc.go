// Package bars draws the rows that say how sessions fare: the status bar at the foot of the
// viewer, with tabs, alerts and hints, and the first row of every pane.
//
//	model.Model, keymap.Map ──→ State ──→ Bar: the last row, or a line typed into it
//	model.Session ──→ Status: a pane's first row
//
// A row is drawn only if it says something else than before. What a row says are segments:
// text with a style, those on the right before those on the left where both do not fit. The
// package knows no panes and handles no keys; the time is handed in. Widths are columns.
package bars
