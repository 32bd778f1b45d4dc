package shell

import "github.com/longterm-dev/longterm/session/pattern"

// promptVars are assigned to at the end of lines that give the shell another prompt, in which no marks
// are until the integration has put them back.
var promptVars = pattern.Lazy(`(?:^|[;&|({\s])(?:PS1|PROMPT|PROMPT_COMMAND)\+?=(?:'[^']*'|"[^"]*"|[^\s;&|'"])*[\s;]*$|` +
	`\bunset\b[^;&|]*\bPROMPT_COMMAND[\s;]*$`)

// SetsPrompt reports if a line seems to give the shell another prompt.
func SetsPrompt(line string) bool { return promptVars.MatchString(line) }
