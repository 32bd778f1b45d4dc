package policy

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/bound"
)

// analyzeFish analyzes a fish line. It translates blocks, substitutions, quotes and set to bash, since both shells run the
// same commands. Untranslatable parts need approval.
func (w *analyzer) analyzeFish(text string) stream {
	if bound.IsTooLarge(text) {
		w.unknown([]string{clip(text)}, "too long or nested too deeply to judge")
		return stream{text: hole, set: true}
	}
	outside := w.shell
	w.shell = ""
	defer func() { w.shell = outside }()
	more := maxCopied
	f := fishReader{in: text, budget: &more}
	f.list()
	if f.odd || len(f.open) > 0 {
		w.isIncomplete = w.isIncomplete || w.isWholeLine && w.nested == 0 && len(f.open) > 0
		w.unknown([]string{clip(text)}, "it cannot be read as fish")
	}
	return w.source(f.out.String()) // which also requires approval for text that is not bash
}

// fishReader translates fish to bash.
type fishReader struct {
	in     string
	at     int // position in in
	out    strings.Builder
	open   []string // words that end the open blocks
	then   string   // word after the head of a block: then, do
	odd    bool     // a part could not be translated
	budget *int     // bytes of substitutions that may still be copied: each level of nesting copies them
}

// maxCopied bounds what a fishReader copies.
const maxCopied = 4 << 20

// fishEnds are the characters that end a word.
const fishEnds = " \t\n;&|<>)"

// list writes statements up to the end, or up to the bracket that ends a substitution.
func (f *fishReader) list() {
	begin := true // a command starts here
	for f.at < len(f.in) {
		switch c := f.in[f.at]; {
		case c == ')':
			return
		case c == '#' && (f.at == 0 || strings.IndexByte(fishEnds, f.in[f.at-1]) >= 0):
			for f.at < len(f.in) && f.in[f.at] != '\n' {
				f.at++
			}
		case c == ' ' || c == '\t':
			f.out.WriteByte(c)
			f.at++
		case c == '\n' || c == ';':
			f.out.WriteByte(c)
			f.at++
			if f.then != "" {
				f.out.WriteString(f.then + " :;")
				f.then = ""
			}
			begin = true
		case c == '&' || c == '|':
			f.out.WriteByte(c)
			f.at++
			if f.at < len(f.in) && (f.in[f.at] == c || c == '&' && f.in[f.at] == '>') {
				f.out.WriteByte(f.in[f.at])
				f.at++
			}
			begin = true
		case c == '<' || c == '>':
			f.out.WriteByte(c)
			if f.at++; f.at < len(f.in) && f.in[f.at] == '?' {
				f.at++
			}
		case c == '^' && !begin && f.at+1 < len(f.in) && strings.IndexByte(" \t&^", f.in[f.at+1]) >= 0:
			f.out.WriteString(" 2>")
			f.at++
		case begin:
			begin = f.command()
		default:
			f.out.WriteString(f.word())
		}
	}
}

// command copies the first word of a command to the output. It reports whether another command starts after it.
func (f *fishReader) command() bool {
	start := f.at
	word := f.word()
	push := func(end string) { f.open = append(f.open, end) }
	switch f.in[start:f.at] {
	case "begin":
		f.out.WriteString("{ :;")
		push("}")
		if rest := strings.TrimLeft(f.in[f.at:], " \t"); rest != "" && (rest[0] == ';' || rest[0] == '\n') {
			f.at = len(f.in) - len(rest) + 1
		}
		return true
	case "if":
		f.out.WriteString("if ")
		push("fi")
		f.then = " then"
		return true
	case "while":
		f.out.WriteString("while ")
		push("done")
		f.then = " do"
		return true
	case "for":
		f.out.WriteString("for")
		push("done")
		f.then = " do"
	case "switch":
		f.out.WriteString("{ : ")
		push("}")
	case "case":
		f.out.WriteString(": ")
	case "else":
		rest := strings.TrimLeft(f.in[f.at:], " \t")
		if after, ok := strings.CutPrefix(rest, "if "); ok {
			f.at = len(f.in) - len(after)
			f.out.WriteString("elif ")
			f.then = " then"
			return true
		}
		f.out.WriteString("else :")
	case "end":
		if len(f.open) == 0 {
			f.odd = true
			return false
		}
		f.out.WriteString(f.open[len(f.open)-1])
		f.open = f.open[:len(f.open)-1]
	case "function":
		words := f.words()
		if len(words) == 0 {
			f.odd = true
			return false
		}
		f.out.WriteString(words[0] + "() { :")
		push("}")
	case "and", "or":
		return true
	case "not", "!":
		f.out.WriteString("! ")
		return true
	case "set":
		f.set(f.words())
	case "fish_add_path":
		f.addPath(f.words())
	case "source", ".":
		f.out.WriteString("source ")
		if words := f.words(); len(words) == 0 || words[0] == "-" {
			f.out.WriteString("/dev/stdin")
		} else {
			f.out.WriteString(strings.Join(words, " "))
		}
	case "alias", "abbr":
		words := f.words()
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		if len(words) > 1 && !strings.Contains(words[0], "=") {
			words = append([]string{words[0] + "=" + strings.Join(words[1:], "' '")}, words[:0]...)
		}
		f.out.WriteString("alias " + strings.Join(words, " "))
	case "bind", "complete":
		words := f.words()
		f.out.WriteString(":")
		for _, word := range words {
			f.out.WriteString("; trap -- " + word + " EXIT")
		}
	default:
		f.out.WriteString(word)
	}
	return false
}

