// Package suggest says what one might do after a command that failed.
//
//	line, output, diagnostics.Result ─┐
//	programs in PATH, files here ─────┼─→ Suggest ──→ Suggestions, at most five
//	makefile, package.json ── Verbs ──┘
//
// It is pure: what is there is told to it. The rules are a table (rules.go), in the order in
// which their suggestions come; a rule is a row. A suggestion is data for people and programs
// to choose from: nothing is ever run because of one.
package suggest
