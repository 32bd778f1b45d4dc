package policy

import (
	"fmt"
	"path"
	"strings"
)

// Verdict is an answer about a command. Larger is stricter.
type Verdict uint8

// The verdicts.
const (
	Allow Verdict = iota
	Ask
	Deny
)

// String returns "allow", "ask" or "deny".
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// Preset names a set of built-in answers.
type Preset string

// The presets.
const (
	// Off allows what no rule denies.
	Off Preset = "off"
	// Hard denies what destroys the machine, asks about what cannot be known, and allows the rest.
	Hard Preset = "hard"
	// Build is Hard, but only reading and the usual programs for building are allowed without asking.
	Build Preset = "build"
	// ReadOnly is Hard, but only reading is allowed without asking.
	ReadOnly Preset = "readonly"
	// Listed is Hard, but only what an allow rule names is allowed without asking.
	Listed Preset = "listed"
)

// Options configure an Engine. The zero value is the preset Hard without rules.
type Options struct {
	Preset Preset   // "" is Hard
	Allow  []string // command prefixes such as "git log"
	Deny   []string // command prefixes such as "curl" or "git push --force"
	Rules  []Rule   // rules with reasons and examples
	Own    []string // absolute paths of longterm's own files and directories, where they are not the usual ones
}

// Line is a command line and what is known of the shell that will run it.
type Line struct {
	Text  string
	Shell string // "bash" (also ""), "zsh", "sh", "mksh", "fish", "powershell", "cmd"; else the program that reads it
	Cwd   string // absolute; "" if unknown
	Home  string // absolute; "" if unknown
	State *State // what earlier lines have left in the shell; nil: there was none

	// Real returns an absolute path without symbolic links, as far as the path exists. If nil, links are not resolved.
	Real func(path string) string

	// Of an execution: Installed says that root has put its file where packages are, so that a manager of versions is
	// what its directory's name says; Account is the account's home directory where Home is another; "" if unknown.
	Installed bool
	Account   string
}

// Command is one command of a line, with its own verdict.
type Command struct {
	Argv    []string // words as the program gets them; what is not known is written as "…", globs as they are
	Verdict Verdict
	Rule    string // name of what decided, such as "hard:remove" or "deny git push"
	Why     string // one sentence; empty for allow
	Instead string // what to do instead; may be empty
	Risk    Risk   // what it does at most, without what it runs: that is listed too
	Dir     string // in which it starts; empty: not known
	OfFile  bool   // it needs approval for the file of commands that it runs; a rule about exactly its words allows it
}

// Judgement is the answer about a line.
type Judgement struct {
	Verdict  Verdict // the strictest of all commands
	Rule     string  // of the first command with that verdict
	Words    string  // the words of that command
	Why      string
	Instead  string
	Risk     Risk      // the largest of all commands
	Cut      bool      // a shell would wait for more of it: the end of a block, a quote, a here-document
	Unread   bool      // it is one line that the shell, bash, cannot parse: it would run nothing of it
	Commands []Command // in the order in which they were found; at most MaxCommands
	Changes  []Change  // of files, that the line makes itself
}

// Change is a file that a line writes, or changes, before some of its commands.
type Change struct {
	File   string // clean path
	Before int    // the index of the first command that finds it changed
}

// MaxCommands is how many commands a Judgement lists. All of them are judged.
const MaxCommands = 1000

// Engine judges lines.
type Engine struct {
	preset Preset
	rules  []Rule
	own    []string
	denies bool // a rule denies or asks: what is unknown may be what it names
}

// New makes an engine. The error names the rule and the example that does not hold.
func New(o Options) (*Engine, error) {
	e := &Engine{preset: o.Preset, own: o.Own}
	switch o.Preset {
	case "":
		e.preset = Hard
	case Off, Hard, Build, ReadOnly, Listed:
	default:
		return nil, fmt.Errorf("policy: no preset %q: use off, hard, build, readonly or listed", o.Preset)
	}
	for _, list := range []struct {
		words []string
		v     Verdict
	}{{o.Deny, Deny}, {o.Allow, Allow}} {
		for _, text := range list.words {
			r, err := ParseRule(text, list.v)
			if err != nil {
				return nil, err
			}
			e.rules = append(e.rules, r)
		}
	}
	e.rules = append(e.rules, o.Rules...)
	for i := range e.rules {
		if err := e.rules[i].check(); err != nil {
			return nil, err
		}
		e.denies = e.denies || e.rules[i].Decision != Allow
	}
	return e, nil
}

// Judge answers for a line. It never panics, and takes time linear in the line's length.
func (e *Engine) Judge(l Line) (j Judgement) {
	w := newWalk(e, l)
	defer func() {
		if r := recover(); r != nil {
			w.unknown([]string{l.Text}, "the line cannot be judged")
			j = w.judgement()
		}
	}()
	w.remembered(&l)
	w.line(l)
	w.judgeComments(l)
	return w.judgement()
}

func (w *walk) judgement() Judgement {
	j := Judgement{Commands: w.commands, Risk: w.risky, Cut: w.cut, Unread: w.unread, Changes: w.changes}
	if w.worst != nil {
		j.Verdict, j.Rule, j.Why, j.Instead = w.worst.Verdict, w.worst.Rule, w.worst.Why, w.worst.Instead
		j.Words = joinWords(w.worst.Argv)
	}
	return j
}

// JudgeArgv answers for an execution: file is what the kernel is to run, argv the words that it gets.
// The outer words are not parsed; what they make a program run (sudo, sh -c, find -exec, python -c)
// is judged as on a line, by the same rules and with the same words. Of l, Text is not used.
//
// A program is what its file is. The caller resolves symbolic links first, so that a link called ls to rm
// is rm. Three things follow:
//
//   - An allow rule "git" is about the git of the system's directories. /tmp/git and ./git are other
//     programs, which only a rule with that very path allows. Denials are about them too.
//   - Files with several programs in them (busybox) and with their version in their name (python3.12,
//     vim.basic) also count as the program named by argv[0].
//   - Else the caller chooses argv[0]: it can lead to a denial, and never permits anything.
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

// execution judges a program by its file and by the name in argv[0].
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

// severalInOne are files that contain many programs. argv[0] selects one.
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

// denials runs f and keeps its verdict only if that is a denial.
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

// systemPlaces are the directories in which a file is the program of that name.
var systemPlaces = map[string]bool{"": true, "/bin/": true, "/usr/bin/": true, "/usr/local/bin/": true, "/sbin/": true,
	"/usr/sbin/": true, "/usr/local/sbin/": true, "/opt/homebrew/bin/": true, "/usr/local/go/bin/": true, "/usr/lib/git-core/": true,
	"/usr/libexec/git-core/": true, "/run/current-system/sw/bin/": true}