// words reads the words up to the end of the command.
func (f *fishReader) words() []string {
	var out []string
	for f.at < len(f.in) {
		switch c := f.in[f.at]; {
		case c == ' ' || c == '\t':
			f.at++
		case strings.IndexByte(fishEnds, c) >= 0:
			return out
		default:
			out = append(out, f.word())
		}
	}
	return out
}

// addPath writes fish_add_path DIRECTORY… as an assignment of PATH. Without -P, fish puts the directory in front of
// PATH.
func (f *fishReader) addPath(words []string) {
	var dirs []string
	after, itself := false, false
	for _, word := range words {
		switch {
		case word == "--append":
			after = true
		case word == "--path":
			itself = true
		case word == "-n" || word == "--dry-run":
			f.out.WriteString(": " + strings.Join(words, " "))
			return
		case strings.HasPrefix(word, "--"):
		case strings.HasPrefix(word, "-"):
			after = after || strings.Contains(word, "a")
			itself = itself || strings.Contains(word, "P")
		default:
			dirs = append(dirs, word)
		}
	}
	if after && itself {
		dirs = append([]string{"$PATH"}, dirs...)
	} else {
		dirs = append(dirs, "$PATH")
	}
	f.out.WriteString("PATH=" + strings.Join(dirs, ":"))
}

// fishSetLong maps long options of set, other than those of scope, to their letters.
var fishSetLong = map[string]string{"erase": "e", "query": "q", "show": "S", "names": "n", "prepend": "p", "append": "a"}

// set writes set NAME VALUE… as an assignment; $NAME is split where it is used, as fish's lists are.
func (f *fishReader) set(words []string) {
	before, after := false, false
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option := words[0]
		if long, is := strings.CutPrefix(option, "--"); is {
			option = fishSetLong[long]
		}
		if strings.ContainsAny(option, "eqSn") {
			f.out.WriteString(": " + strings.Join(words[1:], " "))
			return
		}
		before = before || strings.Contains(option, "p")
		after = after || strings.Contains(option, "a")
		words = words[1:]
	}
	if len(words) == 0 {
		f.out.WriteString("set")
		return
	}
	name := words[0]
	if at := strings.IndexByte(name, '['); at > 0 && name[:at] == "PATH" || at > 0 && name[:at] == "fish_user_paths" {
		name, before, after = name[:at], true, false // before or in place of any of them
		words[0] = name
	}
	switch name {
	case "fish_user_paths": // they are in front of the others
		f.out.WriteString("PATH=" + strings.Join(append(words[1:], "$PATH"), ":"))
		return
	case "PATH":
		list := words[1:]
		if before {
			list = append(list, "$PATH")
		}
		if after {
			list = append([]string{"$PATH"}, list...)
		}
		f.out.WriteString("PATH=" + strings.Join(list, ":"))
		return
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || name[0] <= '9' {
		f.odd = f.odd || !strings.Contains(name, "[")
		f.out.WriteString(": " + strings.Join(words[1:], " "))
		return
	}
	list := words[1:]
	if before {
		list = append(list[:len(list):len(list)], "$"+name)
	}
	if after {
		list = append([]string{"$" + name}, list...)
	}
	f.out.WriteString(name + "=" + strings.Join(list, "' '"))
}

