package digest

import (
	"slices"
	"strings"
)

// Lines in which an assertion says that it does not hold, by the words of the runners of tests and of C libraries. The first
// with what was expected and what there was instead, which stand on it or on the next lines, is kept before the end.

// untilValues is how many lines from an assertion on the values that it compares are kept in.
const untilValues = 8

// assertions are words of lines that say so; several of a row stand in this order, in any case. Most lines have no first word.
var assertions = [][]string{
	{"assertion", "failed"}, {"assertion", "error"}, {"assert", "failure"}, {"failed asserting"}, {"failure/error:"},
	{"expect(received)"}, {"expected", " got"}, {"expected", "but was"}, {"expected", "received:"}, {"expected", "actual:"},
	{"got ", ", want "}, {"got ", "; want "}, {"got:", "want:"}, {"not equal:"}, {"mismatch"}, {"expected equality of"}, {"expected values to be"},
}

// assertionBegins are the first words of each by their first letters, in both cases.
var assertionBegins = func() (by [256][]string) {
	for _, words := range assertions {
		for _, c := range []byte{words[0][0], words[0][0] - 'a' + 'A'} {
			if !slices.Contains(by[c], words[0]) {
				by[c] = append(by[c], words[0])
			}
		}
	}
	return by
}()

// hasAssertionWord says that a first word of an assertion stands in a line: in one pass over it, as few do.
func hasAssertionWord(line string) bool {
	for i := range len(line) {
		for _, w := range assertionBegins[line[i]] {
			if len(line)-i >= len(w) && lower(line[i+1]) == w[1] && equalFold(line[i:i+len(w)], w) {
				return true
			}
		}
	}
	return false
}

// isAssertion says that a line tells of an assertion that does not hold.
func isAssertion(line string) bool {
	line = line[:min(len(line), troublePart)]
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
			rest = rest[at+len(w):] + " " // not empty, where it holds
		}
		if rest != "" {
			return true
		}
	}
	return false
}

// indexFold is where a text in small letters stands in another one, in any case.
func indexFold(s, small string) int {
	for i := 0; i+len(small) <= len(s); i++ {
		if lower(s[i]) == small[0] && equalFold(s[i:i+len(small)], small) {
			return i
		}
	}
	return -1
}

// asserted keeps the first assertion with what follows it.
func (d *Digest) asserted(l line, says said) {
	if d.values == 0 && says.asserts && len(d.asserts) == 0 {
		d.values = untilValues
	}
	if d.values == 0 {
		return
	}
	d.values--
	if strings.TrimSpace(l.text) == "" {
		return
	}
	l.text = strings.Clone(l.text)
	d.asserts = append(d.asserts, l)
}
