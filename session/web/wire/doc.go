// Package wire is what the page and the daemon say on their socket: messages of the page are read, with bounds, and
// screens become frames for it (docs/web-protocol.md).
//
//	bytes → Read → Message, and the keys, the mouse or the text it stands for
//	Screen → Shown.Append (what of it the page does not have yet) → frame, with styles of Styles by number
//
// Styles are a connection's, Shown a subscription's: it has a hash of each row that the page shows, nothing else.
// The package knows no session and no socket. Rows and columns are cells, 0-based.
package wire
