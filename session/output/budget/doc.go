// Package budget brings text down to a number of bytes: its head and its tail stay, and a
// note between them says how much is left out.
//
//	a whole text ── Cut, CutANSI ──→ head, note, tail
//	lines as they come ── Budget ──→ the same, in memory that does not grow with the text
//
// Everything is pure. Cuts fall between grapheme clusters; in text with escape sequences
// (ansi.go) none is cut, and the tail has the colours that it had. Sizes are in bytes;
// offsets are those of the raw output that the text was made of.
package budget
