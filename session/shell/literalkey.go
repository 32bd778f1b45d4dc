package shell

import "fmt"

// Keys that the integration defines in bash and zsh. Typed before a submitted line, they disable history expansion for
// it. UnrecordedLiteralKey also keeps the line out of the user's history. No terminal sends these sequences.
const (
	LiteralKey           = "\x1b[20747~"
	UnrecordedLiteralKey = "\x1b[20748~"
)

// PromptPrefixFile returns the name and content of a file for the state directory. The file has the text that precedes
// the newest prompt on its row. bash's editor clears that row when it runs the function of a key; the functions of
// LiteralKey and UnrecordedLiteralKey print the text again. The name is empty if the shell needs no such file.
func (s *State) PromptPrefixFile(k Kind, text []byte) (name string, content []byte) {
	if k != Bash || !s.SupportsLiteralKey {
		return "", nil
	}
	return "before", append(fmt.Appendf(nil, "%d ", s.Prompt), text...)
}

// HistoryRemovalFile returns the name and content of a file that makes ksh93 remove the next line from its history at
// the next prompt. Write it to the state directory before the line. The name is empty for other shells.
func (s *State) HistoryRemovalFile(k Kind) (name string, content []byte) {
	if k != Ksh {
		return "", nil
	}
	return "forget", fmt.Appendf(nil, "%d\n", s.Prompt)
}

// InputPrefix returns the bytes to type before a submitted line, so that the shell reads it literally. With record the
// line is added to the user's history like typed lines.
//
// A plain sh has no history. ksh93's editor supports no such key: see HistoryRemovalFile.
func (s *State) InputPrefix(k Kind, record bool) string {
	switch {
	case s.SupportsLiteralKey && record:
		return LiteralKey
	case s.SupportsLiteralKey:
		return UnrecordedLiteralKey
	case !record:
		return k.Spec().unrecordedPrefix
	}
	return ""
}

// ExpandsHistory reports whether the shell would expand exclamation marks in a line despite InputPrefix. Such a line
// must be quoted (Wrap).
func (s *State) ExpandsHistory(k Kind) bool { return k.Spec().expandsHistory && !s.SupportsLiteralKey }
