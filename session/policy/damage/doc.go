// Package damage knows what programs destroy, fill with files and write, by what they are told: one row a kind.
//
//	program, words ─▶ Table: the rows of the program, each with its conditions ─▶ Effects: what is done to which word
//
// It knows no verdicts, no shell and no files: names and words in, effects out. Whether a word that an effect names is a
// disk, the system or a person's files is for the caller to say.
package damage
