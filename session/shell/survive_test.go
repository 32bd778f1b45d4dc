//go:build unix

package shell

import (
	"fmt"
	"strings"
	"testing"
)

// TestHooks_SurviveUserChanges changes what the hooks depend on while the shell runs.
func TestHooks_SurviveUserChanges(t *testing.T) {
	for _, c := range []struct {
		shell string
		files map[string]string
		lines []string
	}{
		{"bash", map[string]string{".bashrc": "PS1='$ '\nPROMPT_COMMAND='echo x'\n"},
			[]string{". ~/.bashrc", "PS1='> '", "PS0=", "PROMPT_COMMAND='PS1=\"$? $ \"'", "shopt -u promptvars", "shopt -s promptvars", "set -u", "set -f", "IFS=/", "set -o posix", "unset PS2"}},
		{"bash", map[string]string{".bashrc": "export PS1='(venv) $ '\n"},
			[]string{"OLD=$PS1; PS1=\"(x) $PS1\"", "PS1=$OLD", "set -a", "set -x", "set +x", "trap 'true' DEBUG", "trap - DEBUG", "exec 3>&1"}},
		{"zsh", map[string]string{".zshrc": "PS1='$ '\n"},
			[]string{". ~/.zshrc", "precmd_functions=()", "preexec_functions=(); PS1='> '", "setopt ksh_arrays nounset", "emulate sh", "emulate zsh", "PROMPT_EOL_MARK=", "IFS=/", "setopt xtrace", "exec 3>&1"}},
		{"fish", nil, []string{"function fish_prompt; echo '> '; end", "set -g fish_greeting", "function fish_preexec; end", "source /dev/null"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, c.shell)}, files: c.files})
			for _, line := range c.lines {
				r.run(line)
				if got := r.run("sh -c 'exit 5'"); exitOf(got) != 5 || got.Quality == None || got.Text != "sh -c 'exit 5'" {
					t.Errorf("after %s: %+v", line, got)
				}
			}
			if got := r.run("false"); got.Quality != Full || exitOf(got) != 1 {
				t.Errorf("at the end: %+v", got)
			}
		})
	}
}

// TestExportedPrompt_ShowsNoMarks checks that an exported prompt, as of a virtual environment, shows no marks in a
// nested shell.
func TestExportedPrompt_ShowsNoMarks(t *testing.T) {
	r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "bash")}})
	for _, line := range []string{"export PS1='(venv) $ ' PS2='more> '", "true"} {
		r.run(line)
	}
	for nested, want := range map[string]string{
		"dash -i": "more> ", "bash --norc --noprofile -i": "more> ", "ksh -i": "", // ksh prints PS2 unexpanded
	} {
		shellPath(t, strings.Fields(nested)[0])
		lines := "exit"
		if want != "" {
			lines = "'if true' then true fi exit"
		}
		got := r.text(r.run("printf '%s\\n' " + lines + " | " + nested + " 2>&1 | grep -v tty"))
		if !strings.Contains(got, "(venv) $") || !strings.Contains(got, want) || strings.ContainsAny(got, "\\[]{}=;\a\x1b") {
			t.Errorf("%s: got screen %q", nested, got)
		}
	}
}

// TestHooks_Restored checks that a shell without its hooks sends its prompt's mark from PS1, and restores them.
// FAULT: E5
func TestHooks_Restored(t *testing.T) {
	for _, c := range []struct {
		shell string
		lines []string
	}{
		{"bash", []string{
			"unset PROMPT_COMMAND", "PROMPT_COMMAND=(true)", "PROMPT_COMMAND=true", "PS0='x\\e\\\\'", "PS0='\\$'", "PS0='\\e]9;x\\e\\\\'",
			"unset PS0 PROMPT_COMMAND", "unset PS0 PS1 PS2", "PS1='\\$ '",
		}},
		{"zsh", []string{"precmd_functions=() preexec_functions=()", "unset precmd_functions preexec_functions", "PS1='> ' PS2="}},
		{"ksh", []string{"PS1='> '", "PS1='$? $ '", "PS2='> '"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, c.shell)}})
			for _, line := range c.lines {
				if got := r.run(line); exitOf(got) != 0 || got.Quality == Full && r.text(got) != "" && !strings.Contains(line, "PS0") {
					t.Errorf("%s: %+v printed %q", line, got, r.text(got))
				}
				for _, want := range []int{5, 0} {
					if got := r.run(fmt.Sprintf("sh -c 'exit %d'", want)); exitOf(got) != want || got.CwdAfter != r.home {
						t.Errorf("after %s: %+v", line, got)
					}
				}
			}
			if got := r.run("false"); got.Quality != r.launch.Quality || exitOf(got) != 1 {
				t.Errorf("at the end: %+v", got)
			}
		})
	}
}
