// Package program is a program in a terminal inside a Go program: no daemon, no keeper, no
// files but, for a shell, a directory of scripts that Close removes. session/sessiontest
// makes tests of it, session/expect runs scripts by it.
//
//	Start ─▶ host ─▶ ring ─▶ session.Session ─▶ Expect, Wait, Screen, Output
//	         host ◀─ input queue ◀─ Send, Keys, Paste, Secret, Exec
//
// A host is a process on a PTY of this process (pty_unix.go; tree_*.go finds all that it
// started), or a function (Cmd.Main, terminal.go). The session is the daemon's, owner loop
// and all; its ring is this process's memory and its journal is kept there as well
// (memory.go).
//
// # Order
//
// Expect reads the output in order and once (expect.go). What is typed is told to it by the
// session's owner at the moment it is typed: after what was printed before, and before what
// comes then (typing.go).
//
// # Goroutines
//
// The session's owner; one that pumps output; one that reaps the process, or runs the
// function; one that feeds Expect. Close ends the process tree and waits for them all.
//
// Sizes are in cells; offsets count the bytes the program ever printed.
package program
