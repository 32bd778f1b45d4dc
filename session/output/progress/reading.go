package progress

import (
	"strings"
	"unicode/utf8"
)

// strength rates how much a line looks like progress.
type strength uint8

const (
	strengthWeak   strength = iota // a number somewhere in the line
	strengthStrong                 // a number where tools put their progress: [3/9] at an end
	strengthBar                    // a number next to a bar, or a percentage that equals a count
)

// reading is a number in a line that may be progress.
type reading struct {
	fraction       float64 // 0 to 1
	current, total int64   // total 0: only a percentage is known
	strength       strength
	line           string // the line
	from, to       int    // position of the number in line; label reads the task's name from there
	name           string // the task's name if the line has none
	shape          string // the line without its moving parts, from shape
}

// maxReadLine bounds the part of a line that is scanned, in bytes.
const maxReadLine = 512

// parseReading returns the number in a line that looks most like progress.
func parseReading(line string) (reading, bool) {
	line = line[:min(len(line), maxReadLine)]
	if !strings.ContainsAny(line, "%/") && !strings.Contains(line, " of ") {
		return parseCurlMeter(line)
	}
	var best reading
	var found bool
	var percent, count *mark
	var marks [maxMarks]mark
	n := 0
	for m := range scan(line) {
		marks[n] = m
		switch p := &marks[n]; {
		case m.total == 0 && percent == nil:
			percent = p
		case m.total > 0 && count == nil:
			count = p
		}
		if n++; n == maxMarks {
			break
		}
	}
	chosen := preferredMark(percent, count)
	if chosen == nil {
		return parseCurlMeter(line)
	}
	best, found = chosen.reading(), true
	switch {
	case hasBar(line), percent != nil && count != nil && nearlyEqual(percent, count):
		best.strength = strengthBar
		if count != nil && nearlyEqual(chosen, count) {
			best.current, best.total = count.current, count.total
		}
	case atEnd(line, chosen):
		best.strength = strengthStrong
	}
	best.line, best.from, best.to = line, chosen.from, chosen.to
	best.shape = shape(line)
	return best, found
}

// preferredMark returns the mark that starts the line, else the percentage.
func preferredMark(percent, count *mark) *mark {
	switch {
	case percent == nil:
		return count
	case count == nil:
		return percent
	case count.from < percent.from && count.hasBracket:
		return count
	}
	return percent
}

// nearlyEqual reports whether two marks state the same fraction.
func nearlyEqual(a, b *mark) bool {
	d := a.fraction - b.fraction
	return d > -0.015 && d < 0.015
}

// atEnd reports whether a number is alone at either end of its line: "[ 37%] Building", "(5/9)", "3/10 Test"; or after a
// step's name, as in "#6 [2/4] RUN".
func atEnd(line string, m *mark) bool {
	before, after := strings.TrimSpace(line[:m.from]), strings.TrimSpace(line[m.to:])
	switch {
	case before == "":
		return m.hasBracket || m.total > 0
	case m.hasBracket && after == "":
		return true
	}
	return m.hasBracket && len(before) <= 4 && before[0] == '#'
}

// hasBar reports whether a line contains a drawn bar: [===>   ], |███  |, ━━━━, ####.
func hasBar(line string) bool {
	run, last := 0, rune(0)
	for i, n := 0, 0; i < len(line); i += n {
		r := rune(line[i])
		if n = 1; r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(line[i:])
		} else if !barASCII[r] {
			run, last = 0, r
			continue
		}
		switch {
		case r >= 0x2580 && r <= 0x259f, r >= 0x2501 && r <= 0x257f && r != '│', r >= 0x2800 && r <= 0x28ff, r == '▰', r == '▱', r == '■', r == '□':
			if run++; run >= 3 {
				return true
			}
			continue
		case r < utf8.RuneSelf && (last == r || last == '[' || last == '<' || last == '='):
			if run++; run >= 4 && r != '-' && r != '.' {
				return true
			}
			last = r
			continue
		}
		run, last = 0, r
	}
	return hasShortBar(line)
}

// barASCII contains the ASCII characters of bars.
var barASCII = [utf8.RuneSelf]bool{'=': true, '#': true, '-': true, '>': true, '.': true}

// hasShortBar reports whether a line contains a short bar in brackets: [=>   ].
func hasShortBar(line string) bool {
	for i := strings.IndexByte(line, '['); i >= 0; {
		end := strings.IndexByte(line[i:], ']')
		if end < 0 {
			return false
		}
		in := line[i+1 : i+end]
		if len(in) >= 5 && strings.Trim(in, "=>#-. ") == "" && strings.ContainsAny(in, "=#>") {
			return true
		}
		next := strings.IndexByte(line[i+1:], '[')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// maxLabel bounds a label, in bytes.
const maxLabel = 80

// label returns the task's name: the words before the number, or after it if it comes first.
func (r *reading) label() string {
	if r.name != "" {
		return r.name
	}
	text := trimMarks(r.line[:r.from])
	if text == "" || isDigit(text[0]) {
		text = trimMarks(r.line[r.to:])
	}
	if text != "" && isDigit(text[0]) {
		return "" // sizes, speeds, times
	}
	for len(text) > maxLabel {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

// trimMarks returns s without bars, brackets and other marks at its ends.
func trimMarks(s string) string {
	if i := strings.IndexAny(s, "[|<━█▉"); i > 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x2500 && r <= 0x28ff {
			return ' '
		}
		return r
	}, s))
	return strings.Trim(s, " ()[]<>:=#|-.,…/\\%")
}

// shape returns a line without its moving parts: numbers, bars and blanks.
func shape(line string) string {
	var room [maxReadLine]byte
	b := room[:0]
	for i := 0; i < len(line); {
		c := line[i]
		if c < utf8.RuneSelf {
			if !volatileASCII[c] {
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		if r < 0x2500 || r > 0x28ff {
			b = utf8.AppendRune(b, r)
		}
		i += n
	}
	return string(b)
}

// volatileASCII contains the ASCII characters that change while a line reports progress. shape removes them.
var volatileASCII = [utf8.RuneSelf]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	' ': true, '.': true, ',': true, '=': true, '#': true, '>': true, '-': true, '\t': true, ':': true,
}
