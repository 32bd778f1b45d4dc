// Package expect runs YAML scripts of dialogues with terminal programs: spawn, send, expect, branch, loop, assert.
//
//	source → Load (load.go: includes, labels; decode*.go: yaml nodes to steps) → Script
//	Script + Driver → Run (run.go, exec_*.go) → Report → JSON, JUnit
//	a live session → Recorder → source
//
// The verbs are a table (verbs.go); a test compares it with the JSON Schema for editors (schema.json). A Driver is the
// terminal: a session of the daemon (remote), a program of this process (local), a fake. Run starts no goroutine; a
// step's deadline is the deadline of the context that it passes to its Driver.
//
// Lines and columns in a source are 1-based, as in editors.
package expect
