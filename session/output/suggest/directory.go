package suggest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Targets are the make targets and npm scripts that a directory's files define. A nil *Targets means that the files were
// not read; then nothing is suggested from them.
type Targets struct {
	Make []string // targets of the makefile
	NPM  []string // scripts of package.json
}

// Bounds for reading a file: number of targets, and bytes of a line.
const (
	maxTargets    = 500
	maxTargetLine = 8 << 10
)

// makeTarget matches a rule with literal targets.
var makeTarget = pattern.Lazy(`^([A-Za-z0-9_][A-Za-z0-9._/-]*(?: +[A-Za-z0-9_][A-Za-z0-9._/-]*)*) *::?(?:[^=]|$)`)

// MakeTargets returns the targets that a makefile names literally, without computed ones.
func MakeTargets(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		line = line[:min(len(line), maxTargetLine)]
		m := makeTarget.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		if len(all) >= maxTargets {
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
	return names[:min(len(names), maxTargets)]
}

// Patterns of names that were not found, and the number of scripts that are listed instead.
var (
	scriptName = pattern.Lazy(`^[A-Za-z0-9@_][A-Za-z0-9@:/._-]*$`)
	noFile     = pattern.Lazy(`(?m)(?:^|: )(?:cannot (?:access|open|stat) )?'?([^\s:'/][^:'\n/]*)'?: No such file or directory$`)
	noScript   = pattern.Lazy(`(?i)missing script: ["']?([A-Za-z0-9@:/._-]+)`)
	noTarget   = pattern.Lazy("No rule to make target ['`]([^'\n]+)'")
	maxScripts = 3
)

// suggestFile suggests existing files whose names resemble a missing one.
func suggestFile(s *preparedContext) []Suggestion {
	name := s.firstMatch(noFile)
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
func suggestScript(s *preparedContext) []Suggestion {
	name := s.firstMatch(noScript)
	if name == "" || s.Targets == nil {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Targets.NPM) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "package.json has no script " + name + ", but " + n})
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, n := range s.Targets.NPM[:min(len(s.Targets.NPM), maxScripts)] {
		all = append(all, Suggestion{Command: "npm run " + n, Reason: "a script of package.json"})
	}
	return all
}

// suggestTarget suggests make targets whose names resemble a missing one.
func suggestTarget(s *preparedContext) []Suggestion {
	name := s.firstMatch(noTarget)
	if name == "" || s.Targets == nil {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Targets.Make) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "the makefile has no target " + name + ", but " + n})
		}
	}
	return all
}

// isAvailable reports whether a suggested make target or npm script exists. Other commands count as available.
func (s *preparedContext) isAvailable(command string) bool {
	words := strings.Fields(command)
	switch {
	case words[0] == "make":
		return s.Targets != nil && slices.Contains(s.Targets.Make, words[1])
	case words[0] == "npm":
		return s.Targets != nil && slices.Contains(s.Targets.NPM, words[1])
	}
	return true
}
