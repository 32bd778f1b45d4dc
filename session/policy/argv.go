package policy

import (
	"path"
	"strings"
)

// JudgeArgv answers for an execution: file is what the kernel is to run, argv the words that it gets.
// Nothing is parsed of the outer words; what they say a program runs (sudo, sh -c, find -exec, python -c)
// is judged as on a line, by the same rules and with the same words. Of l, Text is not used.
//
// A program is what its file is. The caller resolves symbolic links first, so that a link called ls to rm
// is rm. Three things follow:
//
//   - An allow rule "git" is about the git of the system's directories. /tmp/git and ./git are other
//     programs, which only a rule with that very path allows. Denials are about them too.
//   - Files with several programs in them (busybox) and with their version in their name (python3.12,
//     vim.basic) are also what argv[0] says.
//   - Else argv[0] is what its caller likes to write: it can bring a denial, and never permits anything.
func (e *Engine) JudgeArgv(file string, argv []string, l Line) (j Judgement) {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = unmarked.Replace(a)
	}
	file = unmarked.Replace(file)
	w := newWalk(e, l)
	defer func() {
		if r := recover(); r != nil {
			w.unknown(argv, "the execution cannot be judged")
			j = w.judgement()
		}
	}()
	called := ""
	if len(words) > 0 {
		called = path.Base(strings.TrimPrefix(words[0], "-"))
		words = words[1:]
	}
	w.executed = true
	w.execution(file, words, called)
	w.over()
	return w.judgement()
}

// unmarked takes the engine's own marks out of foreign words: no rule and no path is about such bytes.
var unmarked = strings.NewReplacer(hole, "\x1a", someText, "\x1a", notEmpty, "\x1a", globStar, "\x1a", globOne,
	"\x1a", "\x00", "\x1a")

// execution judges a program by its file and by the name that it was called.
func (w *walk) execution(file string, words []string, called string) {
	dir, base := path.Split(file)
	if called != base && (severalInOne.has(base) && called != "" || versionOf(base, called)) {
		w.run(append([]string{dir + called}, words...), stream{})
		if !severalInOne.has(base) && w.engine.interesting(base) {
			w.denials(func() { w.run(append([]string{file}, words...), stream{}) })
		}
		return
	}
	w.run(append([]string{file}, words...), stream{})
	if called != base && called != "" && w.engine.interesting(called) {
		w.denials(func() { w.run(append([]string{called}, words...), stream{}) })
	}
}

// severalInOne are files that are many programs, by the name they are called.
var severalInOne = words("busybox toybox coreutils uutils sbase-box multicall")

// versionOf reports whether the file is a variant of the program that was called: python3.12 of python3,
// vim.basic of vim, nc.openbsd of nc.
func versionOf(base, called string) bool {
	rest, ok := strings.CutPrefix(base, called)
	if !ok || called == "" || rest == "" {
		return false
	}
	return strings.ContainsRune(".-", rune(rest[0])) || strings.Trim(rest, "0123456789.") == ""
}

// denials keeps what f finds only where it is refused.
func (v *verdicts) denials(f func()) {
	commands, worst := v.commands, v.worst
	v.commands, v.worst = nil, nil
	f()
	found := v.worst
	v.commands, v.worst = commands, worst
	if found != nil && found.Verdict == Deny {
		v.record(*found)
	}
}

// systemPlaces are the directories in which a program is the one that its name says.
var systemPlaces = map[string]bool{"": true, "/bin/": true, "/usr/bin/": true, "/usr/local/bin/": true, "/sbin/": true,
	"/usr/sbin/": true, "/usr/local/sbin/": true, "/opt/homebrew/bin/": true, "/usr/local/go/bin/": true, "/usr/lib/git-core/": true,
	"/usr/libexec/git-core/": true, "/run/current-system/sw/bin/": true}
