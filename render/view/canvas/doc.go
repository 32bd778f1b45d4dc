// Package canvas draws on a user's terminal: characters, text, the lines of a session's frame, each truncated or filled
// to its columns, the cursor, and images.
//
// A Canvas writes render.Line and text in tcell styles to a tcell.Screen. It lets no control character and no character
// of another width through, and tracks whether anything was drawn. terminalTap sits between tcell and the terminal and
// reads keys and answers (keytap.go, background.go); damagecache.go avoids redrawing unchanged cells.
//
// Sessions, panes and themes are unknown here. Positions are cells of the terminal, x and y, 0-based; widths are
// columns. A Canvas is not safe for concurrent use.
package canvas
