// Package shellquote quotes words for POSIX shells. Its output is also one word for csh, and for fish if it has no backslash.
package shellquote

import "strings"

// Word returns s as one quoted word.
func Word(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Line returns words as a line that a POSIX shell reads back. It quotes only the words that need it.
func Line(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, needsQuote) {
			out[i] = Word(w)
		}
	}
	return strings.Join(out, " ")
}

func needsQuote(r rune) bool {
	isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 || strings.ContainsRune("_-./:=@%+,", r)
	return !isPlain
}
