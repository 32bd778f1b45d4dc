package hosts

import (
	"strings"
	"unicode"
)

// lastLine is the last line with anything in it, fit to be shown.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(printable(lines[i])); line != "" {
			return line
		}
	}
	return ""
}

// printable is text of another machine as part of a message: short, and without what acts on a terminal.
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
