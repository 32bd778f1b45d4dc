//go:build unix

// Package mcp is the agents' door: a server of the Model Context Protocol that is a client of the daemon.
//
//	stdio, or HTTP (http.go: token, Host, Origin, two eras behind one mux)
//	  → middleware (calls.go: places for calls; tasks.go: tasks; the SDK's own)
//	    → a row of tools (tools.go) → its handler (exec.go, look.go, input.go, wait.go, …)
//	      → session/client → the daemon
//
// The server holds nothing that matters: sessions and jobs live in the daemon, and their ids are the
// handles that an agent keeps. It may be killed at any instant, and so may the daemon; whoever asks again
// with the same id gets the answer of the same call. What it keeps in memory are limits, subscriptions of
// connected clients, and which request states were used.
//
// # Calls
//
// Each call answers by its yield time (10 s unless it says otherwise, 45 s at most) with what is there: state,
// exit code, new output within a budget, and the call that goes on. Budgets are tokens of four bytes;
// offsets count bytes of a session's output from its beginning; times are seconds.
package mcp
