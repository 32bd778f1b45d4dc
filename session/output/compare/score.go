package compare

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/digest"
)

// Scores of lines.
const (
	scoreNone        = iota
	scoreConsequence // a program reports the failure of another
	scoreWord        // a word of failures
	scoreCause       // an error with its reason
)

// consequenceWords occur in lines that report a failure without its cause.
var consequenceWords = []string{
	"exit status", "exit code", "exited with", "Error 1", "Error 2", "returned non-zero", "A complete log of this run", "lifecycle script",
	"command failed", "Build failed", "aborting due to", "short test summary", "FAILED (", "Command failed", "process.exit",
}

// causeWords occur in lines that report an error with its cause, besides those of digest.IsTrouble.
var causeWords = []string{
	"error:", "Error:", "ERROR", "undefined", "not found", "No such", "no such", "expected", "Expected", "unexpected", "mismatch", "missing", "Missing",
	"assert", "Assert", "panic:", "fatal", "--- FAIL", "not ok", "✗", "✖", "✕", "denied", "invalid", "Invalid", "cannot", "Cannot", "unknown",
	"unsupported", "not allowed", "deprecated", "required", "refused", "No rule", "FAIL:", "unrecognized", "not declared", "undeclared", "No module", "want ",
}

// failureWords occur in lines that only report that something failed.
var failureWords = []string{"fail", "Fail", "FAIL", "error", "Error", "warning", "Warning", "npm ERR", "Killed", "***"}

// scorer rates the new lines of a run.
type scorer struct {
	linesRead   int
	headingLine int // number of the newest line that announces the next one
}

// rate returns how much the newest line explains a failure.
func (s *scorer) rate(text string) int {
	n := score(text)
	if s.headingLine == s.linesRead-1 && s.headingLine > 0 {
		n = max(n, scoreCause)
	}
	if n > scoreNone && strings.HasSuffix(text, ":") { // the next line has the cause
		n = min(n, scoreWord)
		s.headingLine = s.linesRead
	}
	return n
}

// score returns how much a line explains a failure, without the line before it.
func score(line string) int {
	switch {
	case containsAny(line, consequenceWords):
		return scoreConsequence
	case containsAny(line, causeWords), digest.IsTrouble(line):
		return scoreCause
	case containsAny(line, failureWords):
		return scoreWord
	}
	return scoreNone
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
