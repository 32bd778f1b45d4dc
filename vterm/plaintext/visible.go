package plaintext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Visible is a text with what reads otherwise than it is shown made visible, as in <U+202E>: marks that turn the
// direction of writing, and characters that show nothing, in which words can be hidden from a person who reads
// along. What emoji and scripts need to be joined stays.
func Visible(text string) string {
	at := strings.IndexFunc(text, Hidden)
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text[:at])
	for rest := text[at:]; len(rest) > 0; {
		r, n := utf8.DecodeRuneInString(rest)
		if Hidden(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
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
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff: // Unicode: bidirectional controls, default ignorables, tags
		return true
	}
	return false
}
