package policy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// State is the state that earlier lines left in a shell, as far as their text shows: variables, functions, aliases. It
// is immutable; nil is a fresh shell.
type State struct {
	vars       map[string]value
	arrays     map[string][]string
	funcs      map[string]*function
	aliases    map[string][]string
	fetched    bool   // a line downloaded something from another machine
	moved      bool   // a line that still runs, or is about to, changes the directory
	unknownWhy string // why the state is unknown, "" if it is known
}

// Bounds of the state. Beyond them the shell's state is unknown.
const (
	maxNames  = 2000
	maxMemory = 256 << 10
)

// UnknownState returns the unknown state of a shell, for the reason why. Every line for the shell needs approval then.
func UnknownState(why string) *State { return &State{unknownWhy: why} }

// WhyUnknown returns why the state of the shell is unknown, or "".
func (s *State) WhyUnknown() string {
	if s == nil {
		return ""
	}
	return s.unknownWhy
}

const (
	whyStateUnknown     = "shell state unknown: "
	insteadStateUnknown = "use another session (`longterm new`), or ask your user to answer `session`: what earlier lines set in this shell counts as harmless then"
)

// IsStateUnknown reports whether c needs approval because the state of its shell is unknown.
func (c *Command) IsStateUnknown() bool { return strings.HasPrefix(c.Why, whyStateUnknown) }

// restoreState starts the analysis with the state that earlier lines left.
func (w *analyzer) restoreState(l *Line) {
	s := l.State
	if s == nil {
		return
	}
	if s.unknownWhy != "" {
		c := Command{Argv: []string{clip(l.Text)}}
		w.unknownFor(&c, whyStateUnknown+s.unknownWhy, insteadStateUnknown)
		return
	}
	w.scope.vars, w.scope.lists, w.funcs, w.aliases = maps.Clone(s.vars), maps.Clone(s.arrays), maps.Clone(s.funcs), maps.Clone(s.aliases)
	w.denial.fetched = s.fetched
	if s.moved {
		w.cwd, w.unknownDir = "", true
	}
}

// Ran is how far a line has run, as far as known.
type Ran uint8

// How far a line has run.
const (
	RanPerhaps Ran = iota // submitted to the shell, or running
	RanPartly             // ended, perhaps early
	RanFully              // ran to its end
)

// After returns the state after one more line. Effects that depend on an earlier success are unknown.
func (s *State) After(l Line, ran Ran) (next *State) {
	defer func() {
		if recover() != nil {
			next = UnknownState("an earlier line cannot be followed")
		}
	}()
	return s.after(l, ran)
}

// after is After without the size limit.
func (s *State) after(l Line, ran Ran) *State {
	switch l.Shell {
	case "", "bash", "zsh", "sh", "mksh", "ksh", "fish":
	default:
		return s // it hides no program that would not need approval anyway
	}
	if s.WhyUnknown() != "" {
		return s
	}
	l.State = s
	w := newAnalyzer(neutral, l)
	w.restoreState(&l)
	cwd := w.cwd
	w.line(l)
	next := &State{vars: w.scope.vars, arrays: w.scope.lists, funcs: w.funcs, aliases: w.aliases, moved: s != nil && s.moved, fetched: w.denial.fetched}
	if ran == RanPerhaps && (w.cwd != cwd || w.unknownDir) {
		next.moved = true
	}
	if len(w.scope.log) == 0 && next.moved == (s != nil && s.moved) && next.fetched == (s != nil && s.fetched) && sameNames(s, next) && !w.mayBeReplaced() && !w.sources {
		return s
	}
	if !w.isPlainAssignment(l) || ran != RanFully {
		w.scope.invalidate(0)
		next.markUncertain(s)
	}
	if w.mayBeReplaced() || w.sources {
		next.makeUnknown()
	}
	if next.size() > maxMemory {
		return UnknownState("earlier lines set more than is remembered")
	}
	return next
}