// word reads one word and returns it as bash writes it.
func (f *fishReader) word() string {
	var b strings.Builder
	for f.at < len(f.in) {
		c := f.in[f.at]
		switch {
		case c == '(':
			if !strings.HasSuffix(b.String(), "$") {
				b.WriteByte('$')
			}
			b.WriteString(f.substitution())
			continue
		case strings.IndexByte(fishEnds, c) >= 0:
			return b.String()
		case c == '\'':
			b.WriteString(f.single())
			continue
		case c == '"':
			b.WriteString(f.double())
			continue
		case c == '\\' && f.at+1 < len(f.in):
			f.at++
			if e := f.in[f.at]; strings.IndexByte("xXuU01234567ntrabfve", e) >= 0 {
				end := f.at + 1
				for strings.IndexByte("xXuU01234567", e) >= 0 && end < len(f.in) && end-f.at < 9 && isDigit(f.in[end], 16) {
					end++
				}
				b.WriteString(`$'\` + strings.ToLower(f.in[f.at:end]) + `'`)
				f.at = end
				continue
			}
			b.WriteByte('\\')
			c = f.in[f.at]
		case c == '`' || c == '!':
			b.WriteByte('\\')
		case f.variable(&b, `"$@"`):
			continue
		}
		b.WriteByte(c)
		f.at++
	}
	return b.String()
}

// substitution reads (…) and returns it with its brackets.
func (f *fishReader) substitution() string {
	f.at++
	inner := fishReader{in: f.in, at: f.at, budget: f.budget}
	if inner.list(); *f.budget < inner.out.Len() {
		f.odd, f.at = true, len(f.in)
		return "( )"
	}
	*f.budget -= inner.out.Len()
	f.odd = f.odd || inner.odd || len(inner.open) > 0 || inner.at >= len(inner.in)
	f.at = min(inner.at+1, len(f.in))
	return "( " + inner.out.String() + "\n)"
}

// single reads '…', in which \' and \\ are escapes.
func (f *fishReader) single() string {
	var b strings.Builder
	for f.at++; f.at < len(f.in) && f.in[f.at] != '\''; f.at++ {
		if f.in[f.at] == '\\' && f.at+1 < len(f.in) && (f.in[f.at+1] == '\'' || f.in[f.at+1] == '\\') {
			f.at++
		}
		b.WriteByte(f.in[f.at])
	}
	f.odd = f.odd || f.at >= len(f.in)
	f.at = min(f.at+1, len(f.in))
	if text := b.String(); strings.IndexByte(text, '\'') < 0 {
		return "'" + text + "'"
	}
	// One part, not one for each quote in it: a parser takes ten times as long for those.
	return "$'" + strings.ReplaceAll(strings.ReplaceAll(b.String(), `\`, `\\`), `'`, `\'`) + "'"
}

// double reads "…", in which $x and $(…) are expanded.
func (f *fishReader) double() string {
	var b strings.Builder
	b.WriteByte('"')
	for f.at++; f.at < len(f.in) && f.in[f.at] != '"'; {
		switch c := f.in[f.at]; {
		case c == '\\' && f.at+1 < len(f.in):
			b.WriteString(f.in[f.at : f.at+2])
			f.at += 2
		case c == '$' && f.at+1 < len(f.in) && f.in[f.at+1] == '(':
			f.at++
			b.WriteString("$" + f.substitution())
		case c == '`':
			b.WriteString("\\`")
			f.at++
		default:
			if f.variable(&b, `$*`) {
				continue
			}
			b.WriteByte(c)
			f.at++
		}
	}
	f.odd = f.odd || f.at >= len(f.in)
	f.at = min(f.at+1, len(f.in))
	b.WriteByte('"')
	return b.String()
}

// arrayElement matches one element of a list ($x[1]).
var arrayElement = pattern.Lazy(`^\$(\w+)\[[^\[\]()'"\s]*\]`)

// variable reads fish-only forms: an array element stands for the whole array, $argv for a function's arguments, and
// $$x is unknown. It reports false if none starts here.
func (f *fishReader) variable(b *strings.Builder, arguments string) bool {
	rest := f.in[f.at:min(len(f.in), f.at+200)]
	if !strings.HasPrefix(rest, "$") {
		return false
	}
	f.odd = f.odd || strings.HasPrefix(rest, "$$")
	name := rest[1:]
	end := 0
	for end < len(name) && isWord(name[end]) {
		end++
	}
	name = name[:end]
	used := 1 + end
	if m := arrayElement.FindString(rest); m != "" {
		used = len(m)
		f.odd = f.odd || strings.HasPrefix(rest[used:], "$") // joined they are another word than the lists
	} else if name != "argv" {
		return false
	}
	if name == "argv" {
		b.WriteString(arguments)
	} else {
		b.WriteString("$" + name)
	}
	f.at += used
	return true
}
