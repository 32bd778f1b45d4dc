package policy

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fields collects the words that one word of the line expands to.
type fields struct {
	out  []string
	cur  strings.Builder
	open bool // a word is in progress
}

// add adds text to the current word.
func (f *fields) add(s string) {
	f.cur.WriteString(s)
	f.open = true
}

// end ends the current word.
func (f *fields) end() {
	if f.open {
		f.out = append(f.out, f.cur.String())
		f.cur.Reset()
		f.open = false
	}
}

// addSplit adds an unquoted expansion: blanks in it separate words.
func (f *fields) addSplit(s, ifs string) {
	if s == "" {
		return
	}
	if ifs == "" || !strings.ContainsAny(s, ifs) {
		f.add(s)
		return
	}
	if strings.ContainsRune(ifs, rune(s[0])) {
		f.end()
	}
	parts := split(s, ifs)
	for i, p := range parts {
		if i > 0 {
			f.end()
		}
		f.add(p)
	}
	if len(parts) > 0 && strings.ContainsRune(ifs, rune(s[len(s)-1])) {
		f.end()
	}
}

// expander expands the words of a line to the words that programs get.
type expander struct {
	line wordHost
	*shellState
	*verdicts

	cache   map[*syntax.CmdSubst]string // what substitutions print, while a word with several alternatives is expanded
	spent   int                         // bytes of expanded words so far
	guessed bool                        // a default was used for an unknown variable
	whole   bool                        // unquoted variables expand to one word, as in zsh by default
	split   bool                        // a variable was split that zsh expands to one word by default
	command bool                        // the word is the name of a command
}

// wordHost follows substitutions and assignments within words.
type wordHost interface {
	subst(c *syntax.CmdSubst) string
	process(p *syntax.ProcSubst) string
	noteText(name, text string)
	noteVariable(name string)
	judgeQuotedSubst(text string)
	judgePossibleSource(text string)
}

// maxBraces bounds the alternatives of a brace expansion.
const maxBraces = 64

// words expands words to those that a program gets.
func (ex *expander) words(list []*syntax.Word) []string {
	var out []string
	for _, word := range list {
		out = append(out, ex.word(word)...)
	}
	return out
}

// wholeWords folds words as words does, but expands each unquoted variable to one word.
func (ex *expander) wholeWords(list []*syntax.Word) []string {
	ex.whole = true
	defer func() { ex.whole = false }()
	return ex.words(list)
}

// word expands one word; braces make several of it, and empty unquoted expansions none.
func (ex *expander) word(word *syntax.Word) []string {
	if word == nil {
		return nil
	}
	own := *word // SplitBraces writes to it, and bodies of functions are followed more than once, by several at a time
	word = &own
	var f fields
	if strings.HasSuffix(ex.shell, "zsh") && ex.hasQualifier(word) {
		defer func() { ex.stripQualifiers(f.out) }()
	}
	if !syntax.SplitBraces(word) {
		ex.parts(&f, word.Parts, false)
		f.end()
		return f.out
	}
	if ex.cache == nil {
		ex.cache = map[*syntax.CmdSubst]string{}
		defer func() { ex.cache = nil }()
	}
	if len(word.Parts) > maxBraces {
		ex.effects(word.Parts)
		return []string{hole}
	}
	alts := [][]syntax.WordPart{nil}
	for _, p := range word.Parts {
		if b, ok := p.(*syntax.BraceExp); ok {
			alts = ex.product(alts, ex.braces(b, 0))
		} else {
			alts = ex.product(alts, [][]syntax.WordPart{{p}})
		}
	}
	for _, parts := range alts {
		ex.parts(&f, parts, false)
		f.end()
	}
	return f.out
}

// effects follows the substitutions of a word with too many alternatives to expand.
func (ex *expander) effects(parts []syntax.WordPart) {
	for _, p := range parts {
		if b, ok := p.(*syntax.BraceExp); ok {
			for _, e := range b.Elems {
				ex.effects(e.Parts)
			}
			continue
		}
		var f fields
		ex.parts(&f, []syntax.WordPart{p}, true)
	}
}

// product joins each of alts with each of more; beyond the limit, more becomes unknown.
func (ex *expander) product(alts, more [][]syntax.WordPart) [][]syntax.WordPart {
	if len(alts)*len(more) > maxBraces {
		for _, parts := range more {
			ex.effects(parts)
		}
		more = [][]syntax.WordPart{{&syntax.Lit{Value: hole}}}
	}
	var out [][]syntax.WordPart
	for _, a := range alts {
		for _, m := range more {
			out = append(out, append(a[:len(a):len(a)], m...))
		}
	}
	return out
}