// changesShell are builtins that change the shell's own state, beyond what After follows, or depend on it.
var changesShell = words("set shopt setopt unsetopt umask ulimit exit logout return trap hash read mapfile readarray wait fg bg jobs disown " +
	"history fc bind complete compgen suspend exec source . eval cd pushd popd dirs emulate autoload zmodload abbr functions funcsave")

// IsUnchangedBy reports whether a line leaves the state of its shell as it is, so that another process can run it. word is what does not:
// a name that it changes, or that only the shell has because earlier lines set it.
func (s *State) IsUnchangedBy(l Line, exported func(name string) bool) (word string, ok bool) {
	switch l.Shell {
	case "", "bash", "zsh", "sh", "mksh", "ksh":
	default:
		return l.Shell, false
	}
	if s.WhyUnknown() != "" {
		return "its unknown state", false
	}
	f, err := syntax.NewParser(syntax.Variant(newAnalyzer(neutral, l).variant())).Parse(strings.NewReader(l.Text), "")
	if err != nil {
		return "a line that bash cannot parse", false
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Background || n.Coprocess {
				word = "&"
			}
		case *syntax.FuncDecl:
			word = "a function"
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				if len(n.Assigns) > 0 {
					word = n.Assigns[0].Name.Value + "="
				}
				return true
			}
			if name := n.Args[0].Lit(); changesShell.has(name) || s.has(name) {
				word = name
			}
		case *syntax.DeclClause:
			word = n.Variant.Value
		case *syntax.ParamExp:
			if name := n.Param.Value; isSpecial(name) || s.has(name) && !exported(name) {
				word = "$" + name
			}
		}
		return word == ""
	})
	return word, word == "" && s.After(l, RanPerhaps) == s
}

// isSpecial reports whether a parameter is of the shell itself: its status, job, arguments, options.
func isSpecial(name string) bool {
	return name != "" && strings.ContainsAny(name[:1], "?!$-_*@#0123456789") || name == "BASHPID"
}

// has reports whether earlier lines set a name.
func (s *State) has(name string) bool {
	if s == nil || name == "" {
		return false
	}
	_, isVar := s.vars[name]
	_, isArray := s.arrays[name]
	_, isFunc := s.funcs[name]
	_, isAlias := s.aliases[name]
	return isVar || isArray || isFunc || isAlias
}

// neutral is an engine without rules, to follow lines for their state only.
var neutral = &Engine{preset: Off}

// isPlainAssignment reports whether a line only assigns and declares, and nothing prevents that.
func (sh *shellState) isPlainAssignment(l Line) bool {
	if l.Shell == "fish" {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(sh.variant())).Parse(strings.NewReader(l.Text), "")
	return err == nil && !slices.ContainsFunc(f.Stmts, func(s *syntax.Stmt) bool { return !sh.succeeds(s) })
}

