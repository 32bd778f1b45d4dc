//go:build unix

package shell

import (
	"regexp"
	"strings"
	"testing"
)

// userConfigs are configurations of users. Their screens, and their view of the shell's state, must be the same with
// and without the integration.
var userConfigs = []struct {
	name  string
	shell string
	args  []string
	env   []string
	files map[string]string
	lines []string
}{
	{"bash, plain", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\n"},
		[]string{"true", "false", "echo $?", "echo one two", "echo $_", "false | true | sh -c 'exit 3'", "echo ${PIPESTATUS[@]}", "trap -p", "history | tail -3"}},
	{"bash, PROMPT_COMMAND", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nPROMPT_COMMAND='echo \"[$? ${PIPESTATUS[@]}]\"'\n"},
		[]string{"true", "false", "true | false", "sh -c 'exit 9'"}},
	{"bash, array", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nPROMPT_COMMAND=('echo \"a $?\"' 'echo \"b ${PIPESTATUS[*]}\"')\n"},
		[]string{"false", "true | sh -c 'exit 4'", "echo"}},
	{"bash, prompt made anew", "bash", nil, nil, map[string]string{".bashrc": "p() { PS1=\"<$?:\\w> \"; }\nPROMPT_COMMAND=p\n"},
		[]string{"false", "cd /tmp", "true"}},
	{"bash, PROMPT_COMMAND composed later", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nPROMPT_COMMAND='echo old'\n"},
		[]string{"PROMPT_COMMAND='echo new'", "true", "PROMPT_COMMAND=\"echo first; $PROMPT_COMMAND\"", "false", "echo $?"}},
	{"bash, DEBUG trap", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\ntrap 'echo \"+ $BASH_COMMAND $?\"' DEBUG\n"},
		[]string{"true", "false", "echo a; echo b"}},
	{"bash, PS0", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nPS0='running \\w\\n'\n"}, []string{"true", "echo x"}},
	{"bash, two lines", "bash", nil, nil, map[string]string{".bashrc": "PS1='\\[\\e[1m\\]top \\W\\[\\e[0m\\]\\n> '\n"}, []string{"true", "echo " + strings.Repeat("long ", 30)}},
	{"bash, nounset and friends", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nset -u -f -C\nIFS=:\nshopt -s nullglob extglob\n"},
		[]string{"true", "echo $-", "x=a:b; echo $x"}},
	{"bash, errexit", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nset -e\ntrap 'echo err' ERR\n"}, []string{"true", "! true", "echo on"}},
	{"bash, xtrace", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\n"}, []string{"set -x", "true", "false"}},
	{"bash, posix", "bash", []string{"--posix"}, nil, map[string]string{".bashrc": "PS1='no '\n"}, []string{"PS1='$ '", "true", "shopt -o posix", "echo $?"}},
	{"bash, login", "bash", []string{"-l"}, nil, map[string]string{".bash_profile": "PS1='$ '\necho profile\n", ".bashrc": "echo no\n", ".bash_logout": "echo bye\n"},
		[]string{"shopt login_shell", "shopt -o posix", "shopt inherit_errexit", "echo ${HISTFILE##*/} ${ENV-none}"}},
	{"bash, no files", "bash", []string{"--norc"}, nil, map[string]string{".bashrc": "echo no\n"}, []string{"PS1='$ '", "true", "echo ${HISTFILE##*/} ${ENV-none}"}},
	{"bash, aliases of builtins", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nalias printf='echo P' local='echo L' builtin='echo B' trap='echo T' read='echo R' history='echo H'\n"},
		[]string{"true", "printf x"}},
	{"bash, readonly prompt", "bash", nil, nil, map[string]string{".bashrc": "PS1='$ '\nreadonly PS1\n"}, []string{"true", "false", "echo $?"}},
	{"bash, prompt not expanded", "bash", nil, nil, map[string]string{".bashrc": "PS1='$HOME $ '\nshopt -u promptvars\n"}, []string{"true", "false"}},
	{"bash, exported prompt", "bash", nil, nil, map[string]string{".bashrc": "export PS1='$ '\n"}, []string{"bash --norc --noprofile -i -c 'echo ${PS1@P}'", "true"}},
	{"zsh, plain", "zsh", nil, nil, map[string]string{".zshrc": "PS1='$ '\n"},
		[]string{"true", "false", "echo $?", "echo one two", "echo $_", "false | true | sh -c 'exit 3'", "echo $pipestatus", "printf x", "echo $PS1", "fc -l | tail -2"}},
	{"zsh, heavy precmd", "zsh", nil, nil, map[string]string{".zshrc": "setopt prompt_subst\nprecmd() { echo \"pre $?\" }\nadd() { PS1=\"$(echo t) <$?> \" }\nprecmd_functions+=(add)\npreexec() { echo \"exec $1\" }\n"},
		[]string{"true", "false", "echo a"}},
	{"zsh, hooks replaced", "zsh", nil, nil, map[string]string{".zshrc": "PS1='$ '\nmine() { echo mine }\nprecmd_functions=(mine)\npreexec_functions=()\n"}, []string{"true", "false"}},
	{"zsh, transient two lines", "zsh", nil, nil, map[string]string{".zshrc": "f() { PS1=$'top %~\\n> ' }\nprecmd_functions+=(f)\nzle-line-finish() { PS1='> '; zle reset-prompt }\nzle -N zle-line-finish\n"},
		[]string{"true", "echo a", "false"}},
	{"zsh, options", "zsh", nil, nil, map[string]string{".zshrc": "PS1='$ '\nsetopt ksh_arrays no_unset sh_word_split err_return null_glob no_clobber\nalias print='echo P' builtin='echo B'\nIFS=:\n"},
		[]string{"true", "false", "x=a:b; echo $x"}},
	{"zsh, ZDOTDIR", "zsh", nil, nil, map[string]string{".zshenv": "ZDOTDIR=$HOME/z\n", "z/.zshrc": "PS1='$ '\n", "z/.zprofile": "echo no\n"}, []string{"echo ${ZDOTDIR##*/}", "true"}},
	{"zsh, login", "zsh", []string{"-l"}, nil, map[string]string{".zshenv": "echo env\n", ".zprofile": "echo profile\n", ".zshrc": "PS1='$ '; echo rc\n", ".zlogin": "echo login\n"},
		[]string{"true", "echo ${ZDOTDIR-none}", "[[ -o login ]] && echo yes"}},
	{"zsh, exported prompt", "zsh", nil, nil, map[string]string{".zshrc": "export PS1='$ '\n"}, []string{"sh -c 'echo \"$PS1\"'", "true"}},
	{"fish, plain", "fish", nil, nil, map[string]string{".config/fish/config.fish": "set fish_greeting\nfunction fish_prompt; echo '> '; end\n"},
		[]string{"true", "false", "echo $status", "false | true | sh -c 'exit 3'", "echo $pipestatus"}},
	{"fish, prompts and events", "fish", nil, nil, map[string]string{".config/fish/config.fish": "set fish_greeting\nfunction fish_prompt; echo -n \"[$status] > \"; end\nfunction fish_right_prompt; echo right; end\nfunction pre --on-event fish_preexec; echo pre $argv; end\nfunction post --on-event fish_postexec; echo post $status; end\n"},
		[]string{"true", "false", "sh -c 'exit 4'"}},
	{"mksh", "mksh", nil, nil, map[string]string{".mkshrc": "PS1='$? $ '\n"}, []string{"true", "false", "echo $?", "echo ${ENV-none}"}},
	{"mksh, ENV", "mksh", nil, []string{"ENV=$HOME/my.rc"}, map[string]string{"my.rc": "PS1='> '\necho mine\n"}, []string{"true", "echo $ENV | sed 's/.*HOME//'"}},
	{"dash", "dash", nil, []string{"ENV=$HOME/my.rc"}, map[string]string{"my.rc": "PS1='[$?] '\n"}, []string{"true", "false", "echo $?", "set -u; true"}},
}

// homePath matches the parts of a screen that differ between two homes and runs.
var homePath = regexp.MustCompile(`/tmp/[A-Za-z]+[^ :>\n]*/00[0-9]`)

// FEATURES: R6 R7
func TestIntegration_IsInvisible(t *testing.T) {
	for _, c := range userConfigs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := testShellOptions{argv: append([]string{shellPath(t, c.shell)}, c.args...), files: c.files, env: c.env}
			with := newTestShellSession(t, o)
			with.waitForPromptText()
			seen := []string{with.comparableScreen()}
			for _, line := range c.lines {
				with.run(line)
				with.waitForPromptText()
				seen = append(seen, with.comparableScreen())
			}
			o.plain = true
			without := newTestShellSession(t, o)
			for i, s := range seen {
				without.waitForRead()
				without.readUntil("the same screen, with the integration:\n"+s+"\n", func() bool { return without.comparableScreen() == s })
				if i < len(c.lines) {
					without.sendKeys(c.lines[i] + "\r")
				}
			}
		})
	}
}

// comparableScreen returns the screen without the parts that differ between two homes.
func (r *testShellSession) comparableScreen() string {
	s := homePath.ReplaceAllString(r.screen(), "~")
	// Of a DEBUG trap that prints there is one line more: see longterm.bash.
	return strings.TrimPrefix(s, "+ __longterm_begin 0\n")
}

// waitForPromptText waits until the prompt is on the screen, which the marks of basic quality do not show.
func (r *testShellSession) waitForPromptText() {
	r.t.Helper()
	r.waitForPrompt()
	if r.tracker.State().InputAt == 0 {
		r.readUntil("visible prompt", func() bool { return promptEnd.MatchString(r.cursorLine()) })
		r.waitForRead()
	}
}

var promptEnd = regexp.MustCompile(`[$>#\]]( +right)?$`)
