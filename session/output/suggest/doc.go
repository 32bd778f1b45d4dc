// Package suggest suggests commands after a failed one, and next steps after a successful one.
//
//	line, output, diagnostics.Result ─┐
//	programs in PATH, files here ─────┼─→ Suggest ──→ Suggestions: at most five, three after success
//	makefile, package.json ── Targets ┤
//	earlier runs, changes ── Project ─┘
//
// It is pure: callers pass in all facts. The rules form a table (rules.go), one per row, in the order of their
// suggestions. Suggestions are data for users and programs to choose from; nothing runs them automatically.
package suggest
