// Package building knows the usual programs of building, for the preset build.
//
//	program, words ─▶ Table: subcommands, words that publish, options that run something else
//	word           ─▶ Paths: each path that it may hold, wherever it stands
//	NAME=VALUE     ─▶ Variable: whether it leaves programs what they are
//
// It knows no verdicts, no shell and no files: names and words in, answers out. What it does not know is not
// harmless.
package building
