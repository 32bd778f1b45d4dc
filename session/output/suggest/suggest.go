package suggest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Context is the input of Suggest.
type Context struct {
	Line     string             // the command line, as typed
	Output   string             // only its last maxSuggestBytes are searched
	Result   diagnostics.Result // from Parse
	Programs []string           // names of programs in PATH
	Files    []string           // names in the working directory
	Targets  *Targets           // make targets and npm scripts of the working directory
	Project  *Project           // facts for next steps after a successful command
}

// Suggestion is a possible next command. It is data for users and programs to choose from; nothing runs it
// automatically.
type Suggestion struct {
	Rule    string `json:"rule"`
	Command string `json:"command"` // a command line for a shell
	Reason  string `json:"reason"`
}

const (
	maxSuggestBytes = 64 << 10
	maxSuggestions  = 5 // after a failure; else maxNextSteps
)

// rule is a row of the table of suggestion rules.
type rule struct {
	name      string
	appliesTo outcome
	suggest   func(*preparedContext) []Suggestion
}

// outcome is a set of command outcomes to which a rule applies.
type outcome uint8

const (
	failed outcome = 1 << iota
	succeeded
)

// preparedContext is a Context with the output's end and a set of the files.
type preparedContext struct {
	*Context
	out   string
	files map[string]bool
}

// Suggest applies the rules to a finished command. Names from output and listings consist of harmless characters or are
// quoted, since the output may be untrusted.
func Suggest(c Context) []Suggestion {
	if c.Result.Exit == nil || strings.Contains(c.Line, "\x00") { // no shell accepts such a line
		return nil
	}
	s := &preparedContext{Context: &c, out: c.Output[max(0, len(c.Output)-maxSuggestBytes):], files: setOf(c.Files)}
	when, most := failed, maxSuggestions
	if *c.Result.Exit == 0 {
		when, most = succeeded, maxNextSteps
	}
	var all []Suggestion
	for i := range rules {
		r := &rules[i]
		if r.appliesTo&when == 0 {
			continue
		}
		for _, sug := range r.suggest(s) {
			sug.Rule = r.name
			if len(all) < most && sug.Command != strings.TrimSpace(c.Line) && !slices.ContainsFunc(all, func(a Suggestion) bool { return a.Command == sug.Command }) {
				all = append(all, sug)
			}
		}
	}
	if len(all) == 0 && when == failed {
		return suggestFirstError(s)
	}
	return all
}

// suggestFirstError suggests to open the place of the first error, for a failed command without another suggestion.
func suggestFirstError(s *preparedContext) []Suggestion {
	for i := range s.Result.Diagnostics {
		d := &s.Result.Diagnostics[i]
		if d.File != "" && d.Line > 0 && d.Severity == diagnostics.Error {
			return []Suggestion{{Rule: "first-error", Command: "longterm errors --open", Reason: fmt.Sprintf("opens the first error, %s:%d, in an editor", d.File, d.Line)}}
		}
	}
	return nil
}

// single returns one suggestion.
func single(command, reason string) []Suggestion {
	return []Suggestion{{Command: command, Reason: reason}}
}

// firstMatch returns the first non-empty group of a regular expression in the output, or "".
func (s *preparedContext) firstMatch(re pattern.Pattern) string {
	if m := re.FindStringSubmatch(s.out); m != nil {
		for _, g := range m[1:] {
			if g != "" {
				return g
			}
		}
	}
	return ""
}

// outputContains reports whether the output's end contains a text.
func (s *preparedContext) outputContains(text string) bool { return strings.Contains(s.out, text) }

// quote returns a name as a word of a shell's command line, with ./ before a name that looks like an option. ok is
// false if the name cannot be written or is empty.
func quote(name string) (string, bool) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", false
	}
	if name[0] == '-' {
		name = "./" + name
	}
	q, err := syntax.Quote(name, syntax.LangPOSIX)
	return q, err == nil
}

// replaceWord replaces a word of a command line, or returns "" if it does not contain that word.
func replaceWord(line, old, word string) string {
	if old == "" { // strings.Index would find it everywhere
		return ""
	}
	for i := 0; ; {
		at := strings.Index(line[i:], old)
		if at < 0 {
			return ""
		}
		at += i
		end := at + len(old)
		if (at == 0 || strings.ContainsRune(" \t;|&(/", rune(line[at-1]))) && (end == len(line) || strings.ContainsRune(" \t;|&)", rune(line[end]))) {
			return strings.TrimSpace(line[:at] + word + line[end:])
		}
		i = end
	}
}

// findReadme returns the first name that looks like a README.
func (s *preparedContext) findReadme(names []string) string {
	for _, n := range names {
		if base := strings.ToUpper(path.Base(n)); strings.HasPrefix(base, "README") {
			return n
		}
	}
	return ""
}
