// Package web is the page in the browser, as far as it is files, doors and manners: the page's own files, the headers
// that keep other pages out, one-time links, logins by cookie, tickets for sockets, and bounds on who knocks too often.
// What the page asks for then is served by the table of routes, as for any other client (docs/web-protocol.md).
//
//	request → Door: Host and Origin (session/access) → a file of the page, or
//	          login by a code (links) or a token → cookie and key → Grant → the API's handler
//
// The package knows no session and no route. Everything here is held in memory but the logins themselves, which are
// tokens of session/access: they are listed and revoked as others are, and outlive the daemon.
package web
