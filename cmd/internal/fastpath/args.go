package fastpath

// flag is a flag that the fast path accepts for a verb.
type flag struct {
	long, short string
	valued      bool // takes a value
	repeats     bool // may be repeated. A repeated flag without this goes to the verb
}

// parsedArgs holds parsed arguments.
type parsedArgs struct {
	words  []string            // arguments that are not flags
	dashed int                 // number of words before --; -1: without --
	values map[string][]string // values of the given flags, by long name
}

// has reports whether a flag was given.
func (g *parsedArgs) has(long string) bool { return len(g.values[long]) > 0 }

// value returns a flag's value, or "" if it was not given.
func (g *parsedArgs) value(long string) string {
	if v := g.values[long]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// parseArgs parses flags and words like the verbs (pflag). It returns ok = false for unknown flags and unusual forms.
// If lead is not 0, all arguments after that many words are words.
func parseArgs(args []string, flags []flag, lead int) (g parsedArgs, ok bool) {
	g = parsedArgs{values: map[string][]string{}, dashed: -1}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			g.dashed = len(g.words)
			g.words = append(g.words, args[i+1:]...)
			return g, true
		}
		if len(arg) < 2 || arg[0] != '-' {
			if g.words = append(g.words, arg); len(g.words) == lead {
				g.words = append(g.words, args[i+1:]...)
				return g, !anyFlag(args[i+1:]) // the verb decides to which command the flag belongs
			}
			continue
		}
		f := find(flags, arg)
		if f == nil || g.has(f.long) && !f.repeats {
			return g, false
		}
		value := "true"
		if f.valued {
			if i++; i == len(args) {
				return g, false
			}
			value = args[i]
		}
		g.values[f.long] = append(g.values[f.long], value)
	}
	return g, true
}

// find returns the flag of an argument, or nil.
func find(flags []flag, arg string) *flag {
	for i := range flags {
		if f := &flags[i]; arg == "--"+f.long || f.short != "" && arg == "-"+f.short {
			return f
		}
	}
	return nil
}

// anyFlag reports whether one of the words could be a flag of the verb.
func anyFlag(words []string) bool {
	for _, w := range words {
		if len(w) > 1 && w[:2] == "--" {
			return true
		}
	}
	return false
}