// braces returns the alternatives of a brace expansion.
func (ex *expander) braces(b *syntax.BraceExp, depth int) [][]syntax.WordPart {
	if b.Sequence {
		return sequence(b)
	}
	var out [][]syntax.WordPart
	if len(b.Elems) > maxBraces {
		ex.effects([]syntax.WordPart{b})
		return [][]syntax.WordPart{{&syntax.Lit{Value: hole}}}
	}
	for _, e := range b.Elems {
		alts := [][]syntax.WordPart{nil}
		for _, p := range e.Parts {
			if in, ok := p.(*syntax.BraceExp); ok && depth < 8 {
				alts = ex.product(alts, ex.braces(in, depth+1))
			} else if ok {
				ex.effects([]syntax.WordPart{in})
				alts = ex.product(alts, [][]syntax.WordPart{{&syntax.Lit{Value: hole}}})
			} else {
				alts = ex.product(alts, [][]syntax.WordPart{{p}})
			}
		}
		out = append(out, alts...)
		if len(out) > maxBraces {
			ex.effects([]syntax.WordPart{b})
			return [][]syntax.WordPart{{&syntax.Lit{Value: hole}}}
		}
	}
	return out
}

// sequence returns the words of {a..c} and {1..3}.
func sequence(b *syntax.BraceExp) [][]syntax.WordPart {
	var out [][]syntax.WordPart
	add := func(s string) { out = append(out, []syntax.WordPart{&syntax.Lit{Value: s}}) }
	if len(b.Elems) == 2 {
		from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
		x, err1 := strconv.Atoi(from)
		y, err2 := strconv.Atoi(to)
		switch {
		case err1 == nil && err2 == nil && x <= y && y-x < maxBraces:
			for ; x <= y; x++ {
				add(strconv.Itoa(x))
			}
		case len(from) == 1 && len(to) == 1 && from[0] <= to[0] && to[0]-from[0] < maxBraces:
			for c := from[0]; c <= to[0]; c++ {
				add(string(rune(c)))
			}
		}
	}
	if out == nil {
		add(notEmpty)
	}
	return out
}

// text folds a word into one string, as the right side of an assignment or a here-document.
func (ex *expander) text(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	var f fields
	ex.parts(&f, word.Parts, true)
	return f.cur.String()
}

// parts folds the parts of one word. In quotes nothing is split, and globs are letters.
func (ex *expander) parts(f *fields, parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			f.open = f.open || p.Value != ""
			text := p.Value
			if i > 0 {
				_, text = ex.modifiers(parts[i-1], text)
			}
			ex.lit(f, text, quoted, i == 0 && f.cur.Len() == 0)
		case *syntax.SglQuoted:
			v := p.Value
			if p.Dollar {
				v = ansiC(v)
			}
			f.add(v)
		case *syntax.DblQuoted:
			f.open = true
			for k, in := range p.Parts {
				if l, ok := in.(*syntax.Lit); ok {
					text := l.Value
					if k > 0 {
						_, text = ex.modifiers(p.Parts[k-1], text)
					}
					f.add(unescapeDouble(text))
				} else if e, ok := in.(*syntax.ParamExp); !ok || k+1 == len(p.Parts) || !ex.expandModifiers(f, e, p.Parts[k+1], true) {
					ex.parts(f, []syntax.WordPart{in}, true)
				}
			}
		case *syntax.ParamExp:
			if i+1 < len(parts) && ex.expandModifiers(f, p, parts[i+1], quoted) {
				continue
			}
			ex.param(f, p, quoted)
		case *syntax.CmdSubst: // zsh splits these as well
			split, whole := ex.split, ex.whole
			ex.whole = false
			ex.expansion(f, ex.line.subst(p), quoted)
			ex.split, ex.whole = split, whole
		case *syntax.ArithmExp:
			ex.followSubst(p)
			f.add(notEmpty)
		case *syntax.ProcSubst:
			f.add(ex.line.process(p))
		case *syntax.ExtGlob:
			f.add(globStar)
		default:
			f.add(hole)
		}
	}
}

// expansion adds the result of an expansion.
func (ex *expander) expansion(f *fields, s string, quoted bool) {
	ex.spent += len(s)
	if ex.spent > maxSpent {
		s = hole
	}
	if quoted {
		f.open = true
		f.add(strings.ReplaceAll(s, hole, someText))
		return
	}
	if ex.isGlobSubstOn() {
		var names fields
		ex.lit(&names, s, false, f.cur.Len() == 0)
		s = names.cur.String()
	}
	ifs := " \t\n"
	if v := ex.scope.get("IFS"); v.set {
		if hasHole(v.text) {
			s = hole
		}
		ifs = v.text
	}
	if ex.whole {
		f.add(s)
		return
	}
	ex.split = ex.split || path.Base(ex.shell) == "zsh" && ifs != "" && strings.ContainsAny(s, ifs)
	f.addSplit(s, ifs)
}

