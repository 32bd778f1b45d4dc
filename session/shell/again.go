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
	spec := l.Kind.Spec()
	if spec.again == "" {
		return "", l, errors.New("shell integration: " + reasonUnknown)
	}
	if !filepath.IsAbs(dir) || strings.ContainsAny(dir+host+nonce, "'\"$`\\\n:") {
		return "", l, fmt.Errorf("shell integration: the directory %q is not absolute or has special characters", dir)
	}
	l.Quality = spec.quality
	err = errors.Join(install(dir, spec.files),
		os.WriteFile(filepath.Join(dir, "nonce"), []byte(nonce+"\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "again"), []byte(again(l.Kind, dir, nonce, host)), 0o600))
	if err != nil {
		return "", l, fmt.Errorf("shell integration: %w", err)
	}
	return " " + spec.source + " '" + filepath.Join(dir, "again") + "'", l, nil
}

// again is the file that the shell reads: it says what the environment says to a shell that
// is started, and is gone before anything else happens.
func again(k Kind, dir, nonce, host string) string {
	return fmt.Sprintf("command rm -f '%[1]s/again'\n"+k.Spec().again, dir, nonce, host)
}

// What the file says then, for each family of shells: %[1]s is the directory, %[2]s the nonce, %[3]s the
// host's name.
const (
	againBash = "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s' LONGTERM_RC= LONGTERM_START=\n" +
		". '%[1]s/longterm.bash'\nunset LONGTERM_NONCE\n"
	againZsh = "typeset -gH +x _longterm_nonce=%[2]s _longterm_state='%[1]s' _longterm_host='%[3]s'\n" +
		"emulate zsh -o no_aliases -c \"source '%[1]s/zsh/longterm.zsh'\"\nbuiltin source '%[1]s/zsh/options.zsh'\n"
	againFish = "set -g LONGTERM_NONCE %[2]s\nset -g LONGTERM_STATE '%[1]s'\nset -g LONGTERM_HOST '%[3]s'\n" +
		"source '%[1]s/longterm.fish'\nset -e LONGTERM_NONCE\n"
	againSh = "LONGTERM_NONCE=%[2]s LONGTERM_STATE='%[1]s' LONGTERM_HOST='%[3]s'\n" +
		"if [ -n \"${ENV+set}\" ]; then LONGTERM_ENV=$ENV; fi\n. '%[1]s/longterm.sh'\nunset LONGTERM_NONCE\n"
)
