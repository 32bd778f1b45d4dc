//go:build unix

// Package jobs runs lines and commands for callers, each as a job: recorded before anything is typed or started, limited by
// timeouts, ended by the kill ladder, answered with one result.
//
//	Exec, Run → record → gateway → submit → runTimeouts beside follow… → finish: result, record, event
//
// A job is a state machine (state.go): one enum of states, one table of transitions, one function that applies them. What a
// transition writes first is on disk before its state is visible. Waiters watch the machine; it has the only channel for them.
// A line that a user has to allow is a job with paused timeouts (approval.go). A command that a user has to allow has no
// session yet: it is a pending start until then (pendingstart.go), with the same table.
//
// The states of a job, with the triggers that leave them:
//
//	unrecorded
//	├ recorded           → preparing, first inserts the request
//	├ not recorded       → dropped
//	├ start allowed      → preparing, first records the session
//	└ found              → adopting
//	preparing
//	├ approval requested → pending approval
//	├ submitted          → queued
//	├ began              → running, then records the command's number
//	├ dropped            → dropped, first deletes the record
//	└ handed off         → handed off
//	adopting
//	├ approval requested → pending approval
//	├ submitted          → queued
//	├ began              → running, then records the command's number
//	├ exited             → ended
//	├ failed             → ended
//	└ handed off         → handed off
//	pending approval
//	├ allowed            → queued, first records the time of the answer
//	├ failed             → ended
//	└ handed off         → handed off
//	queued
//	├ began              → running, then records the command's number
//	├ exited             → ended
//	├ failed             → ended
//	└ handed off         → handed off
//	running
//	├ began              → running, then records the command's number
//	├ draft ended        → pending commit
//	├ exited             → ended
//	├ failed             → ended
//	└ handed off         → handed off
//	pending commit
//	├ exited             → ended
//	├ failed             → ended
//	└ handed off         → handed off
//	ended
//	└ finished           → done, first records the result
//	handed off
//	done
//	dropped
//
// A job has two goroutines: runTimeouts owns its timeouts, the other one follows its command to its end. Callers come and go.
// The next daemon continues all jobs and runs none twice (resume.go). The pool has warm shells for lines that need no session
// of their own (pool.go). The package knows sessions by their handles, and no request.
package jobs
