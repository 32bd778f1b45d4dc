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

// boxRows is the number of rows above the cursor that may belong to the box.
const boxRows = 12

// passwordBox returns the words of a box with a prompt for a secret at the cursor, or "" if none does.
func passwordBox(f *Facts) string {
	if f.Modes == nil || f.Modes.Canonical || f.Modes.Echo || !f.AltScreen || f.BracketedPaste {
		return ""
	}
	before, left := inBox(f.Line)
	after, right := inBox(f.After)
	if !boxField.MatchString(after) || !left && !right {
		return ""
	}
	if label := strings.TrimRight(before, " _*•●∙·"); label != "" { // the label before the field
		if secretWord.MatchString(label) {
			return label
		}
		return ""
	}
	for n := 1; n <= min(boxRows, len(f.Above)); n++ {
		text, framed := inBox(f.Above[len(f.Above)-n])
		switch {
		case !framed:
			return ""
		case secretWord.MatchString(text):
			return text
		}
	}
	return ""
}

// inBox returns a row's text without the frame of a box, and whether it has one.
func inBox(row string) (text string, framed bool) {
	text = strings.Map(func(r rune) rune {
		if r >= 0x2500 && r <= 0x257f || r == '|' {
			framed = true
			return ' '
		}
		return r
	}, row)
	return strings.TrimSpace(text), framed
}
