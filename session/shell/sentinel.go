package shell

import (
	"strings"

	"github.com/longterm-dev/longterm/session/shellquote"
)

// Wrap returns the line to type for running line in a shell without integration. It prints a mark, runs the line
// unchanged in the same shell, prints a mark with its status and preserves $?. The tracker must have received the token by
// EventSentinel; a token (NewNonce) is valid for one line.
//
// The line is quoted and evaluated: comments, here-documents, a backslash at its end and open quotes end with it. The
// marks' sequences are written in octal and the token in two pieces. So the shell's echo of the input is no mark, and
// the screen never shows the token in one piece, also while the shell traces commands (set -x). Wrap returns "" for
// unsupported kinds of shells.
//
// A shell that drops an interrupted line as a whole (dash) prints no second mark then.
func Wrap(k Kind, line, token string) string {
	first, second := token[:len(token)/2], token[len(token)/2:]
	if wrap := k.Spec().wrap; wrap != nil {
		return wrap(line, first, second)
	}
	return ""
}

// wrapSh wraps a line for shells in which an error in eval would end the whole line without "command".
func wrapSh(line, first, second string) string {
	return wrapPosix(`\command`, quoteLine(line), first, second)
}

// wrapKsh works like wrapSh for ksh93, whose history records every line.
func wrapKsh(line, first, second string) string {
	return " __longterm_s=$?; " + forgetKsh + "(exit $__longterm_s);" + wrapSh(line, first, second)
}

// forgetKsh is a command that removes its own line from ksh93's history. "hist" deletes its own entry, and "/" cannot be run as
// an editor, so nothing is edited. It has no effect in a subshell.
const forgetKsh = `\command hist -e / 2>/dev/null; `

// wrapDash works like wrapSh for a shell without an editor, in which tabs can be written in one way only.
func wrapDash(line, first, second string) string {
	return wrapPosix(`\command`, shellquote.Word(line), first, second)
}

// wrapMksh wraps a line for mksh, in which "command" does not help: the line is first parsed without running it. There printf
// is a program that PATH may lack, and only "set +x" drops a trace. The history skips a row that starts with a blank, but not
// the rows after it. So the line is typed as one row if the shell can read such a row.
func wrapMksh(line, first, second string) string {
	quoted := quoteLine(line)
	if one := strings.ReplaceAll(quoted, "\n", `'$'\n''`); len(one) < maxMkshLineBytes {
		quoted = one
	}
	token := first + "''" + second
	return ` __longterm_s=$?; (\set +x; set -n; eval ` + quoted + `) 2>/dev/null; __longterm_p=$?; ` +
		`(\set +x; command print -n '\033]133;C;lt='` + token + `'\007'; exit $__longterm_s); ` +
		"case $__longterm_p in 0) eval " + quoted + ";; *) (eval " + quoted + ");; esac; " +
		`(\set +x -- "$?"; command print -n '\033]133;D;'"$1"';lt='` + token + `'\007'; exit "$1")`
}

// maxMkshLineBytes bounds, in bytes, a quoted line that wrapMksh types as one row. That row contains it three times, and mksh reads
// at most 4,095 bytes of a row.
const maxMkshLineBytes = 1200

// wrapZsh wraps a line for zsh, in which "command" means a program.
func wrapZsh(line, first, second string) string {
	return wrapPosix(`\builtin`, quoteLine(line), first, second)
}

// wrapPosix wraps a quoted line. builtin is the word before a builtin that the user's functions and aliases may shadow. Before it,
// $? has the status of the previous line, and after it that of the line. No trace (set -x) of the words around the line is printed.
func wrapPosix(builtin, quoted, first, second string) string {
	return ` (s=$?; ` + builtin + ` printf '\033]133;C;lt=%s%s\007' ` + first + " " + second + `; exit $s) 2>/dev/null; ` +
		builtin + " eval " + quoted + `; ` +
		`(s=$?; ` + builtin + ` printf '\033]133;D;%d;lt=%s%s\007' $((s>256?s-128:s)) ` + first + " " + second + `; exit $s) 2>/dev/null` // as in longterm.sh
}

// quoteLine quotes a line, without the tabs that line editors treat as keys.
func quoteLine(s string) string {
	return strings.ReplaceAll(shellquote.Word(s), "\t", `'$'\t''`)
}

// wrapFish wraps a line for fish.
func wrapFish(line, first, second string) string {
	quoted := "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\t", `'\t'`).Replace(line) + "'"
	return ` begin; set -l s $status; builtin printf '\033]133;C;lt=%s%s\007' ` + first + " " + second + `; ` +
		`sh -c "exit $s"; end; eval ` + quoted + `; begin; set -l s $status; ` +
		`builtin printf '\033]133;D;%d;lt=%s%s\007' $s ` + first + " " + second + `; sh -c "exit $s"; end`
}
