// Package canvas draws on a person's terminal: characters, text and the lines of a session's
// frame, each cut or filled to the columns it is given, and the cursor.
//
//	render.Line, text, tcell.Style ──→ Canvas ──→ tcell.Screen
//
// It never lets a control character or a character of another width than promised through,
// and knows whether anything was drawn at all. It knows nothing of sessions, panes or themes.
//
// Positions are cells of the terminal, x and y, 0-based; widths are columns. A Canvas is not
// safe for concurrent use.
package canvas
