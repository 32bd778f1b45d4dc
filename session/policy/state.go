package policy

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// State is what the earlier lines of a shell have left in it, as far as their text tells: variables, functions,
// aliases. It is not changed once it is made; nil is a shell of which nothing is known but how shells begin.
type State struct {
	vars    map[string]value
	arrays  map[string][]string
	funcs   map[string]*function
	aliases map[string][]string
	fetched bool   // a line has got something from another machine
	moved   bool   // a line that runs yet, or is about to, changes the directory
	lost    string // why the state is unknown, "" if it is known
}

// Bounds of what is remembered. A shell that was told more is one of which nothing is known.
const (
	maxNames  = 2000
	maxMemory = 256 << 10
)

// Forgotten returns the unknown state of a shell, for the reason why. Every line for the shell needs approval then.
func Forgotten(why string) *State { return &State{lost: why} }

// WhyLost returns why the state of the shell is unknown, or "".
func (s *State) WhyLost() string {
	if s == nil {
		return ""
	}
	return s.lost
}

const (
	whyLost     = "shell state unknown: "
	insteadLost = "use another session (`longterm new`), or ask your user to answer `session`: what earlier lines set in this shell counts as harmless then"
)

// IsLost reports whether c needs approval because the state of its shell is unknown.
func (c *Command) IsLost() bool { return strings.HasPrefix(c.Why, whyLost) }

// remembered begins a walk with what earlier lines have left.
func (w *walk) remembered(l *Line) {
	s := l.State
	if s == nil {
		return
	}
	if s.lost != "" {
		c := Command{Argv: []string{clip(l.Text)}}
		w.unknownFor(&c, whyLost+s.lost, insteadLost)
		return
	}
	w.scope.vars, w.scope.lists, w.funcs, w.aliases = maps.Clone(s.vars), maps.Clone(s.arrays), maps.Clone(s.funcs), maps.Clone(s.aliases)
	w.denial.fetched = s.fetched
	if s.moved {
		w.cwd, w.lost = "", true
	}
}

// Ran says how far a line is known to have come.
type Ran uint8

// How far lines come.
const (
	Perhaps Ran = iota // it was given to the shell, or runs
	Cut                // it is over, and was perhaps cut short
	Done               // the shell was through with it
)

// After is the state after one more line. What the line may not have done, because something before it may have failed,
// is unknown then.
func (s *State) After(l Line, ran Ran) (next *State) {
	defer func() {
		if recover() != nil {
			next = Forgotten("an earlier line cannot be followed")
		}
	}()
	return s.after(l, ran)
}

func (s *State) after(l Line, ran Ran) *State {
	switch l.Shell {
	case "", "bash", "zsh", "sh", "mksh", "ksh", "fish":
	default:
		return s // its own means hide no program that is not asked about anyway
	}
	if s.WhyLost() != "" {
		return s
	}
	l.State = s
	w := newWalk(neutral, l)
	w.remembered(&l)
	cwd := w.cwd
	w.line(l)
	next := &State{vars: w.scope.vars, arrays: w.scope.lists, funcs: w.funcs, aliases: w.aliases, moved: s != nil && s.moved, fetched: w.denial.fetched}
	if ran == Perhaps && (w.cwd != cwd || w.lost) {
		next.moved = true
	}
	if len(w.scope.log) == 0 && next.moved == (s != nil && s.moved) && next.fetched == (s != nil && s.fetched) && sameNames(s, next) && !w.replaced() && !w.sources {
		return s
	}
	if !w.straight(l) || ran != Done {
		w.scope.blur(0)
		next.doubt(s)
	}
	if w.replaced() || w.sources {
		next.forget()
	}
	if next.size() > maxMemory {
		return Forgotten("earlier lines set more than is remembered")
	}
	return next
}

// neutral judges nothing: lines are followed with it.
var neutral = &Engine{preset: Off}

// straight reports a line that does nothing but assign and declare, which nothing hinders.
func (sh *shellState) straight(l Line) bool {
	if l.Shell == "fish" {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(sh.variant())).Parse(strings.NewReader(l.Text), "")
	return err == nil && !slices.ContainsFunc(f.Stmts, func(s *syntax.Stmt) bool { return !sh.succeeds(s) })
}

// replaced reports that another shell, or nobody knows what, may read the next line.
func (w *walk) replaced() bool {
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

func sameNames(s, next *State) bool {
	if s == nil {
		return len(next.funcs)+len(next.aliases) == 0
	}
	return maps.Equal(s.funcs, next.funcs) && maps.EqualFunc(s.aliases, next.aliases, slices.Equal)
}

// doubt says of functions and aliases that a line made over that they may be those of before.
func (s *State) doubt(before *State) {
	if before == nil {
		before = &State{}
	}
	for name, f := range s.funcs {
		switch old := before.funcs[name]; {
		case old.maybe(f):
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

// maybe reports that f may be the same as other already: declaring that once more leaves nothing new.
func (f *function) maybe(other *function) bool {
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

// source is how the function's body is written.
func (f *function) source() string {
	from, to := f.body.Pos().Offset(), f.body.End().Offset()
	syntax.Walk(f.body, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && r.Hdoc != nil { // it stands behind
			to = max(to, r.Hdoc.End().Offset())
		}
		return true
	})
	if from > to || to > uint(len(f.text)) {
		return f.text
	}
	return f.text[from:to]
}

// forget makes all unknown that there is.
func (s *State) forget() {
	for name := range s.vars {
		s.vars[name] = value{text: hole, set: true}
	}
	clear(s.arrays)
	for name, f := range s.funcs {
		s.funcs[name] = &function{body: f.body, text: f.text, unsure: true, before: f.before}
	}
}

// With is the state with what the shell itself says of its variables: nil is one that it has no more. What is told
// without its value is unknown.
func (s *State) With(told map[string]*string) *State {
	if s == nil || s.lost != "" || len(told) == 0 {
		return s
	}
	next := *s
	next.vars = maps.Clone(s.vars)
	for name, text := range told {
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

// Hidden is the state when the shell says of variables that they have changed and not to what, in a line before which the
// state was before. What the line is known to have assigned they have.
func (s *State) Hidden(before *State, names []string) *State {
	told := map[string]*string{}
	for _, name := range names {
		if s != nil && before != nil && s.vars[name] == before.vars[name] {
			told[name] = nil
		}
	}
	return s.With(told)
}

// size is how much is remembered, in bytes.
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

// ofHistory reports a word that a shell takes for a line of its history: !!, !make, !-2, ^old^new.
func ofHistory(word string) bool {
	if strings.HasPrefix(word, "^") {
		return strings.Count(word, "^") > 1
	}
	return len(word) > 1 && word[0] == '!' && (strings.IndexByte("!?-$", word[1]) >= 0 || isWord(word[1]))
}

// history reports a shell that has one, and lines of which come as they were typed.
func (sh *shellState) history() bool {
	switch path.Base(sh.shell) {
	case "", ".", "bash", "zsh":
		return sh.whole
	}
	return false
}

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
