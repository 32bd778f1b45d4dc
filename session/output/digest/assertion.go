package digest

import (
	"slices"
	"strings"
)

// Lines that report a failed assertion, in the wording of test runners and C libraries. The first one, with the
// expected and actual values on it or the next lines, has priority over the last lines.

// assertionContextLines is the number of lines kept from an assertion on: they contain the compared values.
const assertionContextLines = 8

// assertions lists the words of such lines. The words of a row must appear in this order, in any case. Most lines lack
// the first word.
var assertions = [][]string{
	{"assertion", "failed"}, {"assertion", "error"}, {"assert", "failure"}, {"failed asserting"}, {"failure/error:"},
	{"expect(received)"}, {"expected", " got"}, {"expected", "but was"}, {"expected", "received:"}, {"expected", "actual:"},
	{"got ", ", want "}, {"got ", "; want "}, {"got:", "want:"}, {"not equal:"}, {"mismatch"}, {"expected equality of"}, {"expected values to be"},
}

// assertionFirstWords maps the first byte of a line's word, in both cases, to the first words of assertions.
var assertionFirstWords = func() (by [256][]string) {
	for _, words := range assertions {
		for _, c := range []byte{words[0][0], words[0][0] - 'a' + 'A'} {
			if !slices.Contains(by[c], words[0]) {
				by[c] = append(by[c], words[0])
			}
		}
	}
	return by
}()

// hasAssertionWord reports whether a line contains a first word of an assertion. It scans the line once, since few
// lines do.
func hasAssertionWord(line string) bool {
	for i := range len(line) {
		for _, w := range assertionFirstWords[line[i]] {
			if len(line)-i >= len(w) && toLower(line[i+1]) == w[1] && equalFold(line[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// isAssertion reports whether a line reports a failed assertion.
func isAssertion(line string) bool {
	line = line[:min(len(line), maxScanBytes)]
	if start := strings.TrimLeft(line, " \t"); strings.HasPrefix(start, "E  ") {
		return strings.Contains(start, "assert ") || strings.Contains(start, "Error")
	}
	if start := strings.TrimLeft(line, " \t|"); len(start) > 9 && equalFold(start[:9], "expected:") {
		return true
	}
	if !hasAssertionWord(line) {
		return false
	}
	for _, words := range assertions {
		rest := line
		for i, w := range words {
			at := indexFold(rest, w)
			if at < 0 || i == 0 && at > 0 && isAlpha(rest[at-1]) && !isUpper(rest[at]) || strings.HasPrefix(rest[at+len(w):], "s") {
				rest = ""
				break
			}
			rest = rest[at+len(w):] + " " // not empty if the words match
		}
		if rest != "" {
			return true
		}
	}
	return false
}

// indexFold returns the index of the lower-case text small in s, ignoring case, or -1.
func indexFold(s, small string) int {
	for i := 0; i+len(small) <= len(s); i++ {
		if toLower(s[i]) == small[0] && equalFold(s[i:i+len(small)], small) {
			return i
		}
	}
	return -1
}

// keepAssertion keeps the first assertion and the lines after it.
func (d *Digest) keepAssertion(l line, class lineClass) {
	if d.assertionLeft == 0 && class.isAssertion && len(d.assertionLines) == 0 {
		d.assertionLeft = assertionContextLines
	}
	if d.assertionLeft == 0 {
		return
	}
	d.assertionLeft--
	if strings.TrimSpace(l.text) == "" {
		return
	}
	l.text = strings.Clone(l.text)
	d.assertionLines = append(d.assertionLines, l)
}
