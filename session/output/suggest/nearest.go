package suggest

import (
	"slices"

	"github.com/longterm-dev/longterm/session/spelling"
)

// suggestNearest finds programs whose names are like that of one that does not exist.
func suggestNearest(s *situation) []Suggestion {
	name := s.find(notFound)
	if name == "" || *s.Result.Exit != 127 {
		return nil
	}
	var all []Suggestion
	for _, n := range nearest(name, s.Programs) {
		if line := replaceWord(s.Line, name, n); line != "" {
			all = append(all, Suggestion{Command: line, Reason: "there is no " + name + ", but " + n})
		}
	}
	return all
}

// nearest are the names most like a name, the best first. One that a shell might take for more
// than a name is not among them.
func nearest(name string, among []string) []string {
	plain := slices.DeleteFunc(slices.Clone(among), func(n string) bool { return !testName.MatchString(n) })
	return spelling.Near(name, plain)
}
