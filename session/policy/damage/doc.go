// Package damage is a table of what programs destroy, fill with files and write, by their arguments: one row per kind.
//
//	program, words ─▶ Table: the rows of the program, each with its conditions ─▶ Effects: the effect on each word
//
// It knows no verdicts, no shell and no files: names and words in, effects out. Its caller decides whether a word is a
// disk, the system or a user's files.
package damage
