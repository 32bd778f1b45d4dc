package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/bound"
)

// zshModifier matches one of zsh's modifiers after a variable without braces, $PWD:h.
var zshModifier = pattern.Lazy(`^:(?:[hrteaAPcluqQx][0-9]*|g?s(.)(?:[^\\]|\\.)*?)`)

// modifiers splits text after a variable into zsh's modifiers and the rest.
func (sh *shellState) modifiers(before syntax.WordPart, text string) (mods []string, rest string) {
	p, ok := before.(*syntax.ParamExp)
	if !ok || !p.Short || path.Base(sh.shell) != "zsh" {
		return nil, text
	}
	for strings.HasPrefix(text, ":") {
		m := zshModifier.FindString(text)
		if m == "" {
			break
		}
		if strings.HasPrefix(strings.TrimPrefix(m[1:], "g"), "s") {
			return append(mods, ":s"), "" // how far it goes does not matter: the result is not known
		}
		mods, text = append(mods, m), text[len(m):]
	}
	return mods, text
}

// expandModifiers expands a variable with modifiers; false without any.
func (ex *expander) expandModifiers(f *fields, p *syntax.ParamExp, next syntax.WordPart, quoted bool) bool {
	l, ok := next.(*syntax.Lit)
	if !ok {
		return false
	}
	mods, _ := ex.modifiers(p, l.Value)
	if len(mods) == 0 {
		return false
	}
	v := ex.lookup(p.Param.Value)
	text := v.text
	for _, m := range mods {
		if !v.set || hasHole(text) || m != ":h" {
			text = hole
			break
		}
		text = path.Dir(text)
	}
	ex.expansion(f, text, quoted)
	return true
}

