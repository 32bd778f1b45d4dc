package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Again prepares a shell that stands at its prompt already, in the place of one that was
// started by Prepare, to tell of itself with the marks of nonce. What it returns is the line
// to type; dir is a private directory, as in Setup. It fails for shells that cannot be
// prepared, and for a shell that may not read dir the line does: no mark will come then.
func Again(argv []string, dir, nonce, host string) (line string, l Launch, err error) {
	l = Launch{Kind: Detect(argv), Nonce: nonce, StateDir: dir}
	method := methods[l.Kind]
	if method == nil || l.Kind == Pwsh {
		return "", l, errors.New("shell integration: " + reasonUnknown)
	}
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir+host+nonce, "'\"$`\\\n:") {
		return "", l, fmt.Errorf("shell integration: the directory %q is not absolute or has special characters", dir)
	}
	l.Quality = method.quality
	err = errors.Join(install(dir, method.files),
		os.WriteFile(filepath.Join(dir, "nonce"), []byte(nonce+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "again"), []byte(again(l.Kind, dir, nonce, host)), 0o600))
	if err != nil {
		return "", l, fmt.Errorf("shell integration: %w", err)
	}
	command := "."
	if l.Kind == Fish {
		command = "source"
	}
	return " " + command + " '" + filepath.Join(dir, "again") + "'", l, nil
}

// again is the file that the shell reads: it says what the environment says to a shell that
// is started, and is gone before anything else happens.
func again(k Kind, dir, nonce, host string) string {
	const remove = "command rm -f '%[1]s/again'\n"
	text := map[Kind]string{
		Bash: "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s' LONGTERM_RC= LONGTERM_START=\n" +
			". '%[1]s/longterm.bash'\nunset LONGTERM_NONCE\n",
		Zsh: "typeset -gH +x _longterm_nonce=%[2]s _longterm_state='%[1]s' _longterm_host='%[3]s'\n" +
			"emulate zsh -o no_aliases -c \"source '%[1]s/zsh/longterm.zsh'\"\n",
		Fish: "set -g LONGTERM_NONCE %[2]s\nset -g LONGTERM_STATE '%[1]s'\nset -g LONGTERM_HOST '%[3]s'\n" +
			"source '%[1]s/longterm.fish'\nset -e LONGTERM_NONCE\n",
	}[k]
	if text == "" {
		text = "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s'\n" +
			"if [ -n \"${ENV+set}\" ]; then LONGTERM_ENV=$ENV; fi\n. '%[1]s/longterm.sh'\nunset LONGTERM_NONCE\n"
	}
	return fmt.Sprintf(remove+text, dir, nonce, host)
}
