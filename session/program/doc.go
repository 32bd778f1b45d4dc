// Package program runs a program in a terminal inside a Go program: without daemon or keeper, and without files except
// a shell's directory of scripts, which Close removes. session/sessiontest uses it for tests, session/expect for
// scripts.
//
//	Start ─▶ host ─▶ ring ─▶ session.Session ─▶ Expect, Wait, Screen, Output
//	         host ◀─ input queue ◀─ Send, Keys, Paste, Secret, Exec
//
// A host is a process on a PTY of this process (pty_unix.go; tree_*.go finds all its descendants), or a function
// (Cmd.Main, terminal.go). The session is the same as the daemon's, with its owner loop. Its ring is in this process's
// memory, and so is its journal (memory.go).
//
// # Order
//
// Expect reads the output in order and once (expect.go). The session's owner reports input to it at the moment of
// typing: after earlier output and before later output (typing.go).
//
// # Goroutines
//
// The session's owner; one moves output to the ring; one reaps the process, or runs the function; one feeds Expect.
// Close ends the process tree and waits for all of them.
//
// Sizes are in cells; offsets count all bytes that the program has printed.
package program
