package input

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// Delimiters of pasted text in mode 2004 (xterm ctlseqs, "Bracketed Paste Mode").
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// AppendPaste appends pasted text as the program receives it. Line ends become CR, which is what Enter sends. Control
// characters other than tab are removed, whether bracketed or not, so that text can neither end the brackets nor press
// keys. Other bytes are unchanged.
func AppendPaste(dst []byte, text []byte, m *vterm.Modes) []byte {
	if m.BracketedPaste {
		dst = append(dst, pasteStart...)
	}
	for len(text) > 0 {
		n := pasteRun(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		switch {
		case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
			text = text[1:] // the LF replaces both
		case text[0] == '\r' || text[0] == '\n':
			dst = append(dst, '\r')
			text = text[1:]
		case text[0] == 0xc2: // a C1 control
			text = text[2:]
		default:
			text = text[1:]
		}
	}
	if m.BracketedPaste {
		dst = append(dst, pasteEnd...)
	}
	return dst
}

// pasteRun returns the length of the text at the start of p that is unchanged.
func pasteRun(p []byte) int {
	for i := 0; i < len(p); {
		b := p[i]
		if b < utf8.RuneSelf {
			if b < 0x20 && b != '\t' || b == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if r >= 0x80 && r <= 0x9f || r == utf8.RuneError && n == 1 && b <= 0x9f {
			return i // a C1 control, in UTF-8 or as a single byte
		}
		i += n
	}
	return len(p)
}
