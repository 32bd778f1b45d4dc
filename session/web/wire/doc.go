// Package wire is the protocol on the socket between page and daemon: it parses the page's messages within bounds and
// encodes screens as frames (docs/web-protocol.md).
//
//	bytes → Read → Message → its key, mouse event or text
//	Screen → Shown.Append (the parts that the page lacks) → frame, with numbered styles of Styles
//
// Styles belongs to a connection, Shown to a subscription: it holds only a hash of each row that the page shows. The
// package knows neither sessions nor sockets. Rows and columns are cells, 0-based.
package wire
