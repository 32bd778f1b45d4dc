// Package statusbar draws the rows with session states: the status bar, the viewer's last row, with tabs, alerts and hints,
// and the first row of every pane.
//
//	model.Model, keymap.Map ──→ State ──→ Bar: the last row, or a line typed into it
//	model.Session ──→ Status: a pane's first row
//
// A row is drawn only if its content changed. A row consists of segments, text with a style; if not all fit, the right
// ones come first. The package knows no panes and handles no keys; callers pass the time. Widths are columns.
package statusbar
