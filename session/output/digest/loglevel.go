package digest

import (
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// maxLevelOffset is how far into a log line its level may be, in bytes: after a time, a host, a component's name.
const maxLevelOffset = 96

// levelWords lists the levels of logs: alone and in capitals, or, if field is set, as the value of a field.
var levelWords = []struct {
	word     string
	field    bool
	severity diagnostics.Severity
}{
	{"ERROR", false, diagnostics.Error}, {"FATAL", false, diagnostics.Error}, {"CRITICAL", false, diagnostics.Error},
	{"PANIC", false, diagnostics.Error}, {"WARN", false, diagnostics.Warning}, {"WARNING", false, diagnostics.Warning},
	{"error", true, diagnostics.Error}, {"fatal", true, diagnostics.Error}, {"critical", true, diagnostics.Error},
	{"panic", true, diagnostics.Error}, {"warn", true, diagnostics.Warning}, {"warning", true, diagnostics.Warning},
}

// levelFirstBytes marks the first bytes of levels: most words start with none of them.
var levelFirstBytes = func() (is [256]bool) {
	for _, w := range levelWords {
		is[w.word[0]] = true
	}
	return is
}()

// hasLevelWord reports whether a word of a line starts with a level.
func hasLevelWord(part string) bool {
	for i := 0; i < len(part); i++ {
		if !levelFirstBytes[part[i]] || i > 0 && isLetter(part[i-1]) {
			continue
		}
		for j := range levelWords {
			if strings.HasPrefix(part[i:], levelWords[j].word) {
				return true
			}
		}
	}
	return false
}

// logLevel returns the level of a log line, as in "2026-01-01T00:00:00Z ERROR [disk] …", level=error and
// "level":"error", or "".
func logLevel(line string) diagnostics.Severity {
	part := line[:min(len(line), maxLevelOffset)]
	if !hasLevelWord(part) {
		return ""
	}
	for i := range levelWords {
		w := &levelWords[i]
		for from := 0; ; {
			at := strings.Index(part[from:], w.word)
			if at < 0 {
				break
			}
			at += from
			from = at + len(w.word)
			if !isWord(part, at, from) {
				continue
			}
			if !w.field || isLevelField(part[:at]) || at > 0 && from < len(part) && part[at-1] == '[' && part[from] == ']' {
				return w.severity
			}
		}
	}
	return ""
}

// isWord reports whether s[from:to] is a whole word.
func isWord(s string, from, to int) bool {
	return (from == 0 || !isLetter(s[from-1])) && (to == len(s) || !isLetter(s[to]))
}

// isLetter reports whether a byte belongs to a word, name or path.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '/'
}

// isLevelField reports whether the text before a value names it as a level.
func isLevelField(before string) bool {
	before = strings.TrimRight(before, `"' :=`)
	return strings.HasSuffix(before, "level") || strings.HasSuffix(before, "lvl") || strings.HasSuffix(before, "severity")
}
