package policy

import (
	"fmt"
	"path"
	"strings"
)

// Verdict is an answer about a command. Larger is stricter.
type Verdict uint8

// Verdicts, from the laxest to the strictest.
const (
	Allow Verdict = iota
	Ask
	Deny
)

// Draft is the verdict of rules that ask about a command's effects after it ran in a draft. Of a line and its commands it is Ask:
// only a caller that can make a draft distinguishes them.
const Draft = "draft"

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

// Presets.
const (
	// Off allows what no rule denies.
	Off Preset = "off"
	// Hard denies what destroys the machine, requires approval for unknown commands, and allows the rest.
	Hard Preset = "hard"
	// BuildDraft is Build with the verdict draft: what it asks about runs in a draft first.
	BuildDraft Preset = "build-draft"
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

// Line is a command line and the known state of the shell that will run it.
type Line struct {
	Text  string
	Shell string // "bash" (also ""), "zsh", "sh", "mksh", "fish", "powershell", "cmd"; else the program that reads it
	Cwd   string // absolute; "" if unknown
	Home  string // absolute; "" if unknown
	State *State // state left by earlier lines; nil: none

	Disk Disk // what the machine has; nil: links are not resolved

	// Installed applies to an execution: root put its file into a package directory, so that a directory name of a
	// version manager can be trusted. Account is the account's home directory if Home is another; "" if unknown.
	Installed bool
	Account   string // home directory of the account if Home is another; "" if unknown
}

// Disk reads what a judgement needs to know of existing files.
type Disk interface {
	// Resolve returns an absolute path without symbolic links, as far as the path exists.
	Resolve(path string) string
	// Entries returns the entries of a directory, without those that are neither links nor directories. It returns false if they
	// cannot be read, or are more than the limit for one judgement.
	Entries(dir string) ([]Entry, bool)
}

// Entry is a name in a directory.
type Entry struct {
	Name string
	Link bool // a symbolic link; else a directory
}

// Command is one command of a line, with its own verdict.
type Command struct {
	Argv    []string // words as the program gets them; unknown parts are written as "…", globs as they are
	Verdict Verdict
	Rule    string // name of the deciding rule, such as "hard:remove" or "deny git push"
	Why     string // one sentence; empty for allow
	Instead string // what to do instead; may be empty
	Risk    Risk   // maximum effect of the command itself; commands that it runs are listed separately
	Dir     string // directory of its start; empty: unknown
	OfFile  bool   // it needs approval because of the file of commands that it runs; an exact rule allows it
	Draft   bool   // with Ask: the rules' verdict is draft, so it may run in a draft before the user is asked
}

// Judgement is the verdict on a line.
type Judgement struct {
	Verdict      Verdict // the strictest of all commands
	Rule         string  // rule of the first command with that verdict
	Words        string  // words of that command
	Why          string
	Instead      string
	Risk         Risk      // the largest of all commands
	IsIncomplete bool      // the line is incomplete: a shell would wait for the end of a block, a quote, a here-document
	IsUnparsable bool      // the line is one line that bash cannot parse: bash would run nothing of it
	Commands     []Command // in the order in which they were found; at most MaxCommands
	Changes      []Change  // files that the line itself changes
	NoDraft      string    // if the verdict is draft: why it does not run in a draft
	Effects      []string  // what it would do, in words, for approval requests
}

// Change is a file that a line writes, or changes, before some of its commands.
type Change struct {
	File   string // clean path
	Before int    // the index of the first command that finds it changed
}

// MaxCommands bounds the commands that a Judgement lists. All of them are judged.
const MaxCommands = 1000

// Engine judges lines.
type Engine struct {
	preset Preset
	drafts bool // what the preset asks about has the verdict draft
	rules  []Rule
	own    []string
	denies bool // a rule denies or asks: unknown words may match it
}

// New creates an engine. The error names the rule and the example that does not match.
func New(o Options) (*Engine, error) {
	e := &Engine{preset: o.Preset, own: o.Own}
	switch o.Preset {
	case "":
		e.preset = Hard
	case BuildDraft:
		e.preset, e.drafts = Build, true
	case Off, Hard, Build, ReadOnly, Listed:
	default:
		return nil, fmt.Errorf("policy: no preset %q: use off, hard, build-draft, build, readonly or listed", o.Preset)
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
	w := newAnalyzer(e, l)
	defer func() {
		if r := recover(); r != nil {
			w.unknown([]string{l.Text}, "the line cannot be judged")
			j = w.judgement()
		}
	}()
	w.restoreState(&l)
	w.line(l)
	w.judgeComments(l)
	return w.judgement()
}

func (w *analyzer) judgement() Judgement {
	j := Judgement{Commands: w.commands, Risk: w.highestRisk, IsIncomplete: w.isIncomplete, IsUnparsable: w.isUnparsable, Changes: w.changes}
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
		words[i] = escapeMarks.Replace(a)
	}
	file = escapeMarks.Replace(file)
	w := newAnalyzer(e, l)
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
	w.judgeDeferred()
	return w.judgement()
}

// escapeMarks replaces the engine's own marks in foreign words: no rule and no path has such bytes.
var escapeMarks = strings.NewReplacer(hole, "\x1a", someText, "\x1a", notEmpty, "\x1a", globStar, "\x1a", globOne,
	"\x1a", "\x00", "\x1a")

// execution judges a program by its file and by the name in argv[0].
func (w *analyzer) execution(file string, words []string, called string) {
	dir, base := path.Split(file)
	if called != base && (multicall.has(base) && called != "" || isVersionOf(base, called)) {
		w.run(append([]string{dir + called}, words...), stream{})
		if !multicall.has(base) && w.engine.mayBeDenied(base) {
			w.keepDenials(func() { w.run(append([]string{file}, words...), stream{}) })
		}
		return
	}
	w.run(append([]string{file}, words...), stream{})
	if called != base && called != "" && w.engine.mayBeDenied(called) {
		w.keepDenials(func() { w.run(append([]string{called}, words...), stream{}) })
	}
}

// multicall are files that contain many programs. argv[0] selects one.
var multicall = words("busybox toybox coreutils uutils sbase-box multicall")

// isVersionOf reports whether the file is a variant of the program that was called: python3.12 of python3, vim.basic of
// vim, nc.openbsd of nc.
func isVersionOf(base, called string) bool {
	rest, ok := strings.CutPrefix(base, called)
	if !ok || called == "" || rest == "" {
		return false
	}
	return strings.ContainsRune(".-", rune(rest[0])) || strings.Trim(rest, "0123456789.") == ""
}

// keepDenials runs f and keeps its verdict only if that is a denial.
func (v *verdicts) keepDenials(f func()) {
	commands, worst := v.commands, v.worst
	v.commands, v.worst = nil, nil
	f()
	found := v.worst
	v.commands, v.worst = commands, worst
	if found != nil && found.Verdict == Deny {
		v.record(*found)
	}
}

// systemProgramDirs are the directories in which a file is the program of its name.
var systemProgramDirs = map[string]bool{"": true, "/bin/": true, "/usr/bin/": true, "/usr/local/bin/": true, "/sbin/": true,
	"/usr/sbin/": true, "/usr/local/sbin/": true, "/opt/homebrew/bin/": true, "/usr/local/go/bin/": true, "/usr/lib/git-core/": true,
	"/usr/libexec/git-core/": true, "/run/current-system/sw/bin/": true}