// equalsName matches a word that zsh replaces by the path of the command of that name.
var equalsName = pattern.Lazy(`^=[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

// plainQualifier matches one of zsh's glob qualifiers that runs nothing: a size or an age with its sign, an order, an index, or a letter.
var plainQualifier = pattern.Lazy(`^(?:[amcLl][A-Za-z]?[-+]?[0-9]+|[oO][^e+]|\[[-0-9,]*\]|[^eugfP+:])`)

// qualifierCode returns the code in zsh's glob qualifiers: behind e, or a command behind +. It reports false without any.
func qualifierCode(marks string) (code string, runs bool) {
	for marks != "" && marks[0] != ':' { // modifiers follow
		if m := plainQualifier.FindString(marks); m != "" {
			marks = marks[len(m):]
			continue
		}
		switch marks[0] {
		case 'e', '+', 'o', 'O':
			return strings.TrimLeft(marks, "oOe+"), true
		}
		rest := marks[1:] // of u, g, f and P: a number, or a text between delimiters
		if end := len(rest) - len(strings.TrimLeft(rest, "0123456789")); end > 0 || rest == "" {
			marks = rest[end:]
			continue
		}
		end := strings.IndexByte(rest[1:], closingOf(rest[0]))
		if end < 0 {
			return "", false
		}
		marks = rest[end+2:]
	}
	return "", false
}

// closingOf returns the delimiter that ends a text after an opening one.
func closingOf(open byte) byte {
	if at := strings.IndexByte("([{<", open); at >= 0 {
		return ")]}>"[at]
	}
	return open
}

// declareText declares a function whose body is a text: functions[name]=text.
func (w *analyzer) declareText(name, text string) {
	body := "{ " + text + "\n}"
	file, err := syntax.NewParser(syntax.Variant(w.variant())).Parse(strings.NewReader(body), "")
	if err != nil || len(file.Stmts) != 1 || hasHole(text) || len(body) > bound.MaxShort || bound.IsTooLarge(body) {
		return
	}
	w.funcs[name] = &function{body: file.Stmts[0], text: body, unsure: true, before: w.funcs[name]}
}

// globSubst expands ${~x}, whose value is a file pattern and may start with a tilde.
func (ex *expander) globSubst(f *fields, text string, quoted bool) {
	if quoted || hasHole(text) {
		ex.expansion(f, text, quoted)
		return
	}
	f.open = true
	ex.lit(f, text, false, f.cur.Len() == 0)
}

// globbing is the key under which zsh's option globsubst is stored among the variables: no variable has that name.
const globbing = "set -o globsubst"

// zshOptions applies setopt and unsetopt: with globsubst, every expansion is a file pattern.
func (sh *shellState) zshOptions(names []string, on bool) {
	if path.Base(sh.shell) != "zsh" {
		return
	}
	for _, name := range names {
		name = strings.ReplaceAll(strings.ToLower(name), "_", "")
		bare, no := strings.CutPrefix(name, "no")
		switch {
		case hasHole(name) || hasGlob(name):
			sh.scope.put(globbing, hole)
		case bare == "globsubst" && on != no:
			sh.scope.put(globbing, "on")
		case bare == "globsubst":
			sh.scope.put(globbing, "")
		}
	}
}

// emulates follows zsh's emulate, which sets the options that another shell has.
func (sh *shellState) emulates(args []string) {
	for _, a := range args {
		switch a {
		case "sh", "ksh", "csh":
			sh.zshOptions([]string{"globsubst"}, true)
		case "zsh":
			sh.zshOptions([]string{"globsubst"}, false)
		}
	}
}

// isGlobSubstOn reports whether an expansion may be a file pattern, in zsh.
func (sh *shellState) isGlobSubstOn() bool {
	v := sh.scope.get(globbing)
	return v.set && v.text != ""
}

// zshTable judges assignments to the tables of zsh that hold functions, aliases and where programs are.
func (w *analyzer) zshTable(name, key, text string) {
	if name == "BASH_CMDS" || name == "BASH_ALIASES" { // bash's tables, wherever they stand
		w.aliases[key] = strings.Fields(text)
	}
	if path.Base(w.shell) != "zsh" {
		return
	}
	switch name {
	case "functions", "dis_functions":
		w.shellText(text, "the function "+key)
		w.declareText(key, text)
	case "aliases", "galiases", "saliases", "dis_aliases":
		w.shellText(text, "the alias "+key)
		w.aliases[key] = strings.Fields(text)
	case "options":
		w.zshOptions([]string{key}, text != "off")
	case "mapfile": // zsh/mapfile: files as an array
		w.writeTo(key)
	case "commands":
		w.aliases[key] = []string{text}
	}
}

// zshPath follows an assignment to zsh's path, which is PATH as an array: text is what is assigned, with colons between.
func (w *analyzer) zshPath(a *syntax.Assign, text string, keep bool) {
	if a.Name.Value != "path" || path.Base(w.shell) != "zsh" {
		return
	}
	switch old := w.scope.get("PATH"); {
	case a.Index != nil: // before or in place of any of them
		text += ":" + hole
	case !a.Append:
	case old.set:
		text = old.text + ":" + text
	default:
		text = notEmpty + ":" + text
	}
	w.setVariable("PATH", text, keep)
}

// The csh loop that zsh supports, in a form that the parser knows.
var (
	foreachHead = pattern.Lazy(`(^|[;&|({\n])([ \t]*)foreach[ \t]+(\w+)[ \t]*\(([^()]*)\)(?:[ \t]*[;\n])?`)
	foreachEnd  = pattern.Lazy(`(^|[;&\n])([ \t]*)end([ \t]*(?:$|[;&|)}\n]))`)
)

// zargs judges the command that zsh's zargs gives its operands to: zargs -- a b -- rm.
func (w *analyzer) zargs(args []string) {
	for end := len(args) - 1; end >= 0; end-- {
		if args[end] != "--" || end+1 >= len(args) {
			continue
		}
		operands := args[:end]
		if i := slices.Index(operands, "--"); i >= 0 {
			operands = operands[i+1:]
		}
		w.run(slices.Concat(args[end+1:], operands), stream{})
		return
	}
}

// globModifier matches modifiers in brackets after a pattern: /x(:h) is its directory.
var globModifier = pattern.Lazy(`[^\s;&|({<>]\([^()\s;&|]*:[a-zA-Z][^()\s;&|]*\)`)

// translateLoops rewrites csh loops in a form that the parser knows.
func (w *analyzer) translateLoops(text string) string {
	if path.Base(w.shell) == "zsh" && globModifier.MatchString(text) {
		w.unknown([]string{clip(text)}, "zsh changes what a pattern finds by a modifier, and what that comes to is not known")
	}
	if !strings.Contains(text, "foreach") || !foreachHead.MatchString(text) {
		return text
	}
	written := foreachHead.ReplaceAllString(text, "$1$2 for $3 in $4; do ")
	return foreachEnd.ReplaceAllString(foreachEnd.ReplaceAllString(written, "$1$2 done$3"), "$1$2 done$3")
}

// judgeComments judges a line a second time with its comments as commands: a zsh at its prompt runs them while
// interactive_comments is off, its default. Only a verdict of deny, of hard or for text that cannot be parsed counts: other
// presets do not know the words of most comments as commands.
func (w *analyzer) judgeComments(l Line) {
	if l.Shell != "zsh" || !strings.Contains(l.Text, "#") || len(l.Text) > bound.MaxShort {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangZsh), syntax.KeepComments(true)).Parse(strings.NewReader(l.Text), "")
	if err != nil {
		return
	}
	var b strings.Builder
	from := uint(0)
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && c.Hash.Offset() >= from {
			b.WriteString(l.Text[from:c.Hash.Offset()] + ": ")
			from = c.Hash.Offset() + 1
		}
		return true
	})
	if from == 0 {
		return
	}
	l.Text = b.String() + l.Text[from:]
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(l.Text), ""); err != nil {
		return // zsh runs nothing of it
	}
	run := newAnalyzer(w.engine, l)
	run.restoreState(&l)
	run.line(l)
	if c := run.worst; c != nil && (c.Verdict == Deny || c.Rule == "unknown" || strings.HasPrefix(c.Rule, "hard:")) {
		w.record(*c)
	}
}
