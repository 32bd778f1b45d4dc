package inputdetect

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// A password box is a window of a full-screen program, as drawn by whiptail, dialog and pinentry. The program reads
// keys and shows none of them, or one mark for each.

// secretWord matches a secret's name as a word of a sentence.
var secretWord = pattern.Lazy(`(?i)(?:^|[^\pL\pN])(?:` + secretWords + `)s?(?:$|[^\pL\pN])`)

// boxField matches an input field without its label: nothing, a filler, or a mark for each key.
var boxField = pattern.Lazy(`^[ _.*•●∙·x]*$`)

// maxBoxRows bounds the rows above the cursor that may belong to a box.
const maxBoxRows = 12

// passwordBoxText returns the prompt of a password box at the cursor, or "" if there is none.
func passwordBoxText(f *Facts) string {
	if f.Modes == nil || f.Modes.Canonical || f.Modes.Echo || !f.AltScreen || f.BracketedPaste {
		return ""
	}
	before, left := trimFrame(f.Line)
	after, right := trimFrame(f.After)
	if !boxField.MatchString(after) || !left && !right {
		return ""
	}
	if label := strings.TrimRight(before, " _*•●∙·"); label != "" { // the label before the field
		if secretWord.MatchString(label) {
			return label
		}
		return ""
	}
	for n := 1; n <= min(maxBoxRows, len(f.Above)); n++ {
		text, framed := trimFrame(f.Above[len(f.Above)-n])
		switch {
		case !framed:
			return ""
		case secretWord.MatchString(text):
			return text
		}
	}
	return ""
}

// trimFrame returns a row's text without the frame of a box, and whether it has a frame.
func trimFrame(row string) (text string, framed bool) {
	text = strings.Map(func(r rune) rune {
		if r >= 0x2500 && r <= 0x257f || r == '|' {
			framed = true
			return ' '
		}
		return r
	}, row)
	return strings.TrimSpace(text), framed
}
