package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// An allow rule lifts what a preset asks about where its words begin the command's operands and its options are
// given, wherever those stand. Options that it does not name matter in three places only:
//
//   - before a subcommand, where they may change what that does (git -C, npm --prefix), unless the table knows
//     them as harmless;
//   - of a program that only reads, where they make it do more (git log --output), unless the rule is the
//     program's bare name;
//   - where they name another command: that is judged by itself, and no rule about this one is about it.

// near is what is missing of the allow rule that comes nearest.
type near struct{ why, instead string }

// allowed reports whether an allow rule names the command, and else why one about the program does not.
func (pr *presets) allowed(x *invocation) (miss near, ok bool) {
	dir, _ := path.Split(x.argv[0])
	for i := range pr.engine.rules {
		r := &pr.engine.rules[i]
		file := r.Program == x.argv[0] || r.isFile(x.argv[0], pr.cwd)
		if r.Decision != Allow || !file && x.name != r.Program {
			continue
		}
		if !file && !systemPlaces[dir] {
			miss.take(r, "is about the program of the system's directories", "name the file: "+x.argv[0])
			continue
		}
		why, instead, ok := pr.lifts(r, x)
		if ok {
			return near{}, true
		}
		miss.take(r, why, instead)
	}
	return miss, false
}

// take keeps what the first rule that is about the command lacks.
func (n *near) take(r *Rule, why, instead string) {
	if n.why == "" && why != "" {
		n.why, n.instead = "the rule \""+r.Name+"\" does not lift that: "+why, instead
	}
}

// lifts reports whether an allow rule about the program allows the command. It says why not where the rule's
// words are the command's, and what a rule would be that does.
func (pr *presets) lifts(r *Rule, x *invocation) (why, instead string, ok bool) {
	match, _ := r.matches(x, pr.cwd)
	if r.Exact {
		return "", "", match
	}
	here, _ := r.at(pr.cwd)
	if led, _ := r.at(pr.leadsTo(pr.cwd)); !here || !led && pr.cwd != pr.root {
		return "it counts in " + strings.Join(r.Roots, ", ") + " only", "", false
	}
	if !match {
		return r.lacks(x), "", false
	}
	if first := x.firstOperand(); len(r.Words) > 0 && !wordMatches(r.Words[0], first) && x.name != "export" {
		return "it is about \"" + r.Words[0] + "\" as it is written", "", false
	}
	if o := r.before(x); o != "" {
		return o + " stands before " + r.Words[0] + " and may change what that does", r.with(o), false
	}
	if slices.ContainsFunc(x.argv[1:], hasHole) {
		return "a word of it is not known before it runs", "write that word out", false
	}
	if x.row != nil && x.row.Lang == "make" && hasPrefix(x.argv, "SHELL=", "MAKE=", ".SHELLFLAGS=", "MAKEFLAGS=") {
		return "its variables change what make runs", "", false
	}
	if what := r.unnamed(x); what != "" {
		return what + " makes it do more than read", r.with(what), false
	}
	return "", "", true
}

// lacks says which options a rule wants whose words are there; "": it is about other words.
func (r *Rule) lacks(x *invocation) string {
	if len(r.Options) == 0 {
		return ""
	}
	bare := *r
	bare.Options = nil
	if match, _ := bare.names(x); !match {
		return ""
	}
	return "it is about it with " + strings.Join(r.Options, " ") + " only"
}

// with is what to do where a rule does not name an option: the rule that does.
func (r *Rule) with(option string) string {
	option, _, _ = strings.Cut(option, "=")
	if !strings.HasPrefix(option, "-") {
		return "allow it with all its words (exactly …)"
	}
	longer := *r
	longer.Options = append(slices.Clone(r.Options), option)
	return "a rule that names it does: " + longer.String()
}

// firstOperand is the first word that is no option or the value of one; "" where there is none.
func (x *invocation) firstOperand() string {
	if at := x.parsed().At; at+1 < len(x.argv) {
		return x.argv[at+1]
	}
	return ""
}

// parsed are the arguments as the program takes them apart, before it looks at a subcommand.
func (x *invocation) parsed() programs.Args {
	whole := programs.Lookup(x.name)
	if whole == nil {
		whole = plain
	}
	return whole.Parse(x.argv[1:])
}

// before is an option in front of a rule's first word that neither the rule nor the table knows, of a program
// whose first word says what it does.
func (r *Rule) before(x *invocation) string {
	whole := programs.Lookup(x.name)
	if len(r.Words) == 0 || whole != nil && whole == x.row && !whole.Stop && !whole.SubOnly && !subcommands.has(x.name) && whole.Lang != "make" {
		return ""
	}
	if whole == nil {
		whole = plain
	}
	at := x.parsed().At
	args := whole.Parse(x.argv[1:min(at+1, len(x.argv))])
	for _, o := range args.Options {
		if !whole.IsFlag(o.Name) && !r.namesOption(o.Name) && !(whole.Lang == "make" && harmlessOfMake.has(o.Name)) {
			return o.Name
		}
	}
	return ""
}

// harmlessOfMake are options that do not change what make does, only how.
var harmlessOfMake = words("-j --jobs -k --keep-going -s --silent -n --dry-run -B --always-make -l --load-average -O")

// namesOption reports whether a rule names an option, perhaps among others in one word.
func (r *Rule) namesOption(name string) bool {
	for _, o := range r.Options {
		for one := range strings.SplitSeq(o, "|") {
			if nameOf(one) == name || len(name) == 2 && len(one) > 2 && one[1] != '-' && strings.Contains(one[1:], name[1:]) {
				return true
			}
		}
	}
	return false
}

// unnamed is what makes a program that else only reads do more, where a rule does not mean that: an option that
// it does not name, or what only all the words say.
func (r *Rule) unnamed(x *invocation) string {
	if x.row == nil || !x.row.Reads {
		return ""
	}
	ok, what := x.row.ReadsOnly(&x.args)
	if ok {
		return ""
	}
	anything := len(r.Words)+len(r.Options) == 0 && x.row == programs.Lookup(x.name)
	writes := x.row.Need != "" || x.row.NeedArg != "" || x.row.None || x.row.Max > 0 // it reads only when asked to
	for _, o := range x.args.Options {
		if !x.row.DoesMore(o.Name) || r.namesOption(o.Name) {
			continue
		}
		if x.row.IsScript(o.Name) || !anything && !writes {
			return o.Name
		}
	}
	switch {
	case strings.HasPrefix(what, "-") && !anything && !writes && !r.namesOption(nameOf(what)):
		return what // a word that may be an option
	case len(x.words) > 1 && runsCode.has(x.name+" "+x.words[1]) && len(r.Words) < 2:
		return "what it is given"
	}
	return ""
}
