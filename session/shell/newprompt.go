package shell

import "github.com/longterm-dev/longterm/session/pattern"

// promptAssignment matches the end of a line that gives the shell another prompt. That prompt has no marks until the
// integration restores them.
var promptAssignment = pattern.Lazy(`(?:^|[;&|({\s])(?:PS1|PROMPT|PROMPT_COMMAND)\+?=(?:'[^']*'|"[^"]*"|[^\s;&|'"])*[\s;]*$|` +
	`\bunset\b[^;&|]*\bPROMPT_COMMAND[\s;]*$`)

// SetsPrompt reports whether a line seems to give the shell another prompt.
func SetsPrompt(line string) bool { return promptAssignment.MatchString(line) }
