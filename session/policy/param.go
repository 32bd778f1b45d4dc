package policy

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param folds a parameter expansion.
func (w *walk) param(f *fields, p *syntax.ParamExp, quoted bool) {
	w.inside(p.Index)
	if p.Slice != nil {
		w.inside(p.Slice.Offset)
		w.inside(p.Slice.Length)
	}
	if p.Repl != nil {
		w.text(p.Repl.Orig)
		w.text(p.Repl.With)
	}
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	other := ""
	if p.Exp != nil {
		other = w.text(p.Exp.Word)
	}
	if p.NestedParam != nil {
		var in fields
		w.parts(&in, []syntax.WordPart{p.NestedParam}, true)
	}
	v := w.lookup(name)
	if p.Flags != nil && strings.Contains(p.Flags.Value, "e") && (name == "" || !v.set || hasHole(v.text) ||
		p.Index != nil || p.Exp != nil || p.Repl != nil || p.NestedParam != nil || len(w.scope.lists[name]) > 0) {
		w.unknown([]string{"${(" + p.Flags.Value + ")" + name + "}"}, whyEvaluated)
	}
	if p.Index != nil {
		w.element(f, p, quoted)
		return
	}
	switch {
	case p.Length:
		f.add(notEmpty)
		return
	case p.Slice != nil && v.set && w.slice(f, p, v.text, quoted):
		return
	case p.Slice != nil && (name == "@" || name == "*") && w.args != nil && w.argumentsFrom(f, p, quoted):
		return
	case p.GlobSubst == syntax.OptOn && v.set && p.Exp == nil && p.Repl == nil:
		w.globSubst(f, v.text, quoted)
		return
	case p.Flags != nil, p.NestedParam != nil, p.Width, p.IsSet, len(p.Modifiers) > 0, p.Slice != nil,
		p.Repl != nil, p.Names != 0:
		w.expansion(f, hole, quoted)
		return
	case p.Excl:
		v = w.lookup(v.text)
		if !v.set {
			v.text = hole
		}
	case name == "@" || name == "*":
		w.arguments(f, quoted)
		return
	}
	if p.Exp != nil {
		v.text = w.operate(name, v, p.Exp.Op, other)
	} else if !v.set {
		v.text = hole
	}
	w.expansion(f, v.text, quoted)
}

// whyEvaluated is why text is asked about that is looked through for substitutions when it is expanded.
const whyEvaluated = "the substitutions in it are run, and what it holds is not known"

// operate applies an operator of ${name:-word} and its kind.
func (w *walk) operate(name string, v value, op syntax.ParExpOperator, other string) string {
	known := v.set && !hasHole(v.text)
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if known && v.text != "" {
			return v.text
		}
		w.guessed = true
		if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
			w.given(name, other)
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
			if rest, ok := trimmed(v.text, other, op); ok {
				return rest
			}
		}
	case syntax.OtherParamOps:
		if other == "P" && !known && !strings.HasPrefix(name, "PS") {
			w.unknown([]string{"${" + name + "@P}"}, whyEvaluated)
		}
		w.hidden(v.text)
		if other == "Q" && known {
			return v.text
		}
	}
	return hole
}

// element folds ${a[1]}, ${a[@]}.
func (w *walk) element(f *fields, p *syntax.ParamExp, quoted bool) {
	list, ok := w.scope.lists[p.Param.Value]
	index, lit := p.Index.(*syntax.Word)
	if !ok || !lit || p.Length || p.Slice != nil || p.Exp != nil || p.Repl != nil || p.Excl {
		w.expansion(f, hole, quoted)
		return
	}
	at := index.Lit()
	if at == "@" || at == "*" {
		w.list(f, list, quoted)
		return
	}
	if i, err := strconv.Atoi(at); err == nil && strings.HasSuffix(w.shell, "zsh") && i > 0 && i <= len(list) {
		w.expansion(f, list[i-1], quoted)
		return
	} else if err == nil && i >= 0 && i < len(list) {
		w.expansion(f, list[i], quoted)
		return
	}
	w.expansion(f, hole, quoted)
}

func (w *walk) list(f *fields, list []string, quoted bool) {
	for i, s := range list {
		if i > 0 {
			f.end()
		}
		w.expansion(f, s, quoted)
	}
}

// arguments folds $@ and $*.
func (w *walk) arguments(f *fields, quoted bool) {
	if w.args == nil {
		f.add(hole)
		return
	}
	w.list(f, w.args, quoted)
}

// lookup returns what is known of a parameter.
func (w *walk) lookup(name string) value {
	if v := w.scope.get(name); v.set {
		return v
	}
	switch name {
	case "PPID":
		w.parent = true
		return value{text: notEmpty, set: true}
	case "HOME":
		return value{text: w.home, set: true}
	case "PWD":
		return value{text: orHole(w.cwd), set: true}
	case "LONGTERM_DIR":
		return value{text: ownDir, set: true}
	case "IFS":
		return value{text: " \t\n", set: true}
	case "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "USER", "LOGNAME", "HOSTNAME", "OSTYPE",
		"SHELL", "PATH", "$", "?", "#",
		"!", "BASHPID", "BASH":
		return value{text: notEmpty, set: true}
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 && w.args != nil {
		if n <= len(w.args) {
			return value{text: w.args[n-1], set: true}
		}
		return value{set: true}
	}
	if list := w.scope.lists[name]; len(list) > 0 {
		return value{text: list[0], set: true}
	}
	return value{}
}

// trimmed removes what a pattern matches from the end or the beginning of s.
func trimmed(s, pattern string, op syntax.ParExpOperator) (string, bool) {
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

// slice folds ${x:1:2} where all of it is written out. It reports false where it is not.
func (w *walk) slice(f *fields, p *syntax.ParamExp, text string, quoted bool) bool {
	if hasHole(text) || p.Exp != nil || p.Repl != nil || p.Index != nil || p.Excl {
		return false
	}
	runes := []rune(text)
	from, ok1 := written(p.Slice.Offset, 0)
	size, ok2 := written(p.Slice.Length, len(runes))
	if !ok1 || !ok2 || from < 0 || size < 0 {
		return false
	}
	from = min(from, len(runes))
	w.expansion(f, string(runes[from:min(len(runes), from+size)]), quoted)
	return true
}

// argumentsFrom folds ${@:2} and ${@:1:2}; false where the numbers are not written out.
func (w *walk) argumentsFrom(f *fields, p *syntax.ParamExp, quoted bool) bool {
	from, ok1 := written(p.Slice.Offset, 0)
	size, ok2 := written(p.Slice.Length, len(w.args))
	if !ok1 || !ok2 || from < 0 || size < 0 || p.Exp != nil || p.Repl != nil {
		return false
	}
	from = min(max(from, 1)-1, len(w.args)) // ${@:0} begins with the shell's name
	w.list(f, w.args[from:min(len(w.args), from+size)], quoted)
	return true
}

// written is a number as it is written out; otherwise where there is none.
func written(x syntax.ArithmExpr, otherwise int) (int, bool) {
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
