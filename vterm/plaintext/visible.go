package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text with what reads otherwise than it is shown made visible, as in <U+202E>: marks that turn the
// direction of writing, and characters that show nothing, in which words can be hidden from a person who reads
// along. What emoji and scripts need to be joined stays.
func Visible(text string) string { return spelled(text, Hidden, "<U+%04X>") }

// VisibleMarkup is Visible of HTML and SVG.
func VisibleMarkup(text string) string { return spelled(text, Hidden, "&lt;U+%04X&gt;") }

// Literal is Visible for a text of which each character counts, such as a command that somebody is to allow: also
// what joins emoji, what chooses among their forms, and blanks that are not the usual one are told apart.
func Literal(text string) string { return spelled(text, odd, "<U+%04X>") }

func spelled(text string, which func(rune) bool, as string) string {
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

// Hidden says whether Visible replaces a character.
func Hidden(r rune) bool {
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

// odd says whether Literal replaces a character.
func odd(r rune) bool {
	return Hidden(r) || r >= 0x80 && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x2800)
}
