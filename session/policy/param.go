package policy

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param folds a parameter expansion.
func (ex *expander) param(f *fields, p *syntax.ParamExp, quoted bool) {
	ex.followSubst(p.Index)
	if p.Slice != nil {
		ex.followSubst(p.Slice.Offset)
		ex.followSubst(p.Slice.Length)
	}
	if p.Repl != nil {
		ex.text(p.Repl.Orig)
		ex.text(p.Repl.With)
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	other := ""
	if p.Exp != nil {
		other = ex.text(p.Exp.Word)
	}
	v := ex.lookup(name)
	if name == "0" && ex.command { // the shell, or a script that starts itself
		v = value{}
	}
	if p.NestedParam != nil {
		var in fields
		ex.parts(&in, []syntax.WordPart{p.NestedParam}, true)
		v.text = in.cur.String()
	}
	if p.Flags != nil && strings.Contains(p.Flags.Value, "e") && (name == "" || !v.set || hasHole(v.text) ||
		p.Index != nil || p.Exp != nil || p.Repl != nil || p.NestedParam != nil || len(ex.scope.lists[name]) > 0) {
		ex.unknown([]string{"${(" + p.Flags.Value + ")" + name + "}"}, whyEvaluated)
	}
	if p.Index != nil {
		ex.element(f, p, quoted)
		return
	}
	switch {
	case p.Length:
		f.add(notEmpty)
		return
	case p.Slice != nil && v.set && ex.slice(f, p, v.text, quoted):
		return
	case p.Slice != nil && (name == "@" || name == "*") && ex.args != nil && ex.argumentsFrom(f, p, quoted):
		return
	case p.GlobSubst == syntax.OptOn && v.set && p.Exp == nil && p.Repl == nil:
		ex.globSubst(f, v.text, quoted)
		return
	case (p.Flags != nil || p.NestedParam != nil) && p.Repl == nil && p.Slice == nil && strings.Contains(v.text, anyBelow):
		ex.expansion(f, ex.firstLines(stream{text: v.text, set: true}), quoted) // the names of a walk, split
		return
	case p.Flags != nil, p.NestedParam != nil, p.Width, p.IsSet, len(p.Modifiers) > 0, p.Slice != nil,
		p.Repl != nil, p.Names != 0:
		ex.expansion(f, hole, quoted)
		return
	case p.Excl:
		v = ex.lookup(v.text)
		if !v.set {
			v.text = hole
		}
	case name == "@" || name == "*" || name == "argv" && !v.set && path.Base(ex.shell) == "zsh":
		if p.Exp == nil {
			ex.arguments(f, quoted)
			return
		}
		v.text, v.set = strings.Join(ex.positionals(), " "), len(ex.args) > 0
	}
	if p.Exp != nil {
		v.text = ex.operate(name, v, p.Exp.Op, other)
	} else if !v.set {
		v.text = hole
	}
	ex.expansion(f, v.text, quoted)
}

// whyEvaluated is the reason for text whose substitutions are run when it is expanded.
const whyEvaluated = "substitutions in its unknown value are run"

// keepsWalk lists operators that keep the name of a file, or cut its end.
var keepsWalk = map[syntax.ParExpOperator]bool{syntax.DefaultUnset: true, syntax.DefaultUnsetOrNull: true, syntax.AssignUnset: true,
	syntax.AssignUnsetOrNull: true, syntax.ErrorUnset: true, syntax.ErrorUnsetOrNull: true, syntax.RemSmallSuffix: true, syntax.RemLargeSuffix: true}

// operate applies an operator of ${name:-word} and similar expansions.
func (ex *expander) operate(name string, v value, op syntax.ParExpOperator, other string) string {
	known := v.set && !hasHole(v.text)
	switch walked := strings.HasSuffix(v.text, anyBelow); {
	case walked && keepsWalk[op]:
		return v.text
	case (op == syntax.AlternateUnset || op == syntax.AlternateUnsetOrNull) && strings.HasSuffix(other, anyBelow):
		return other
	}
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known && v.text != "" {
			return v.text
		}
		ex.guessed = true
		if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
			ex.line.noteText(name, other)
		}
		return other
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if known {
			return v.text
		}
		return notEmpty
	case syntax.UpperAll:
		if known && other == "" {
			return strings.ToUpper(v.text)
		}
	case syntax.LowerAll:
		if known && other == "" {
			return strings.ToLower(v.text)
		}
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix, syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if known && len(v.text) < 4096 && !hasHole(other) {
			if rest, ok := trimPattern(v.text, other, op); ok {
				return rest
			}
		}
	case syntax.OtherParamOps:
		if other == "P" && !known && !strings.HasPrefix(name, "PS") {
			ex.unknown([]string{"${" + name + "@P}"}, whyEvaluated)
		}
		ex.line.judgeQuotedSubst(v.text)
		if other == "Q" && known {
			return v.text
		}
	}
	return hole
}

