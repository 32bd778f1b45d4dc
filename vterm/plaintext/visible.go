package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns text with misleading characters replaced by their code, such as <U+202E>: marks that change the
// direction of writing, and invisible characters, which can hide words from a user. Characters that join emoji and
// scripts are kept.
func Visible(text string) string { return spellOut(text, IsHidden, "<U+%04X>") }

// VisibleMarkup is Visible with character references, for HTML and SVG.
func VisibleMarkup(text string) string { return spellOut(text, IsHidden, "&lt;U+%04X&gt;") }

// Literal is Visible for a text in which every character matters, such as a command to approve. It also shows joiners
// of emoji, variation selectors, and unusual blanks.
func Literal(text string) string { return spellOut(text, isMisleading, "<U+%04X>") }

func spellOut(text string, which func(rune) bool, as string) string {
	at := strings.IndexFunc(text, which)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:at])
	for rest := text[at:]; len(rest) > 0; {
		r, n := utf8.DecodeRuneInString(rest)
		if which(r) {
			fmt.Fprintf(&b, as, r)
		} else {
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

// IsHidden reports whether Visible replaces a character.
func IsHidden(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f,
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x3164, r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe0fff: // Unicode: bidirectional controls, default ignorables, fillers, separators of lines, tags
		return true
	}
	return false
}

// isMisleading reports whether Literal replaces a character.
func isMisleading(r rune) bool {
	return IsHidden(r) || r >= 0x80 && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x2800)
}
