package programs

import "strings"

// Option is one option of an argument list, with its value where it takes one.
type Option struct {
	Name     string // as in the table: "-n", "--lines"
	Value    string
	HasValue bool     // it has a value
	separate bool     // the value is the next word
	Argv     []string // the command that follows it, for options like find's -exec
	End      string   // what ended Argv: ";" or "+", or "" at the end of the line
}

// Args is a parsed argument list.
type Args struct {
	Options           []Option
	Operands          []string
	Dashes            bool // "--" was given
	FirstOperandIndex int  // index in the list of the first operand, or its length

	ambiguous []string // words behind a "--" that may be the value of the option before it
}

// Get returns the last value of an option.
func (a *Args) Get(names ...string) (string, bool) {
	for i := len(a.Options) - 1; i >= 0; i-- {
		for _, name := range names {
			if a.Options[i].Name == name {
				return a.Options[i].Value, true
			}
		}
	}
	return "", false
}

// Has reports whether one of the options is given.
func (a *Args) Has(names ...string) bool {
	_, ok := a.Get(names...)
	return ok
}

// Parse parses the words after the program's name.
func (p *Program) Parse(words []string) Args {
	a := Args{FirstOperandIndex: len(words)}
	for i := 0; i < len(words); i++ {
		w := words[i]
		isOption := len(w) > 1 && w[0] == '-' && !a.Dashes
		switch {
		case p.Lang == "sh" && len(w) > 1 && w[0] == '+' && len(a.Operands) == 0:
			if p.set().values[w] {
				i++
			}
		case w == "--" && !a.Dashes && !p.OneDash:
			a.Dashes = true
			if i > 0 && p.mayTake(words[i-1], &a) {
				a.ambiguous = words[i+1:]
			}
		case isOption && (p.OneDash || strings.HasPrefix(w, "--")):
			i = p.long(&a, words, i)
		case isOption:
			i = p.short(&a, words, i)
		default:
			if len(a.Operands) == 0 {
				a.FirstOperandIndex = i
			}
			if p.Stop && !(p.Assigns && strings.Contains(w, "=") && !strings.HasPrefix(w, "=")) {
				a.Operands = append(a.Operands, words[i:]...)
				return a
			}
			a.Operands = append(a.Operands, w)
		}
	}
	return a
}

// Spread rewrites tar's old form as separate options: the values of all letters follow the word, in order. "cfI a.tar
// sh x" is "-c -f a.tar -I sh x".
func (p *Program) Spread(words []string) []string {
	var out []string
	rest := words[1:]
	var seen [256]bool // a word of a million letters is no million options
	for k := range len(words[0]) {
		letter := words[0][k]
		takes := p.set().values["-"+string(rune(letter))]
		if seen[letter] && (!takes || len(rest) == 0) {
			continue
		}
		seen[letter] = true
		out = append(out, "-"+words[0][k:k+1])
		if takes && len(rest) > 0 {
			out, rest = append(out, rest[0]), rest[1:]
		}
	}
	return append(out, rest...)
}

// long reads words[i], an option in one word, and returns the index of the last word it used.
func (p *Program) long(a *Args, words []string, i int) int {
	name, value, has := strings.Cut(words[i], "=")
	if p.OneDash {
		if p.set().values["-"+strings.TrimLeft(name, "-")] || p.set().argv["-"+strings.TrimLeft(name, "-")] ||
			p.set().unsafe["-"+strings.TrimLeft(name, "-")] {
			name = "-" + strings.TrimLeft(name, "-")
		}
	} else {
		name = p.full(name)
	}
	o := Option{Name: name, Value: value, HasValue: has}
	switch {
	case p.set().argv[name]:
		for i++; i < len(words); i++ {
			if words[i] == ";" || words[i] == "+" && len(o.Argv) > 0 && o.Argv[len(o.Argv)-1] == "{}" {
				o.End = words[i]
				break
			}
			o.Argv = append(o.Argv, words[i])
		}
	case !has && p.set().values[name] && i+1 < len(words):
		i++
		o.Value, o.HasValue, o.separate = words[i], true, true
	}
	a.Options = append(a.Options, o)
	return i
}

