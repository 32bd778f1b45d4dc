package programs

import "strings"

// Option is one option of an argument list, with its value where it takes one.
type Option struct {
	Name  string // as in the table: "-n", "--lines"
	Value string
	Has   bool     // it has a value
	Argv  []string // the command that follows it, for options like find's -exec
	End   string   // what ended Argv: ";" or "+", or "" at the end of the line
}

// Args is an argument list, taken apart by a row.
type Args struct {
	Options  []Option
	Operands []string
	Dashes   bool // "--" was given
	At       int  // index in the list of the first operand; its length if there is none
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

// Parse takes the words after the program's name apart.
func (p *Program) Parse(words []string) Args {
	a := Args{At: len(words)}
	for i := 0; i < len(words); i++ {
		w := words[i]
		isOption := len(w) > 1 && w[0] == '-' && !a.Dashes
		switch {
		case p.Lang == "sh" && len(w) > 1 && w[0] == '+' && len(a.Operands) == 0:
			if p.set.values[w] {
				i++
			}
		case w == "--" && !a.Dashes && !p.OneDash:
			a.Dashes = true
		case isOption && (p.OneDash || strings.HasPrefix(w, "--")):
			i = p.long(&a, words, i)
		case isOption:
			i = p.short(&a, words, i)
		default:
			if len(a.Operands) == 0 {
				a.At = i
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

// long reads words[i], an option in one word, and returns the index of the last word it used.
func (p *Program) long(a *Args, words []string, i int) int {
	name, value, has := strings.Cut(words[i], "=")
	if p.OneDash {
		if p.set.values["-"+strings.TrimLeft(name, "-")] || p.set.argv["-"+strings.TrimLeft(name, "-")] ||
			p.set.unsafe["-"+strings.TrimLeft(name, "-")] {
			name = "-" + strings.TrimLeft(name, "-")
		}
	} else {
		name = p.full(name)
	}
	o := Option{Name: name, Value: value, Has: has}
	switch {
	case p.set.argv[name]:
		for i++; i < len(words); i++ {
			if words[i] == ";" || words[i] == "+" && len(o.Argv) > 0 && o.Argv[len(o.Argv)-1] == "{}" {
				o.End = words[i]
				break
			}
			o.Argv = append(o.Argv, words[i])
		}
	case !has && p.set.values[name] && i+1 < len(words):
		i++
		o.Value, o.Has = words[i], true
	}
	a.Options = append(a.Options, o)
	return i
}

// full completes an abbreviated long option: --checkpoint-act is --checkpoint-action.
func (p *Program) full(name string) string {
	found := ""
	for _, o := range p.set.long {
		if o == name {
			return name
		}
		if len(name) > 3 && strings.HasPrefix(o, name) && (found == "" || p.set.unsafe[o]) {
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
	for k := 1; k < len(w); k++ {
		o := Option{Name: "-" + w[k:k+1]}
		if p.set.argv[o.Name] {
			o.Argv = words[i+1:]
			a.Options = append(a.Options, o)
			return len(words)
		}
		if p.set.values[o.Name] {
			o.Has = true
			if k+1 < len(w) {
				o.Value = w[k+1:]
			} else if i+1 < len(words) {
				i++
				o.Value = words[i]
			}
			a.Options = append(a.Options, o)
			return i
		}
		a.Options = append(a.Options, o)
	}
	return i
}

// ReadsOnly reports whether the program only reads with these arguments, and else the option or
// operand that says otherwise.
func (p *Program) ReadsOnly(a *Args) (bool, string) {
	if !p.Reads {
		return false, ""
	}
	needed := p.Need == ""
	neededArg := p.NeedArg == "" || len(a.Operands) == 0
	for i := range a.Options {
		name := a.Options[i].Name
		if p.IsUnsafe(name) || p.set.argv[name] || p.set.code[name] || p.set.script[name] || p.set.shell[name] {
			if !p.set.code[name] || p.Lang != "sed" && p.Lang != "awk" {
				return false, name
			}
		}
		needed = needed || p.set.need[name]
		neededArg = neededArg || p.set.needArg[name]
	}
	if !needed && len(a.Operands) > 0 {
		needed = p.set.need[a.Operands[0]]
	}
	if !needed || !neededArg {
		return false, ""
	}
	if p.None && len(a.Operands) > 0 {
		return false, a.Operands[0]
	}
	if p.Max > 0 && len(a.Operands) > p.Max {
		return false, a.Operands[p.Max]
	}
	return true, ""
}
