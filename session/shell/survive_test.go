//go:build unix

package shell

import "testing"

// Users change what the hooks hang on while the shell runs.
func TestHooksSurvive(t *testing.T) {
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
			r := newRig(t, rigOptions{argv: []string{shellPath(t, c.shell)}, files: c.files})
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

// Without its hooks the shell still says that a command began, and its prompt how one
// may have ended: that is not taken for knowledge.
func TestHooksLost(t *testing.T) {
	r := newRig(t, rigOptions{argv: []string{shellPath(t, "bash")}})
	r.prompt()
	r.typeLine("unset PROMPT_COMMAND; false")
	r.until("doubt", func() bool { return r.tracker.State().Doubt != nil })
	if s := r.tracker.State(); s.Phase != PhaseUnknown || s.Quality != None || s.Running == nil {
		t.Errorf("state %+v", s)
	}
	r.typeLine("true")
	if c := r.next(ChangeFinished).Command; exitOf(c) != 1 || c.Quality != Basic {
		t.Errorf("command %+v", c)
	}
}
