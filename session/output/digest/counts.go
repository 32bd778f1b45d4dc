package digest

import "strings"

// Lines in which a test runner, a build or a linter counts failures: "3 failed, 97 passed", "Failures: 1, Errors: 0",
// "100 examples, 1 failure". The newest of each shape is always kept: it is the result, and a long coverage report
// after it may exceed the share of the last lines.

// maxFailureCounts bounds the failure counts that are kept.
const maxFailureCounts = 3

// countWords lists the counted things. If before is set, the number may precede the word. If sign is set, it may follow
// after a colon or equals sign; if blank is set, after blanks alone. "error 5" is a code, not a count.
var countWords = []struct {
	word                string
	before, sign, blank bool
}{
	{"failures", true, true, true}, {"failure", true, false, false}, {"failed", true, true, true}, {"failing", true, true, true},
	{"fail", true, true, true}, {"errors", true, true, false}, {"error", true, false, false}, {"errored", true, true, false},
}

// countsFailures reports whether a line counts failures and the count is not zero. It depends only on whether a number
// is zero, so lines of one shape get the same answer.
func countsFailures(line string) bool {
	line = line[:min(len(line), maxScanBytes)]
	for i := 0; i < len(line); i++ {
		if c := toLower(line[i]); c != 'f' && c != 'e' || i > 0 && isLetter(line[i-1]) {
			continue
		}
		for j := range countWords {
			w := &countWords[j]
			end := i + len(w.word)
			if end > len(line) || !equalFold(line[i:end], w.word) || !endsWord(line, end) {
				continue
			}
			after, sign := numberAfter(line[end:])
			before := numberBefore(line[:i])
			switch {
			case after != amountMissing && sign && w.sign:
				before = amountMissing
			case after == amountMissing || sign || !w.blank:
				after = amountMissing
			}
			if !w.before {
				before = amountMissing
			}
			// With blanks alone on both sides either number may belong to the word: both must be counts.
			if before != amountZero && after != amountZero && (before == amountPositive || after == amountPositive) {
				return true
			}
			break
		}
	}
	return false
}

// endsWord reports whether the word that ends at a position is complete, unlike in errors.go and failed-jobs.
func endsWord(line string, at int) bool {
	if at == len(line) || !isLetter(line[at]) {
		return true
	}
	return line[at] == '.' && (at+1 == len(line) || !isLetter(line[at+1]))
}

// amount states whether a number is missing, zero or greater.
type amount int

const (
	amountMissing amount = iota
	amountZero
	amountPositive
)

// amountOf classifies a run of digits.
func amountOf(digits string) amount {
	switch {
	case digits == "":
		return amountMissing
	case strings.Trim(digits, "0.,") == "":
		return amountZero
	}
	return amountPositive
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// countedThings may stand between a number and its word: "1 tests failed", "2 test suites failed".
var countedThings = []string{"tests", "test", "suites", "suite", "cases", "case", "specs", "spec", "examples", "scenarios", "checks", "jobs", "targets", "files", "packages"}

// numberBefore returns the number at the end of the text before a word.
func numberBefore(before string) amount {
	rest := strings.TrimRight(before, " \t")
	if len(rest) == len(before) {
		return amountMissing
	}
	for range 2 {
		word := rest[strings.LastIndexAny(rest, " \t")+1:]
		for _, thing := range countedThings {
			if strings.EqualFold(word, thing) {
				rest = strings.TrimRight(rest[:len(rest)-len(word)], " \t")
				break
			}
		}
	}
	from := len(rest)
	for from > 0 && (isDigit(rest[from-1]) || from < len(rest) && (rest[from-1] == ',' || rest[from-1] == '.')) {
		from--
	}
	if from > 0 && isLetter(rest[from-1]) { // the digits end a name or a date
		return amountMissing
	}
	return amountOf(rest[from:])
}

// numberAfter returns the number after a word and whether a sign separates them.
func numberAfter(after string) (n amount, sign bool) {
	at := 0
	for ; at < len(after) && strings.IndexByte(" \t\"':=", after[at]) >= 0; at++ {
		sign = sign || after[at] == ':' || after[at] == '='
	}
	to := at
	for to < len(after) && isDigit(after[to]) {
		to++
	}
	if at == 0 || to < len(after) && (isAlpha(after[to]) || after[to] == ':' || after[to] == '%') { // 3s, 12:04
		return amountMissing, sign
	}
	return amountOf(after[at:to]), sign
}

// keepFailureCount keeps a line that counts failures and drops the older one of its shape.
func (d *Digest) keepFailureCount(l line, class lineClass) {
	if !class.countsFailures {
		return
	}
	l.text = strings.Clone(l.text)
	shape, kept := shapeOf(l.text), d.failureCounts[:0]
	for _, v := range d.failureCounts {
		if shapeOf(v.text) != shape {
			kept = append(kept, v)
		}
	}
	if len(kept) == maxFailureCounts {
		kept = append(kept[:0], kept[1:]...)
	}
	d.failureCounts = append(kept, l)
}
