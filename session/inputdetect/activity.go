package inputdetect

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of the memory and the comparisons of ActivityFilter.
const (
	maxActivityRows  = 512
	maxActivityRunes = 512
	// minMovingChanges is how many times a word in the same place of a row must change until the row counts as a moving
	// display (a spinner's verb, the name of the current file).
	minMovingChanges = 6
)

// ActivityFilter decides whether changes of the screen are content or only the movement of
// spinners, clocks and progress displays. The caller reports every change of a row, and the
// filter learns which rows move.
//
// Two texts of a row have the same content if they are equal without their moving parts:
// digits, bars, spinner glyphs, dots, units of size and time. A row whose words also change,
// but keep their place and frame, counts as moving after several changes in succession.
//
// The zero value is ready to use.
type ActivityFilter struct {
	rows map[int]*activityRow
}

// activityRow is the state of a row.
type activityRow struct {
	lastContent string // newest non-blank content (stableText)
	hasContent  bool   // lastContent is set
	prefix      string // common start of the texts of its changes
	changes     int    // changes in succession with this prefix
}

// Change processes a changed row and reports whether its content changed. If the screen scrolled, call Scroll first;
// then only rows that really differ are changes.
func (c *ActivityFilter) Change(row int, before, after string) bool {
	if c.rows == nil || len(c.rows) > maxActivityRows {
		c.rows = make(map[int]*activityRow)
	}
	r := c.rows[row]
	if r == nil {
		r = &activityRow{}
		c.rows[row] = r
	}
	old, now := stableText(before), stableText(after)
	wasBlank, isBlank := strings.TrimSpace(before) == "", strings.TrimSpace(after) == ""
	switch {
	case wasBlank && isBlank:
		return false
	case isBlank: // removed: a change unless it was a moving display
		r.lastContent, r.hasContent = old, true
		return old != "" && !hasMovingPart(before)
	case wasBlank: // new, unless the same moving display is redrawn
		isRedrawn := r.hasContent && r.lastContent == now && hasMovingPart(after)
		r.lastContent, r.hasContent = now, true
		return !isRedrawn
	}
	r.lastContent, r.hasContent = now, true
	return old != now && r.handleWordChange(old, now, hasMovingPart(before) && hasMovingPart(after))
}

// handleWordChange processes a change of words, and reports whether it is a change of content. It is not on a moving row
// that has changed in the same place for some time.
func (r *activityRow) handleWordChange(old, now string, moving bool) bool {
	head := commonPrefix(old, now)
	if !moving || r.changes > 0 && head != r.prefix && commonPrefix(r.prefix, head) != r.prefix {
		r.changes, r.prefix = 0, head
		return true
	}
	r.changes, r.prefix = r.changes+1, head
	return r.changes < minMovingChanges
}

// Scroll processes a move of the screen's rows up by n. On most screens a moving row stays at its place (at the
// bottom); elsewhere it must be learned again.
func (c *ActivityFilter) Scroll(n int) {
	if n <= 0 {
		return
	}
	moved := make(map[int]*activityRow, len(c.rows))
	for i, r := range c.rows {
		if i-n >= 0 {
			moved[i-n] = r
		}
	}
	c.rows = moved
}

// Reset clears the state when another command starts or the screen is switched.
func (c *ActivityFilter) Reset() { c.rows = nil }

// hasMovingPart reports whether a row has a part that moves by itself. On other rows new words are content.
func hasMovingPart(s string) bool { return progressLine.MatchString(lineEnd(s)) }

// commonPrefix returns the common start of two texts, up to a word's end.
func commonPrefix(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(a) && i == len(b) {
		return a
	}
	return a[:strings.LastIndexByte(a[:i], ' ')+1]
}

// stableText returns a row's text without its moving parts: words, separated by one blank.
func stableText(s string) string {
	var b strings.Builder
	word := make([]rune, 0, 32)
	flush := func() {
		if w := stablePart(word); w != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w)
		}
		word = word[:0]
	}
	n := 0
	for _, r := range s {
		if n++; n > maxActivityRunes {
			break
		}
		if unicode.IsSpace(r) || isDrawing(r) || (r == '[' || r == ']' || r == '(' || r == ')' || r == '|' || r == ',' || r == '=') {
			flush()
			continue
		}
		word = append(word, r)
	}
	flush()
	return b.String()
}

// isDrawing reports whether spinners and bars consist of such characters.
func isDrawing(r rune) bool {
	return r >= 0x2500 && r <= 0x25ff || r >= 0x2800 && r <= 0x28ff || r == '⏳' || r == '⌛' || r >= 0x1f550 && r <= 0x1f567 || r >= 0x1f311 && r <= 0x1f318
}

// stablePart returns the part of a word that does not move: nothing for a number with a unit, a time, or drawing
// characters.
func stablePart(word []rune) string {
	letters, digits, firstDigit := 0, 0, -1
	for i, r := range word {
		switch {
		case unicode.IsDigit(r):
			if digits++; firstDigit < 0 {
				firstDigit = i
			}
		case unicode.IsLetter(r):
			letters++
		}
	}
	if letters == 0 {
		return "" // bars, dashes, dots, numbers, percentages, clocks
	}
	text := strings.TrimRight(string(word), ".…")
	if timeWords[strings.ToLower(strings.TrimRight(text, ":"))] {
		return ""
	}
	if digits > 0 && firstDigit <= 1 && isQuantity(text) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return r
	}, squeezeDigits(text))
}

// squeezeDigits keeps one digit of each run, so that 9 and 10 are equal.
func squeezeDigits(s string) string {
	var b strings.Builder
	inRun := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		digit := unicode.IsDigit(r)
		if !digit || !inRun {
			b.WriteString(s[i : i+n])
		}
		inRun = digit
		i += n
	}
	return b.String()
}

// isQuantity reports whether a word is a number with a unit, or several: 10.1MB/s, 3m20s, ~5ms.
func isQuantity(s string) bool {
	s = strings.ToLower(strings.TrimLeft(s, "~<>@+-"))
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789.:,/")
		if rest == s {
			return false // a unit without a number
		}
		i := 0
		for i < len(rest) && (rest[i] >= 'a' && rest[i] <= 'z' || rest[i] == '%' || strings.HasPrefix(rest[i:], "/s")) {
			i++
		}
		unit := rest[:i]
		if unit != "" && !unitNames[strings.TrimSuffix(unit, "/s")] {
			return false
		}
		s = strings.TrimLeft(rest[i:], "+/")
	}
	return true
}

// unitNames are units of quantities in progress displays.
var unitNames = newSet("b", "k", "m", "g", "t", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "kbit", "mbit", "bps", "kbps", "mbps", "x",
	"ms", "us", "ns", "s", "sec", "secs", "min", "mins", "h", "hr", "hrs", "d", "it", "fps", "%", "am", "pm", "of", "th")

// timeWords change together with the numbers next to them.
var timeWords = newSet("eta", "left", "elapsed", "remaining", "s", "sec", "secs", "second", "seconds", "ms", "min", "mins", "minute", "minutes",
	"hour", "hours", "h", "m", "b", "b/s", "bytes", "kb", "mb", "gb", "kib", "mib", "gib", "kb/s", "mb/s", "kib/s", "mib/s", "gib/s", "it/s", "am", "pm",
	"mon", "tue", "wed", "thu", "fri", "sat", "sun")
