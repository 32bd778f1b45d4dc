//go:build unix

// Package mcp serves agents: a Model Context Protocol server that is a client of the daemon.
//
//	stdio, or HTTP (http.go: token, Host, Origin, two protocol eras behind one mux)
//	  → middleware (calls.go: limits of calls; tasks.go: tasks; the SDK's own)
//	    → a tool (tools.go) → its handler (exec.go, read.go, input.go, wait.go, …)
//	      → session/client → the daemon
//
// The server holds no important state: sessions and jobs live in the daemon, and agents keep their ids. Server and
// daemon may be killed at any time; a call repeated with the same id gets the answer of the same call. In memory it
// keeps limits, subscriptions of connected clients, and used request states.
//
// # Calls
//
// Each call answers by its yield time (default 10 s, at most 45 s) with state, exit code, new output within a budget,
// and the call to continue with. Budgets are tokens of four bytes; offsets count bytes of a session's output from its
// start; times are seconds.
package mcp
