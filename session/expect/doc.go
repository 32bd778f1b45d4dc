// Package expect runs dialogues with terminal programs that are written down as YAML:
// spawn, send, expect, branch, loop, assert.
//
//	source → Load (load.go: includes, labels; decode*.go: yaml nodes to steps) → Script
//	Script + Driver → Run (run.go, exec_*.go) → Report → JSON, JUnit
//	a live session → Recorder → source
//
// The verbs are a table (verbs.go); the JSON Schema for editors (schema.json) is held
// against it by a test. A Driver is the terminal: a session of the daemon (remote), a program
// of this process (local), a fake. Run has no goroutine of its own; a deadline of a step is
// the deadline of the context that its Driver calls get.
//
// Lines and columns in a source are 1-based, as editors count.
package expect
