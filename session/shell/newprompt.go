package shell

import "regexp"

// promptVars are assigned to by lines that give the shell another prompt, in which no marks are until
// the integration has put them back.
var promptVars = regexp.MustCompile(`(?:^|[;&|({\s])(?:PS1|PROMPT|PROMPT_COMMAND)\+?=|\bunset\b[^;&|]*\bPROMPT_COMMAND\b`)

// SetsPrompt reports if a line seems to give the shell another prompt.
func SetsPrompt(line string) bool { return promptVars.MatchString(line) }
