package inputdetect

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// A box is a window of a full-screen program, as drawn by whiptail, dialog and pinentry. In a password box the program reads
// keys and shows none of them, or one mark for each.

// boxPrograms show one box with a question and exit when it is answered. Other full-screen programs may draw boxes too.
var boxPrograms = newSet("whiptail", "dialog", "cdialog", "pinentry-curses")

// boxTop matches the upper edge of a box, perhaps with a title in it.
var boxTop = pattern.Lazy(`^\s*(?:[┌╔╭][─═┤├].*[┐╗╮]|\+--.*\+)\s*$`)

// emptyField matches an empty input field, or a line within a box.
var emptyField = pattern.Lazy(`^[_=-]*$`)

// secretWord matches a secret's name as a word of a sentence.
var secretWord = pattern.Lazy(`(?i)(?:^|[^\pL\pN])(?:` + secretWords + `)s?(?:$|[^\pL\pN])`)

// boxField matches an input field without its label: nothing, a filler, or a mark for each key.
var boxField = pattern.Lazy(`^[ _.*•●∙·x]*$`)

// maxBoxRows bounds the rows above the cursor that may belong to a box.
const maxBoxRows = 12

// passwordBoxText returns the prompt of a password box at the cursor, or "" without a box.
func passwordBoxText(f *Evidence) string {
	if !readsHiddenKeys(f) {
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

// classifyBox returns the kind of input that a program of boxPrograms waits for, and the text of its box, or None.
func classifyBox(f *Evidence) (kind Kind, text string) {
	if !readsHiddenKeys(f) || !boxPrograms[f.Probe.Program] {
		return None, ""
	}
	if text = boxText(f); text == "" {
		return None, ""
	}
	before, left := trimFrame(f.Line)
	after, right := trimFrame(f.After)
	if left && right && before == "" && emptyField.MatchString(after) {
		return Text, text
	}
	return Menu, text
}

// readsHiddenKeys reports whether a full-screen program reads keys that the terminal does not show, in no line editor.
func readsHiddenKeys(f *Evidence) bool {
	return f.Modes != nil && !f.Modes.Canonical && !f.Modes.Echo && f.AltScreen && !f.BracketedPaste
}

// boxText returns the title and the first paragraph of the box at the cursor, or "" without a box.
func boxText(f *Evidence) string {
	top := len(f.Above) - 1
	for top >= 0 && !boxTop.MatchString(f.Above[top]) {
		top--
	}
	if top < 0 {
		return ""
	}
	title, _ := trimFrame(strings.Trim(strings.TrimSpace(f.Above[top]), "+-"))
	var words []string
	for _, row := range slices.Concat(f.Above[top+1:], []string{f.Line + f.After}, f.Below) {
		text, framed := trimFrame(row)
		isEmpty := emptyField.MatchString(text)
		if !framed || isEmpty && len(words) > 0 {
			break
		}
		if !isEmpty {
			words = append(words, text)
		}
	}
	if body := strings.Join(words, " "); title == "" || body == "" {
		return title + body
	} else {
		return title + ": " + body
	}
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
