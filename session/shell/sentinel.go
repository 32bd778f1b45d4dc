package shell

import (
	"strings"

	"github.com/longterm-dev/longterm/session/shellquote"
)

// Wrap makes the line to type for running line in a shell that has no integration: it
// prints a mark, runs the line unchanged in the same shell, prints a mark with its
// status and leaves $? to be seen. The tracker must have been told the token with
// EventSentinel; a token (NewNonce) is good for one line.
//
// The line stands in quotes and is evaluated: comments, here-documents, a backslash at
// its end or quotes left open end with it. The marks' sequences are spelled out in
// octal and the token is in two pieces, so that the shell's echo of what was typed is no
// mark, and the token cannot be read off the screen in one piece. Empty: for this kind
// of shell there is no such line.
//
// A shell that gives a line up as a whole when it is interrupted (dash) prints no second
// mark then.
func Wrap(k Kind, line, token string) string {
	first, second := token[:len(token)/2], token[len(token)/2:]
	if wrap := k.Spec().wrap; wrap != nil {
		return wrap(line, first, second)
	}
	return ""
}

// wrapSh is for shells in which an error in eval would end the whole line without "command".
func wrapSh(line, first, second string) string {
	return wrapPosix("command eval", quoteLine(line), first, second)
}

// wrapDash is wrapSh for a shell that has no editor, and no other way to write tabs.
func wrapDash(line, first, second string) string {
	return wrapPosix("command eval", shellquote.Word(line), first, second)
}

// wrapMksh is for mksh, where "command" does not help: the line is read once without running it.
func wrapMksh(line, first, second string) string {
	quoted := quoteLine(line)
	check := "__longterm_s=$?; (set -n; eval " + quoted + ") && { (exit $__longterm_s); eval"
	return strings.Replace(wrapPosix(check, quoted, first, second), quoted+"; (s=", quoted+"; }; (s=", 1)
}

// wrapZsh is for zsh, where "command" means a program.
func wrapZsh(line, first, second string) string {
	return wrapPosix("eval", quoteLine(line), first, second)
}

// The subshells keep $?: of the line before for line, and line's for the next.
func wrapPosix(eval, quoted, first, second string) string {
	return ` (s=$?; printf '\033]133;C;lt=%s%s\007' ` + first + " " + second + `; exit $s); ` +
		eval + " " + quoted + `; ` +
		`(s=$?; printf '\033]133;D;%d;lt=%s%s\007' $s ` + first + " " + second + `; exit $s)`
}

// quoteLine quotes a line, without the tabs that line editors take for keys.
func quoteLine(s string) string {
	return strings.ReplaceAll(shellquote.Word(s), "\t", `'$'\t''`)
}

func wrapFish(line, first, second string) string {
	quoted := "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\t", `'\t'`).Replace(line) + "'"
	return ` begin; set -l s $status; printf '\033]133;C;lt=%s%s\007' ` + first + " " + second + `; ` +
		`sh -c "exit $s"; end; eval ` + quoted + `; begin; set -l s $status; ` +
		`printf '\033]133;D;%d;lt=%s%s\007' $s ` + first + " " + second + `; sh -c "exit $s"; end`
}
