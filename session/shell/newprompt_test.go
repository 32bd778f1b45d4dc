package shell

import "testing"

// FAULT: E5
func TestSetsPrompt(t *testing.T) {
	for line, want := range map[string]bool{
		"PS1='new> '":                 true,
		`export PS1="[$?] \w $ "`:     true,
		"cd /; PS1=$x":                true,
		"unset PROMPT_COMMAND":        true,
		"PROMPT_COMMAND=(true)":       true,
		"PS1='x'; read -p 'Name: ' x": false,
		"MYPS1=x":                     false,
		"echo PS1":                    false,
		"PS1=x make":                  false,
		"read -p 'PS1=what? ' x":      false,
	} {
		if got := SetsPrompt(line); got != want {
			t.Errorf("%q: got %v", line, got)
		}
	}
}
