// Package copymode is copy mode of a pane: rows of screen and history that stand still while the
// session goes on, to be scrolled, searched, selected from and copied.
//
//	live screen ──New──→ Mode ──DrawRow, Cursor, Hint──→ pane, status bar
//	keys (keymap.Scroll), mouse ──↗ ↕ Host: fetch beside the loop, say, ask, copy
//	                                History: rows that left the screen, commands, outputs
//
// It begins with what the pane shows; history is fetched a piece at a time as the person comes
// near the oldest row that is there, and rows keep their places. What has arrived after the
// person left is dropped. A Mode is used on the viewer's goroutine only; it starts nothing but
// through its Host, and knows no pane.
//
// Rows of the page are numbered as in package page; rows of the pane count from its first one.
package copymode