// lit adds literal text with backslashes, globs and a tilde.
func (ex *expander) lit(f *fields, s string, quoted, first bool) {
	if first && strings.HasPrefix(s, "~") {
		name, rest, slash := strings.Cut(s[1:], "/")
		if home, ok := ex.tilde(name); ok {
			f.add(home)
			if s = rest; slash {
				s = "/" + rest
			}
		}
	}
	if first && !ex.command && path.Base(ex.shell) == "zsh" && equalsName.MatchString(s) {
		f.add("/usr/bin/")
		s = s[1:]
	}
	closed := strings.IndexByte(s, ']')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				f.cur.WriteByte(s[i])
			}
		case quoted:
			f.cur.WriteByte(c)
		case c == '^' && strings.HasSuffix(ex.shell, "zsh") && i+1 < len(s) && (i == 0 || s[i-1] == '/'),
			c == '~' && i > 0 && strings.HasSuffix(ex.shell, "zsh") && strings.HasSuffix(f.cur.String(), globStar):
			// Everything except what follows: nearly everything.
			if c == '^' {
				f.cur.WriteString(globStar)
			}
			for i+1 < len(s) && s[i+1] != '/' {
				i++
			}
		case c == '*':
			f.cur.WriteString(globStar)
		case c == '?':
			f.cur.WriteString(globOne)
		case c == '[' && closed > i+1:
			end := strings.IndexByte(s[i+2:], ']')
			if end < 0 {
				f.cur.WriteByte(c)
				continue
			}
			f.cur.WriteString(globOne)
			i += end + 2
		default:
			f.cur.WriteByte(c)
		}
	}
}

// tilde returns the home directory of ~name.
func (sh *shellState) tilde(name string) (string, bool) {
	switch {
	case name == "":
		if v := sh.scope.get("HOME"); v.set {
			return v.text, true
		}
		return sh.home, true
	case name == "root":
		return "/root", true
	case name == "+":
		return orHole(sh.cwd), true
	case name == "-":
		return hole, true
	case strings.ContainsAny(name, `\*?[`):
		return "", false
	}
	return "/home/" + name, true
}

// orHole returns s, or hole if it is empty.
func orHole(s string) string {
	if s == "" {
		return notEmpty
	}
	return s
}

// unescapeDouble removes the backslashes that count in double quotes.
func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\$`, `$`, `\"`, `"`, "\\`", "`", "\\\n", "").Replace(s)
}

// hasQualifier reports whether a word may end in a glob qualifier: in a parenthesis that is not quoted.
func (ex *expander) hasQualifier(word *syntax.Word) bool {
	if len(word.Parts) == 0 {
		return false
	}
	switch p := word.Parts[len(word.Parts)-1].(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return false
	case *syntax.Lit:
		return !strings.HasSuffix(p.Value, `\)`)
	case *syntax.ParamExp:
		return ex.isGlobSubstOn() || p.GlobSubst == syntax.OptOn
	case *syntax.CmdSubst:
		return ex.isGlobSubstOn()
	}
	return true
}

// stripQualifiers takes zsh's glob qualifiers off words, as in *(N) and /*(D): what they add is which files, but
// for e and +, which run code.
func (ex *expander) stripQualifiers(words []string) {
	for i, word := range words {
		open := strings.LastIndexByte(word, '(')
		if open < 0 || !strings.HasSuffix(word, ")") || open == 0 {
			continue
		}
		marks := word[open+1 : len(word)-1]
		if code, runs := qualifierCode(marks); runs {
			ex.unknown([]string{word}, "a glob qualifier runs code")
			if body := strings.Trim(code, ":'\"[]{}|,/;%@#"); body != "" {
				ex.line.judgePossibleSource(body)
			}
		}
		words[i] = word[:open]
	}
}

// ansiC decodes the body of $'…', and what printf and echo -e make of backslashes.
func ansiC(s string) string { return unescape(s, false) }

// unescape decodes backslashes. literally keeps each character as it is; otherwise special ones become marks.
func unescape(s string, literally bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits := func(base, most, from int) {
			end := from
			for end < len(s) && end-from < most && isDigit(s[end], base) {
				end++
			}
			n, _ := strconv.ParseUint("0"+s[from:end], base, 32)
			switch {
			case n < 6 && literally:
				b.WriteByte(byte(n))
			case n == 0:
			case n < 6:
				b.WriteString(hole)
			case base == 16 && most > 2:
				b.WriteRune(rune(n))
			default:
				b.WriteByte(byte(n))
			}
			i = end - 1
		}
		switch c := s[i]; {
		case c == 'x':
			digits(16, 2, i+1)
		case c == 'u':
			digits(16, 4, i+1)
		case c == 'U':
			digits(16, 8, i+1)
		case c >= '0' && c <= '7':
			most := 3
			if c == '0' {
				most = 4
			}
			digits(8, most, i)
		case strings.IndexByte("abfnrtvEe", c) >= 0:
			b.WriteByte("\a\b\f\n\r\t\v\x1b\x1b"[strings.IndexByte("abfnrtvEe", c)])
		case c == 'c' && i+1 < len(s) && literally:
			i++
			b.WriteByte(control(s[i]))
			if s[i] == '\\' && strings.HasPrefix(s[i+1:], `\`) {
				i++
			}
		case c == 'c' && i+1 < len(s):
			i++
			b.WriteString(notEmpty)
		case strings.IndexByte(`\'"?`, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// control returns the control character of key c.
func control(c byte) byte {
	if c == '?' {
		return 0x7f
	}
	return c & 0x1f
}

// isDigit reports whether c is a digit of a base.
func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
