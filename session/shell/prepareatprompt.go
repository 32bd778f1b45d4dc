package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// PrepareAtPrompt integrates a shell that replaced one started by Prepare, and is already at its prompt. It prints
// marks with the same nonce. The caller types the returned line. dir is a private directory, as in Setup. It fails for
// unsupported shells. In a shell that may not read dir the line fails, and no mark follows.
func PrepareAtPrompt(argv []string, dir, nonce, host string) (line string, l Launch, err error) {
	l = Launch{Kind: Detect(argv), Nonce: nonce, StateDir: dir}
	spec := l.Kind.Spec()
	if spec.resumeText == "" {
		return "", l, errors.New("shell integration: " + reasonUnknown)
	}
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir+host+nonce, "'\"$`\\\n:") {
		return "", l, fmt.Errorf("shell integration: the directory %q is not absolute or has special characters", dir)
	}
	l.Quality = spec.quality
	err = errors.Join(writeScripts(dir, spec.scriptFiles),
		os.WriteFile(filepath.Join(dir, "nonce"), []byte(nonce+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "again"), []byte(resumeScript(l.Kind, dir, nonce, host)), 0o600))
	if err != nil {
		return "", l, fmt.Errorf("shell integration: %w", err)
	}
	return " " + spec.sourceCommand + " '" + filepath.Join(dir, "again") + "'", l, nil
}

// resumeScript returns the file that the line of PrepareAtPrompt reads. It has the settings that a starting shell gets
// from its environment, and removes itself first.
func resumeScript(k Kind, dir, nonce, host string) string {
	return fmt.Sprintf("command rm -f '%[1]s/again'\n"+k.Spec().resumeText, dir, nonce, host)
}

// Formats of the rest of the file, by family of shells: %[1]s is the directory, %[2]s the nonce, %[3]s the host's name.
const (
	resumeBash = forgetBash + "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s' LONGTERM_RC= LONGTERM_START=\n" +
		". '%[1]s/longterm.bash'\nunset LONGTERM_NONCE\n"
	resumeKsh = forgetKsh + "\n" + resumeSh
	resumeZsh = "typeset -gH +x _longterm_nonce=%[2]s _longterm_state='%[1]s' _longterm_host='%[3]s'\n" +
		"emulate zsh -o no_aliases -c \"source '%[1]s/zsh/longterm.zsh'\"\nbuiltin source '%[1]s/zsh/options.zsh'\n"
	resumeFish = "set -g LONGTERM_NONCE %[2]s\nset -g LONGTERM_STATE '%[1]s'\nset -g LONGTERM_HOST '%[3]s'\n" +
		"source '%[1]s/longterm.fish'\nset -e LONGTERM_NONCE\n"
	resumeSh = "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s'\n" +
		"if [ -n \"${ENV+set}\" ]; then LONGTERM_ENV=$ENV; fi\n. '%[1]s/longterm.sh'\nunset LONGTERM_NONCE\n"
)

// forgetBash removes the line that reads the file from bash's history.
const forgetBash = "__longterm_e=$(HISTTIMEFORMAT= \\builtin history 1)\n" +
	"case $__longterm_e in *'%[1]s/again'*) __longterm_e=${__longterm_e#\"${__longterm_e%%%%[0-9]*}\"}\n" +
	"\\builtin history -d \"${__longterm_e%%%%[!0-9]*}\" ;; esac\n"