// element folds ${a[1]}, ${a[@]}.
func (ex *expander) element(f *fields, p *syntax.ParamExp, quoted bool) {
	list, ok := ex.scope.lists[p.Param.Value]
	index, lit := p.Index.(*syntax.Word)
	if !ok || !lit || p.Length || p.Slice != nil || p.Exp != nil || p.Repl != nil || p.Excl {
		ex.expansion(f, hole, quoted)
		return
	}
	at := index.Lit()
	if at == "@" || at == "*" {
		ex.list(f, list, quoted)
		return
	}
	if i, err := strconv.Atoi(at); err == nil && strings.HasSuffix(ex.shell, "zsh") && i > 0 && i <= len(list) {
		ex.expansion(f, list[i-1], quoted)
		return
	} else if err == nil && i >= 0 && i < len(list) {
		ex.expansion(f, list[i], quoted)
		return
	}
	ex.expansion(f, hole, quoted)
}

// list folds the elements of an array.
func (ex *expander) list(f *fields, list []string, quoted bool) {
	for i, s := range list {
		if i > 0 {
			f.end()
		}
		ex.expansion(f, s, quoted)
	}
}

// arguments folds $@ and $*.
func (ex *expander) arguments(f *fields, quoted bool) {
	if ex.args == nil {
		f.add(hole)
		return
	}
	ex.list(f, ex.positionals(), quoted)
}

// giveArguments sets $0, $1 and so on to words, and returns the function that restores what they were.
func (sh *shellState) giveArguments(words []string) (restore func()) {
	args, zeroth := sh.args, sh.zeroth
	sh.args, sh.zeroth = words[min(len(words), 1):], ""
	if len(words) > 0 {
		sh.zeroth = words[0]
	}
	return func() { sh.args, sh.zeroth = args, zeroth }
}

// isMany reports whether a word may be several words: the names of a walk, or a part that is not known.
func isMany(word string) bool {
	return strings.HasSuffix(word, anyBelow) || strings.Contains(word, hole)
}

// positionals returns what $@ is. It includes $0 where that is the first of many words, or a tree that must not be removed:
// the word before is easily forgotten.
func (sh *shellState) positionals() []string {
	if sh.zeroth == "" || !isMany(sh.zeroth) && sh.removalDanger(sh.zeroth) != fatal {
		return sh.args
	}
	return append([]string{sh.zeroth}, sh.args...)
}

// positional returns the parameter of a number. Where the last word may be many, the parameters after it are of the same kind.
func (sh *shellState) positional(n int) value {
	switch last := sh.lastArgument(); {
	case n == 0:
		return value{text: sh.zeroth, set: sh.zeroth != ""}
	case n <= len(sh.args):
		return value{text: sh.args[n-1], set: true}
	case strings.HasSuffix(last, anyBelow) || sh.zeroth != "" && isMany(last):
		return value{text: last, set: true}
	}
	return value{set: true}
}

// lastArgument returns the last positional parameter that is known, or "".
func (sh *shellState) lastArgument() string {
	if len(sh.args) > 0 {
		return sh.args[len(sh.args)-1]
	}
	return sh.zeroth
}

// shiftArguments follows shift. The last word stays if it may be many.
func (sh *shellState) shiftArguments() {
	if len(sh.args) > 1 || len(sh.args) == 1 && !strings.HasSuffix(sh.args[0], anyBelow) {
		sh.args = sh.args[1:]
	}
}

