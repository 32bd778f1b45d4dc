package digest

import "strings"

// Lines in which a test runner, a build or a linter counts failures: "3 failed, 97 passed", "Failures: 1, Errors: 0",
// "100 examples, 1 failure". The newest of each shape is always kept: it is the result, and a coverage report after it
// may push it out of the end.

const manyVerdicts = 3

// countWords are the counted things. before: the number may precede the word. sign and blank: it may follow after a
// colon or equals sign, or after blanks alone. "error 5" is a code, not a count.
var countWords = []struct {
	word                string
	before, sign, blank bool
}{
	{"failures", true, true, true}, {"failure", true, false, false}, {"failed", true, true, true}, {"failing", true, true, true},
	{"fail", true, true, true}, {"errors", true, true, false}, {"error", true, false, false}, {"errored", true, true, false},
}

// countsFailures reports whether a line counts failures and the count is not zero. Of a number it checks only whether
// it is zero.
func countsFailures(line string) bool {
	line = line[:min(len(line), troublePart)]
	for i := 0; i < len(line); i++ {
		if c := lower(line[i]); c != 'f' && c != 'e' || i > 0 && isLetter(line[i-1]) {
			continue
		}
		for j := range countWords {
			w := &countWords[j]
			end := i + len(w.word)
			if end > len(line) || !equalFold(line[i:end], w.word) || !endsWord(line, end) {
				continue
			}
			behind, sign := numberBehind(line[end:])
			before := numberBefore(line[:i])
			switch {
			case behind != noNumber && sign && w.sign:
				before = noNumber
			case behind == noNumber || sign || !w.blank:
				behind = noNumber
			}
			if !w.before {
				before = noNumber
			}
			// With blanks alone on both sides either number may belong to the word: both must be counts.
			if before != zero && behind != zero && (before == some || behind == some) {
				return true
			}
			break
		}
	}
	return false
}

// endsWord reports whether the word that ends at a place stands alone, unlike in errors.go and failed-jobs.
func endsWord(line string, at int) bool {
	if at == len(line) || !isLetter(line[at]) {
		return true
	}
	return line[at] == '.' && (at+1 == len(line) || !isLetter(line[at+1]))
}

type amount int

const (
	noNumber amount = iota
	zero
	some
)

// amountOf returns whether a number is missing, zero or greater.
func amountOf(digits string) amount {
	switch {
	case digits == "":
		return noNumber
	case strings.Trim(digits, "0.,") == "":
		return zero
	}
	return some
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// countedThings may stand between a number and its word: "1 tests failed", "2 test suites failed".
var countedThings = []string{"tests", "test", "suites", "suite", "cases", "case", "specs", "spec", "examples", "scenarios", "checks", "jobs", "targets", "files", "packages"}

// numberBefore returns the number at the end of the text before a word.
func numberBefore(before string) amount {
	rest := strings.TrimRight(before, " \t")
	if len(rest) == len(before) {
		return noNumber
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
	if from > 0 && isLetter(rest[from-1]) { // a name that ends in digits, a date
		return noNumber
	}
	return amountOf(rest[from:])
}

// numberBehind returns the number after a word and whether a sign separates them.
func numberBehind(behind string) (n amount, sign bool) {
	at := 0
	for ; at < len(behind) && strings.IndexByte(" \t\"':=", behind[at]) >= 0; at++ {
		sign = sign || behind[at] == ':' || behind[at] == '='
	}
	to := at
	for to < len(behind) && isDigit(behind[to]) {
		to++
	}
	if at == 0 || to < len(behind) && (isAlpha(behind[to]) || behind[to] == ':' || behind[to] == '%') { // 3s, 12:04
		return noNumber, sign
	}
	return amountOf(behind[at:to]), sign
}

// verdict keeps a line that counts failures; the older one of its shape goes.
func (d *Digest) verdict(l line, says template) {
	if !says.counts {
		return
	}
	l.text = strings.Clone(l.text)
	shape, kept := shapeOf(l.text), d.verdicts[:0]
	for _, v := range d.verdicts {
		if shapeOf(v.text) != shape {
			kept = append(kept, v)
		}
	}
	if len(kept) == manyVerdicts {
		kept = append(kept[:0], kept[1:]...)
	}
	d.verdicts = append(kept, l)
}
