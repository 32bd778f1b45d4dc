//go:build unix

// Package compareruns explains why a run of a command failed, by a good run of the same command.
//
//	reference → find.go: the run → the newest good run of the same words and directory
//	both runs → outputs (session/output/compare, diagnostics), variables (environ.go), commits and files (worktree.go) → api.Why
//
// A run is a command of a shell or the program of a session. The search reads at most maxSearched records. Everything is read on
// the caller's goroutine and within its context; git and the file system have their own time limit. Nothing is changed: git runs
// without hooks, filters and locks, because a repository's configuration may name programs.
package compareruns
