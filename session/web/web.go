// Package web serves the page in the browser: the page's files, security headers, one-time links, logins by cookie,
// socket tickets, and rate limits for failed logins. The route table serves the page's API requests as for any other
// client (docs/web-protocol.md).
//
//	request → Server: Host and Origin (session/apitoken) → a file of the page, or
//	          login by a code (links) or a token → cookie and key → Grant → the API's handler
//
// The package knows neither sessions nor routes. It keeps all state in memory except logins: they are tokens of
// session/apitoken, which are listed and revoked like others and survive the daemon.
package web
