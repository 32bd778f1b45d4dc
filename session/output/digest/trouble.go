package digest

import (
	"strings"
	"sync"
)

// Lines that report trouble in a form unknown to session/output/diagnostics: a runtime's last words, a system error
// message, a test name after a cross. They rank behind errors and before warnings, the first of each shape, since
// ordinary prose may contain the same words.

// troubleWords match at the start of a word, in any case. Those of troubleWhole must also end with the word.
var (
	troubleWords = []string{
		"panicked at", "exception in thread", "unhandled", "uncaught", "out of memory", "oom-kill", "segmentation fault", "core dumped",
		"aborted", "no space left on device", "permission denied", "no such file or directory", "connection refused",
		"connection reset", "timed out", "timeout exceeded", "deadline exceeded", "not permitted", "input/output error",
		"command not found", "broken pipe", "cannot ", "can't ", "could not ", "couldn't ", "unable to ", "failed to ", "failed: ",
		"address already in use", "name or service not known", "no route to host", "network is unreachable",
		"read-only file system", "too many open files", "assertion failed", "npm err!", "access denied", "unauthorized",
		"fehler", "erreur", "fallo:", "errore", "ошибка", "错误", "エラー",
	}
	troubleWhole = []string{"error", "exception", "fatal", "panic"}
	// troubleLines match at the start of a line, case-sensitively.
	troubleLines = []string{"not ok ", "E: ", "E   ", "●", "✕", "✖", "✗", "Caused by: "}
)

// troubleBy has the words by their first bytes, in small letters.
var troubleBy = sync.OnceValue(func() *[256][]string {
	var by [256][]string
	for _, w := range append(append([]string{}, troubleWords...), troubleWhole...) {
		by[w[0]] = append(by[w[0]], w)
	}
	return &by
})

// wholeWord holds the words that must end with the word.
var wholeWord = sync.OnceValue(func() map[string]bool {
	is := map[string]bool{}
	for _, w := range troubleWhole {
		is[w] = true
	}
	return is
})

// troublePart is how much of a line is looked at, in bytes.
const troublePart = 512

// IsTrouble reports whether a line reports trouble. It ignores the values of digits: lines of one shape are judged
// once.
func IsTrouble(line string) bool {
	line = line[:min(len(line), troublePart)]
	start, by, whole := strings.TrimLeft(line, " \t"), troubleBy(), wholeWord()
	for _, begin := range troubleLines {
		if strings.HasPrefix(start, begin) {
			return true
		}
	}
	for i := 0; i < len(line); i++ {
		if i > 0 && isAlpha(line[i-1]) && !(isUpper(line[i]) && !isUpper(line[i-1])) { // within a word; NullPointerException is three
			continue
		}
		// printed by a shell
		if line[i] == 'K' && strings.HasPrefix(line[i:], "Killed") && (i+6 == len(line) || !isAlpha(line[i+6])) {
			return true
		}
		for _, w := range by[lower(line[i])] {
			if len(line)-i >= len(w) && equalFold(line[i:i+len(w)], w) && (!whole[w] || i+len(w) == len(line) || !isAlpha(line[i+len(w)])) {
				return true
			}
		}
	}
	return false
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || isUpper(c) }

func lower(c byte) byte {
	if isUpper(c) {
		c += 'a' - 'A'
	}
	return c
}

// equalFold compares with a text in small letters; only ASCII's have a case.
func equalFold(s, small string) bool {
	for i := range len(s) {
		if lower(s[i]) != small[i] {
			return false
		}
	}
	return true
}

// sounds keeps a trouble line of a new shape and the lines after it, while there is room.
func (d *Digest) sounds(l line, says template) {
	if d.troubleSize > d.Max || !says.trouble && d.follows == 0 {
		return
	}
	switch shape := shapeOf(l.text); {
	case says.trouble && !d.troubled[shape] && len(d.troubled) < maxShapes:
		if d.troubled == nil {
			d.troubled = map[uint64]bool{}
		}
		d.troubled[shape], d.follows = true, afterLater
	case d.follows > 0:
		d.follows--
	default:
		return
	}
	l.text = strings.Clone(l.text)
	d.troubles, d.troubleSize = append(d.troubles, l), d.troubleSize+len(l.text)+1
}
