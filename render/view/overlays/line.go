package overlays

import "github.com/longterm-dev/longterm/vterm/input"

// line is a line of text being typed.
type line struct {
	text []rune
	at   int // cursor
}

func (l *line) String() string { return string(l.text) }

// edit applies an editing key to the line. It returns false for other keys.
func (l *line) edit(k input.Key) bool {
	t, at := l.text, l.at
	ctrl := k.Mods&input.Ctrl != 0
	switch {
	case k.Code == input.KeyBackspace || ctrl && k.Code == 'h':
		if at > 0 {
			l.text, l.at = append(t[:at-1:at-1], t[at:]...), at-1
		}
	case k.Code == input.KeyDelete:
		if at < len(t) {
			l.text = append(t[:at:at], t[at+1:]...)
		}
	case k.Code == input.KeyLeft:
		l.at = max(0, at-1)
	case k.Code == input.KeyRight:
		l.at = min(len(t), at+1)
	case k.Code == input.KeyHome || ctrl && k.Code == 'a':
		l.at = 0
	case k.Code == input.KeyEnd || ctrl && k.Code == 'e':
		l.at = len(t)
	case ctrl && k.Code == 'u':
		l.text, l.at = append([]rune{}, t[at:]...), 0
	case ctrl && k.Code == 'w':
		from := at
		for from > 0 && t[from-1] == ' ' {
			from--
		}
		for from > 0 && t[from-1] != ' ' {
			from--
		}
		l.text, l.at = append(t[:from:from], t[at:]...), from
	case typedText(k) != "":
		l.insert(typedText(k))
	default:
		return false
	}
	return true
}

// typedText returns the text that a key types.
func typedText(k input.Key) string {
	switch {
	case k.Text != "":
		return k.Text
	case k.Code == input.KeySpace || k.Code == ' ' && k.Mods == 0:
		return " "
	}
	return ""
}

// insert inserts text at the cursor, without control characters.
func (l *line) insert(text string) {
	for _, r := range text {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			continue
		}
		l.text = append(l.text[:l.at:l.at], append([]rune{r}, l.text[l.at:]...)...)
		l.at++
	}
}
