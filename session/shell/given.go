package shell

import "fmt"

// Keys that bash and zsh are taught for a line that a program gives: history expansion is
// for what people type, and leaves the line alone. HiddenKey keeps it out of the user's
// history too. They are sequences that no terminal sends.
const (
	GivenKey  = "\x1b[20747~"
	HiddenKey = "\x1b[20748~"
)

// BeforeFile returns the name and content of a file for the state directory. It holds text, which precedes the newest prompt on
// its row: bash's editor clears that row when it runs the function of a key, and the functions of GivenKey and HiddenKey print
// the text again. The name is empty if the shell needs no such file.
func (s *State) BeforeFile(k Kind, text []byte) (name string, content []byte) {
	if k != Bash || !s.Given {
		return "", nil
	}
	return "before", append(fmt.Appendf(nil, "%d ", s.Prompt), text...)
}

// Prelude returns the bytes to type before a submitted line, so that the shell reads it literally. With record the line
// is added to the user's history like typed lines.
//
// A plain sh has no history, and ksh93's editor supports no such key: it records the line.
func (s *State) Prelude(k Kind, record bool) string {
	switch {
	case s.Given && record:
		return GivenKey
	case s.Given:
		return HiddenKey
	case !record:
		return k.Spec().unsaved
	}
	return ""
}

// Expands reports whether the shell would expand exclamation marks in a line despite Prelude. Such a line must be
// quoted (Wrap).
func (s *State) Expands(k Kind) bool { return k.Spec().expands && !s.Given }
