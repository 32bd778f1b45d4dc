package digest

import (
	"strings"
	"sync"
)

// Lines that report trouble in a form unknown to session/output/diagnostics: a runtime's last message, a system error,
// a test name after a cross. They rank behind errors and before warnings, the first of each shape, since ordinary prose
// may contain the same words.

// troubleWords match at the start of a word, in any case. Those of troubleWholeWords must also end with the word.
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
	troubleWholeWords = []string{"error", "exception", "fatal", "panic"}
	// troublePrefixes match at the start of a line, case-sensitively.
	troublePrefixes = []string{"not ok ", "E: ", "E   ", "●", "✕", "✖", "✗", "Caused by: "}
)

// troubleByFirstByte maps first bytes, in lower case, to the words.
var troubleByFirstByte = sync.OnceValue(func() *[256][]string {
	var by [256][]string
	for _, w := range append(append([]string{}, troubleWords...), troubleWholeWords...) {
		by[w[0]] = append(by[w[0]], w)
	}
	return &by
})

// isWholeWord is the set of troubleWholeWords.
var isWholeWord = sync.OnceValue(func() map[string]bool {
	is := map[string]bool{}
	for _, w := range troubleWholeWords {
		is[w] = true
	}
	return is
})

// maxScanBytes bounds the part of a line that is scanned.
const maxScanBytes = 512

// IsTrouble reports whether a line reports trouble. It ignores the values of digits, so lines of one shape get one answer.
func IsTrouble(line string) bool {
	line = line[:min(len(line), maxScanBytes)]
	start, by, whole := strings.TrimLeft(line, " \t"), troubleByFirstByte(), isWholeWord()
	for _, begin := range troublePrefixes {
		if strings.HasPrefix(start, begin) {
			return true
		}
	}
	for i := 0; i < len(line); i++ {
		if i > 0 && isAlpha(line[i-1]) && !(isUpper(line[i]) && !isUpper(line[i-1])) { // within a word; NullPointerException is three words
			continue
		}
		// printed by a shell
		if line[i] == 'K' && strings.HasPrefix(line[i:], "Killed") && (i+6 == len(line) || !isAlpha(line[i+6])) {
			return true
		}
		for _, w := range by[toLower(line[i])] {
			if len(line)-i >= len(w) && equalFold(line[i:i+len(w)], w) && (!whole[w] || i+len(w) == len(line) || !isAlpha(line[i+len(w)])) {
				return true
			}
		}
	}
	return false
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || isUpper(c) }

func toLower(c byte) byte {
	if isUpper(c) {
		c += 'a' - 'A'
	}
	return c
}

// equalFold reports whether s equals the lower-case text small, ignoring the case of ASCII letters. Both have one length.
func equalFold(s, small string) bool {
	for i := range len(s) {
		if toLower(s[i]) != small[i] {
			return false
		}
	}
	return true
}

// keepTrouble keeps a trouble line of a new shape and the lines after it, while there is room.
func (d *Digest) keepTrouble(l line, class lineClass) {
	if d.troubleSize > d.Max || !class.isTrouble && d.troubleLeft == 0 {
		return
	}
	switch shape := shapeOf(l.text); {
	case class.isTrouble && !d.troubleShapes[shape] && len(d.troubleShapes) < maxShapes:
		if d.troubleShapes == nil {
			d.troubleShapes = map[uint64]bool{}
		}
		d.troubleShapes[shape], d.troubleLeft = true, laterContextAfter
	case d.troubleLeft > 0:
		d.troubleLeft--
	default:
		return
	}
	l.text = strings.Clone(l.text)
	d.troubles, d.troubleSize = append(d.troubles, l), d.troubleSize+len(l.text)+1
}
