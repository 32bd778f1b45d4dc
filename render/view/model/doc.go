// Package model is what a viewer shows, without a terminal: the sessions that are known, the
// tabs with their trees of panes, the focus, and the alerts.
//
//	Update (a list of sessions) ──→ Model ──→ Arrange: which session stands where
//	what the person did ────────↗        └──→ Layout: tabs and trees as they are kept
//
// A Model is a pure machine: it starts nothing, reads no clock and draws nothing; the time is
// handed in. It knows neither panes nor keys. It is not safe for concurrent use: the viewer's
// goroutine owns it. Areas are cells of the terminal, 0-based.
package model
