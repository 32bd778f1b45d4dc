package shortcut

// flag is a flag that a verb takes here.
type flag struct {
	long, short string
	valued      bool
	repeats     bool // else it is given once, or the verb is to judge
}

// given are arguments that were understood.
type given struct {
	words  []string            // that are no flags
	dashed int                 // words before --; -1: there is none
	values map[string][]string // of flags, by long names
}

// has says that a flag was given.
func (g *given) has(long string) bool { return len(g.values[long]) > 0 }

// value is a flag's value; empty: it was not given.
func (g *given) value(long string) string {
	if v := g.values[long]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// parseArgs takes flags and words as the verbs do (pflag). Whatever is unknown, or said in another way, is not ok. After
// so many words as lead, if that is not 0, there are no flags any more.
func parseArgs(args []string, flags []flag, lead int) (g given, ok bool) {
	g = given{values: map[string][]string{}, dashed: -1}
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
				return g, !anyFlag(args[i+1:]) // whose it would be is the verb's to say
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

func find(flags []flag, arg string) *flag {
	for i := range flags {
		if f := &flags[i]; arg == "--"+f.long || f.short != "" && arg == "-"+f.short {
			return f
		}
	}
	return nil
}

// anyFlag says that one of the words might be meant for a verb.
func anyFlag(words []string) bool {
	for _, w := range words {
		if len(w) > 1 && w[:2] == "--" {
			return true
		}
	}
	return false
}
