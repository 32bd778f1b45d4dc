package suggest

import (
	"slices"

	"github.com/longterm-dev/longterm/session/suggestname"
)

// suggestNearest suggests programs whose names resemble a missing one.
func suggestNearest(s *preparedContext) []Suggestion {
	name := s.firstMatch(notFound)
	if name == "" || *s.Result.Exit != 127 {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Programs) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: name + " not found; similar: " + n})
		}
	}
	return all
}

// nearest returns the names most similar to name, best first. It leaves out names with shell syntax.
func nearest(name string, among []string) []string {
	plain := slices.DeleteFunc(slices.Clone(among), func(n string) bool { return !testName.MatchString(n) })
	return suggestname.Similar(name, plain)
}
