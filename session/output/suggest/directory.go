package suggest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Verbs are what a directory's files let one run. nil: they were not read, and nothing is
// suggested of them.
type Verbs struct {
	Make []string // targets of its makefile
	NPM  []string // scripts of its package.json
}

// Bounds of what is read from a file: verbs, and bytes of a line.
const (
	maxVerbs    = 500
	maxVerbLine = 8 << 10
)

var makeTarget = pattern.Lazy(`^([A-Za-z0-9_][A-Za-z0-9._/-]*(?: +[A-Za-z0-9_][A-Za-z0-9._/-]*)*) *::?(?:[^=]|$)`)

// MakeTargets returns the targets that a makefile names literally, without computed ones.
func MakeTargets(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line = line[:min(len(line), maxVerbLine)]
		m := makeTarget.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		if len(all) >= maxVerbs {
			break
		}
		for _, name := range strings.Fields(m[1]) {
			if !slices.Contains(all, name) {
				all = append(all, strings.Clone(name))
			}
		}
	}
	return all
}

// NPMScripts returns the script names of a package.json.
func NPMScripts(text []byte) []string {
	var p struct {
		Scripts map[string]any `json:"scripts"`
	}
	if json.Unmarshal(text, &p) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(p.Scripts))
	names = slices.DeleteFunc(names, func(n string) bool { return !testName.MatchString(n) && !scriptName.MatchString(n) })
	return names[:min(len(names), maxVerbs)]
}

var (
	scriptName  = pattern.Lazy(`^[A-Za-z0-9@_][A-Za-z0-9@:/._-]*$`)
	noFile      = pattern.Lazy(`(?m)(?:^|: )(?:cannot (?:access|open|stat) )?'?([^\s:'/][^:'\n/]*)'?: No such file or directory$`)
	noScript    = pattern.Lazy(`(?i)missing script: ["']?([A-Za-z0-9@:/._-]+)`)
	noTarget    = pattern.Lazy("No rule to make target ['`]([^'\n]+)'")
	mostScripts = 3
)

// suggestFile finds the file that was probably meant.
func suggestFile(s *situation) []Suggestion {
	name := s.find(noFile)
	if name == "" {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Files) {
		if word, ok := quote(n); ok {
			if line := replaceWord(s.Line, name, word); line != "" {
				all = append(all, Suggestion{Command: line, Reason: name + " not found here; similar: " + n})
			}
		}
	}
	return all
}

// suggestScript suggests the intended script of package.json, or lists the scripts.
func suggestScript(s *situation) []Suggestion {
	name := s.find(noScript)
	if name == "" || s.Verbs == nil {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Verbs.NPM) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "package.json has no script " + name + ", but " + n})
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, n := range s.Verbs.NPM[:min(len(s.Verbs.NPM), mostScripts)] {
		all = append(all, Suggestion{Command: "npm run " + n, Reason: "a script of package.json"})
	}
	return all
}

// suggestTarget finds the target that was probably meant.
func suggestTarget(s *situation) []Suggestion {
	name := s.find(noTarget)
	if name == "" || s.Verbs == nil {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Verbs.Make) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "the makefile has no target " + name + ", but " + n})
		}
	}
	return all
}

// has reports if what would be suggested is there: no target and no script is invented.
func (s *situation) has(command string) bool {
	words := strings.Fields(command)
	switch {
	case words[0] == "make":
		return s.Verbs != nil && slices.Contains(s.Verbs.Make, words[1])
	case words[0] == "npm":
		return s.Verbs != nil && slices.Contains(s.Verbs.NPM, words[1])
	}
	return true
}
