package hosts

import (
	"strings"
	"unicode"
)

// lastLine returns the last non-empty line, in printable form.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(printable(lines[i])); line != "" {
			return line
		}
	}
	return ""
}

// printable returns text of another machine for a message: short, and without control characters.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
