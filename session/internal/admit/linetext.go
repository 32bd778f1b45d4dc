package admit

import (
	"strings"
	"unicode/utf8"
)

// maxText bounds the text of a line, in bytes.
const maxText = 200

// LineText is the text of a line that was typed in part, as far as its keys show it. The zero value is an empty line.
type LineText struct {
	// Inherited reports that an earlier daemon may have typed input before.
	Inherited bool
	// LastEntered is the text of the newest line ended with Enter, or "" if the keys do not show it.
	LastEntered string

	text   []byte
	opaque bool // it contains editing keys, or a secret
	ahead  bool // some of it was typed while a command ran, which may have read it
}

// InheritedLine returns the line of a session that an earlier daemon may have typed into.
func InheritedLine() LineText { return LineText{opaque: true, Inherited: true} }

// IsEmpty reports whether no text was typed since the last line end.
func (l *LineText) IsEmpty() bool { return len(l.text) == 0 }

// Type appends keys. ahead reports that a command runs, so that they are type-ahead for the shell's next prompt.
func (l *LineText) Type(data []byte, secret, ahead bool) {
	for _, c := range data {
		switch {
		case c == '\r', c == '\n':
			*l = LineText{LastEntered: l.Text()}
		case c == 'C'-'@', c == 'D'-'@', c == 'U'-'@':
			*l = LineText{LastEntered: l.LastEntered}
		case c == 0x7f && !l.opaque && len(l.text) > 0 && len(l.text) < maxText:
			_, n := utf8.DecodeLastRune(l.text)
			l.text = l.text[:len(l.text)-n]
		case secret, c < ' ', c == 0x7f:
			l.opaque = true
		case len(l.text) < maxText:
			l.text = append(l.text, c)
		}
	}
	l.ahead = len(l.text) > 0 && (l.ahead || ahead)
}

// Text returns the text of the line, or "" if the line is empty or the keys do not show its text.
func (l *LineText) Text() string {
	if l.opaque || len(l.text) == maxText {
		return ""
	}
	return string(l.text)
}

// Take clears the line and returns its text, "…" if the keys do not show all of it, or "". before is the text before the cursor:
// type-ahead that is not in it was read by the command that ran then.
func (l *LineText) Take(before string) string {
	text := strings.ToValidUTF8(string(l.text), "")
	if l.opaque {
		text = ""
		if len(l.text) > 0 {
			text = "…"
		}
	}
	if l.ahead && !strings.Contains(before, text) {
		text = ""
	}
	*l = LineText{}
	return text
}
