// Package suggest suggests commands after a failed one.
//
//	line, output, diagnostics.Result ─┐
//	programs in PATH, files here ─────┼─→ Suggest ──→ Suggestions, at most five
//	makefile, package.json ── Verbs ──┘
//
// It is pure: callers pass in all facts. The rules form a table (rules.go), one per row, in the order of their
// suggestions. Suggestions are data for users and programs to choose from; nothing runs them automatically.
package suggest
