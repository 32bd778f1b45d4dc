// Package copymode implements copy mode of a pane: frozen rows of screen and history in which the user scrolls,
// searches, selects and copies while the session continues.
//
// New starts a Mode with the rows that the pane shows. Keys (keymap.Scroll) and the mouse change it; DrawRow, Cursor
// and Hint return what pane and status bar show. Through its Host it fetches History in the background, in pieces, as
// the user comes near the oldest loaded row; rows keep their numbers. History that arrives after the end of copy mode
// is dropped.
//
// A Mode belongs to the viewer's goroutine, and starts goroutines only through its Host. Rows of the page are numbered
// as in package page; rows of the pane count from its first one.
package copymode
