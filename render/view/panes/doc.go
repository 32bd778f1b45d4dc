// Package panes shows sessions on the screen. A Pane shows the frames of one session's stream, or frozen rows in copy
// mode; a Set holds all panes in reading order.
//
// Set.Place opens a Pane and its Stream for each place of a layout. A goroutine per stream sends its frames to the
// channel of Set.Arriving; the viewer's goroutine receives them, and Apply and Draw bring them to the canvas. These
// goroutines end with the viewer's context. Everything else belongs to the viewer's goroutine.
//
// Only changed rows are drawn. A pane scrolls with the cursor of a screen that is larger than it, and marks the area
// that a smaller screen does not cover. Positions are cells of the terminal, x and y, 0-based; rows and columns are a
// session's.
package panes