// lookup returns the known value of a parameter.
func (sh *shellState) lookup(name string) value {
	if v := sh.scope.get(name); v.set {
		return v
	}
	switch name {
	case "PPID":
		sh.parent = true
		return value{text: notEmpty, set: true}
	case "HOME":
		return value{text: sh.home, set: true}
	case "PWD":
		return value{text: orHole(sh.cwd), set: true}
	case "LONGTERM_DIR":
		return value{text: ownDir, set: true}
	case "IFS":
		return value{text: " \t\n", set: true}
	case "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "USER", "LOGNAME", "HOSTNAME", "OSTYPE",
		"SHELL", "PATH", "$", "?", "#",
		"!", "BASHPID", "BASH":
		return value{text: notEmpty, set: true}
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && sh.args != nil {
		return sh.positional(n)
	}
	if list := sh.scope.lists[name]; len(list) > 0 {
		return value{text: list[0], set: true}
	}
	return value{}
}

// trimPattern removes what a pattern matches from the end or the beginning of s.
func trimPattern(s, pattern string, op syntax.ParExpOperator) (string, bool) {
	expr, err := regexp.Compile("^(?s:" + globExpr(pattern) + ")$")
	if err != nil || len(pattern) > 200 {
		return "", false
	}
	for n := 0; n <= len(s); n++ {
		size := n
		if op == syntax.RemLargePrefix || op == syntax.RemLargeSuffix {
			size = len(s) - n
		}
		if op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix {
			if expr.MatchString(s[:size]) {
				return s[size:], true
			}
		} else if expr.MatchString(s[len(s)-size:]) {
			return s[:len(s)-size], true
		}
	}
	return s, true
}

// globExpr writes a shell pattern as a regular expression.
func globExpr(pattern string) string {
	var b strings.Builder
	skip := 0 // up to where brackets were read
	for i, r := range pattern {
		if i < skip {
			continue
		}
		switch string(r) {
		case globStar, "*":
			b.WriteString(".*")
		case globOne, "?":
			b.WriteString(".")
		case "[":
			if end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']'); end >= 0 {
				skip = i + 2 + end + 1
				class := strings.ReplaceAll(pattern[i+1:skip-1], `\`, `\\`)
				if strings.HasPrefix(class, "!") {
					class = "^" + class[1:]
				}
				b.WriteString("[" + class + "]")
				continue
			}
			b.WriteString(`\[`)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}

// slice folds ${x:1:2} if all of it is literal. It reports false otherwise.
func (ex *expander) slice(f *fields, p *syntax.ParamExp, text string, quoted bool) bool {
	if hasHole(text) || p.Exp != nil || p.Repl != nil || p.Index != nil || p.Excl {
		return false
	}
	runes := []rune(text)
	from, ok1 := literalInt(p.Slice.Offset, 0)
	size, ok2 := literalInt(p.Slice.Length, len(runes))
	if !ok1 || !ok2 || from < 0 || size < 0 {
		return false
	}
	from = min(from, len(runes))
	ex.expansion(f, string(runes[from:min(len(runes), from+size)]), quoted)
	return true
}

// argumentsFrom folds ${@:2} and ${@:1:2}; it reports false if the numbers are not literal.
func (ex *expander) argumentsFrom(f *fields, p *syntax.ParamExp, quoted bool) bool {
	from, ok1 := literalInt(p.Slice.Offset, 0)
	list := ex.positionals()
	if from == 0 && ex.zeroth != "" && len(list) == len(ex.args) {
		list = append([]string{ex.zeroth}, list...)
	}
	size, ok2 := literalInt(p.Slice.Length, len(list))
	if !ok1 || !ok2 || from < 0 || size < 0 || p.Exp != nil || p.Repl != nil {
		return false
	}
	from = min(max(from, 1)-1, len(list)) // ${@:0} starts with the shell's name
	if last := ex.lastArgument(); from == len(list) && strings.HasSuffix(last, anyBelow) {
		list, from = []string{last}, 0
	}
	ex.list(f, list[from:min(len(list), from+size)], quoted)
	return true
}

// literalInt returns a literal number, or otherwise if missing.
func literalInt(x syntax.ArithmExpr, otherwise int) (int, bool) {
	if x == nil {
		return otherwise, true
	}
	word, ok := x.(*syntax.Word)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(word.Lit())
	return n, err == nil
}
