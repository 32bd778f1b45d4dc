// Package panes is sessions on the screen: each Pane shows the frames of one session's stream,
// or, in copy mode, rows that stand still; a Set is all panes there are, in reading order.
//
//	places (layout) ──Place──→ Set ──open──→ Pane ←──frames── Stream (one goroutine each)
//	                            └─Arriving─→ loop ──Apply──→ Pane ──Draw──→ canvas
//
// Only rows that changed are drawn. A pane follows the cursor of a screen that is larger than
// it, and marks what a smaller one does not reach. Everything but the goroutines that hand
// frames over belongs to the viewer's goroutine; those end with the viewer's context.
//
// Positions are cells of the terminal, x and y, 0-based; rows and columns are a session's.
package panes