// mayBeReplaced reports whether another or unknown shell may read the next line.
func (w *analyzer) mayBeReplaced() bool {
	return slices.ContainsFunc(w.commands, func(c Command) bool {
		if len(c.Argv) == 0 {
			return false
		}
		switch path.Base(c.Argv[0]) {
		case "exec", "su", "newgrp", "…":
			return true
		case "bash", "zsh", "sh", "dash", "mksh", "ksh", "fish":
			return !slices.ContainsFunc(c.Argv[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
		}
		return false
	})
}

// sameNames reports whether two states declare the same functions and aliases.
func sameNames(s, next *State) bool {
	if s == nil {
		return len(next.funcs)+len(next.aliases) == 0
	}
	return maps.Equal(s.funcs, next.funcs) && maps.EqualFunc(s.aliases, next.aliases, slices.Equal)
}

// markUncertain marks functions and aliases that a line redefined as possibly unchanged.
func (s *State) markUncertain(before *State) {
	if before == nil {
		before = &State{}
	}
	for name, f := range s.funcs {
		switch old := before.funcs[name]; {
		case old.mayEqual(f):
			s.funcs[name] = old
		default:
			s.funcs[name] = &function{body: f.body, text: f.text, unsure: true, before: old}
		}
	}
	for name, words := range s.aliases {
		if old, had := before.aliases[name]; had && !slices.Equal(old, words) {
			s.aliases[name] = []string{hole}
		}
	}
}

// mayEqual reports whether f may already be the same as other, so that another declaration changes nothing.
func (f *function) mayEqual(other *function) bool {
	for ; f != nil; f = f.before {
		if f == other || f.source() == other.source() {
			return true
		}
		if !f.unsure {
			break
		}
	}
	return false
}

// source returns the function's body as written.
func (f *function) source() string {
	from, to := f.body.Pos().Offset(), f.body.End().Offset()
	syntax.Walk(f.body, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil { // it follows the body
			to = max(to, r.Hdoc.End().Offset())
		}
		return true
	})
	if from > to || to > uint(len(f.text)) {
		return f.text
	}
	return f.text[from:to]
}

// makeUnknown makes everything unknown.
func (s *State) makeUnknown() {
	for name := range s.vars {
		s.vars[name] = value{text: hole, set: true}
	}
	clear(s.arrays)
	for name, f := range s.funcs {
		s.funcs[name] = &function{body: f.body, text: f.text, unsure: true, before: f.before}
	}
}

// WithVariables returns the state with the shell's own report of its variables: nil means unset. Variables reported
// without a value are unknown.
func (s *State) WithVariables(reported map[string]*string) *State {
	if s == nil || s.unknownWhy != "" || len(reported) == 0 {
		return s
	}
	next := *s
	next.vars = maps.Clone(s.vars)
	for name, text := range reported {
		if _, known := s.vars[name]; !known { // how it was before is not known of any variable
			continue
		}
		v := value{text: hole, set: true, fixed: s.vars[name].fixed}
		if text != nil && !strings.ContainsAny(*text, "\x00"+holes+globs) && len(*text) < 4096 {
			v.text = *text
		}
		next.vars[name] = v
	}
	return &next
}

// WithUnknown returns the state after the shell reported changed variables without values, during a line that started with
// state before. Known assignments of the line stay.
func (s *State) WithUnknown(before *State, names []string) *State {
	told := map[string]*string{}
	for _, name := range names {
		if s != nil && before != nil && s.vars[name] == before.vars[name] {
			told[name] = nil
		}
	}
	return s.WithVariables(told)
}

// size returns the size of the state in bytes.
func (s *State) size() (n int) {
	if len(s.vars)+len(s.funcs)+len(s.aliases) > maxNames {
		return maxMemory + 1
	}
	for name, v := range s.vars {
		n += len(name) + len(v.text)
	}
	for _, list := range s.arrays {
		n += len(strings.Join(list, " "))
	}
	for _, f := range s.funcs {
		for ; f != nil; f = f.before {
			n += len(f.text)
		}
	}
	for _, words := range s.aliases {
		n += len(strings.Join(words, " "))
	}
	return n
}

// isHistoryWord reports whether a shell takes a word for a line of its history: !!, !make, !-2, ^old^new.
func isHistoryWord(word string) bool {
	if strings.HasPrefix(word, "^") {
		return strings.Count(word, "^") > 1
	}
	return len(word) > 1 && word[0] == '!' && (strings.IndexByte("!?-$", word[1]) >= 0 || isWord(word[1]))
}

// hasHistory reports whether the shell has a history and its lines arrive as typed.
func (sh *shellState) hasHistory() bool {
	switch path.Base(sh.shell) {
	case "", ".", "bash", "zsh":
		return sh.isWholeLine
	}
	return false
}

// variant returns the parser's language for the shell.
func (sh *shellState) variant() syntax.LangVariant {
	switch path.Base(sh.shell) {
	case "zsh":
		return syntax.LangZsh
	case "sh", "dash", "ash":
		return syntax.LangBash // sh is often bash, and bash's syntax judges more
	case "mksh", "ksh":
		return syntax.LangMirBSDKorn
	}
	return syntax.LangBash
}
