// Package budget truncates text to a number of bytes: head and tail stay, and a note between them gives the omitted
// amount.
//
//	a whole text ── Cut, CutANSI ──→ head, note, tail
//	lines as they arrive ── Budget ──→ the same, in memory independent of the text's size
//
// Everything is pure. Cuts fall between grapheme clusters. Escape sequences are never cut (ansi.go), and the tail keeps
// its colours. Sizes are in bytes; offsets are those of the raw output.
package budget