// mayTake reports whether a word is an option that may take a value according to its row.
func (p *Program) mayTake(word string, a *Args) bool {
	if len(word) < 2 || word[0] != '-' || len(a.Options) == 0 || strings.Contains(word, "=") {
		return false
	}
	last := a.Options[len(a.Options)-1]
	return !last.HasValue && !p.set().flags[last.Name]
}

// full completes an abbreviated long option: --checkpoint-act is --checkpoint-action.
func (p *Program) full(name string) string {
	found := ""
	for _, o := range p.set().long {
		if o == name {
			return name
		}
		if (len(name) > 3 || len(name) == 3 && p.IsUnsafe(o)) && strings.HasPrefix(o, name) && (found == "" || p.IsUnsafe(o)) {
			found = o
		}
	}
	if found != "" {
		return found
	}
	return name
}

// short reads words[i], a cluster of one-letter options, and returns the index of the last word used.
func (p *Program) short(a *Args, words []string, i int) int {
	w := words[i]
	var seen [256]bool // a word of a million letters is no million options
	for k := 1; k < len(w); k++ {
		if seen[w[k]] {
			continue
		}
		seen[w[k]] = true
		o := Option{Name: "-" + w[k:k+1]}
		if p.set().argv[o.Name] {
			o.Argv = words[i+1:]
			a.Options = append(a.Options, o)
			return len(words)
		}
		if p.set().values[o.Name] {
			o.HasValue = true
			if k+1 < len(w) {
				o.Value = w[k+1:]
			} else if i+1 < len(words) {
				i++
				o.Value, o.separate = words[i], true
			}
			a.Options = append(a.Options, o)
			return i
		}
		a.Options = append(a.Options, o)
	}
	return i
}

// ReadsOnly reports whether the program only reads with these arguments; otherwise it returns the option or operand at
// fault.
func (p *Program) ReadsOnly(a *Args) (bool, string) {
	if !p.Reads {
		return false, ""
	}
	needed := p.Need == ""
	neededArg := p.NeedArg == "" || len(a.Operands) == 0
	for i := range a.Options {
		name := a.Options[i].Name
		if p.DoesMore(name) {
			return false, name
		}
		// Whether a program takes the next word for the value of an option differs by version, and optional values
		// have to be in the same word.
		if o := &a.Options[i]; o.separate && p.hasUnsafe(o.Value) {
			return false, o.Value
		}
		needed = needed || p.set().need[name]
		neededArg = neededArg || p.set().needArg[name]
	}
	if !needed && len(a.Operands) > 0 {
		needed = p.set().need[a.Operands[0]]
	}
	if !needed || !neededArg {
		return false, ""
	}
	for _, word := range a.ambiguous {
		if p.hasUnsafe(word) {
			return false, word
		}
	}
	if p.None && len(a.Operands) > 0 {
		return false, a.Operands[0]
	}
	if p.Max > 0 && len(a.Operands) > p.Max {
		return false, a.Operands[p.Max]
	}
	return true, ""
}

// DoesMore reports whether an option makes a reading program do more.
func (p *Program) DoesMore(name string) bool {
	if p.set().code[name] && (p.Lang == "sed" || p.Lang == "awk") {
		return false
	}
	return p.IsUnsafe(name) || p.set().argv[name] || p.set().code[name] || p.set().script[name] || p.set().shell[name] ||
		p.Strict && !p.set().values[name] && !p.set().flags[name] && !p.set().need[name] && strings.Trim(name, "-0123456789") != ""
}

// hasUnsafe reports whether a word would make the program do more if it were an option.
func (p *Program) hasUnsafe(word string) bool {
	if len(word) < 2 || word[0] != '-' || strings.Trim(word[1:], "0123456789") == "" {
		return false
	}
	a := p.Parse([]string{word})
	for i := range a.Options {
		if p.DoesMore(a.Options[i].Name) {
			return true
		}
	}
	return false
}
