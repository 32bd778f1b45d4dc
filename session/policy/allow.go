package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// An allow rule lifts a preset's approval requirement if its words start the command's operands and its options are
// present, anywhere. Options that it does not name matter in three places only:
//
//   - before a subcommand, where they may change its meaning (git -C, npm --prefix), unless the table knows
//     them as harmless;
//   - of a program that only reads, where they make it do more (git log --output), unless the rule is the
//     program's bare name;
//   - where they name another command: that is judged separately, and no rule about this one covers it.

// nearestRule explains why the allow rule that comes nearest to a command does not allow it.
type nearestRule struct{ why, instead string }

// matchAllow reports whether an allow rule allows the command, and otherwise why a rule about the program does not.
func (pr *presets) matchAllow(x *invocation) (miss nearestRule, ok bool) {
	dir, _ := path.Split(x.argv[0])
	for i := range pr.engine.rules {
		r := &pr.engine.rules[i]
		file := r.Program == x.argv[0] || r.isFile(x.argv[0], pr.cwd)
		if r.Decision != Allow || !file && x.name != r.Program {
			continue
		}
		if !file && !systemProgramDirs[dir] {
			miss.setFirst(r, "is about the program of the system's directories", "name the file: "+x.argv[0])
			continue
		}
		why, instead, ok := pr.allows(r, x)
		if ok {
			return nearestRule{}, true
		}
		miss.setFirst(r, why, instead)
	}
	return miss, false
}

// setFirst stores the reason of the first rule about the command.
func (n *nearestRule) setFirst(r *Rule, why, instead string) {
	if n.why == "" && why != "" {
		n.why, n.instead = "the rule \""+r.Name+"\" does not lift that: "+why, instead
	}
}

// allows reports whether an allow rule for the program allows the command. If the rule's words match but it does not,
// why explains that, and instead is a rule that would.
func (pr *presets) allows(r *Rule, x *invocation) (why, instead string, ok bool) {
	match, _ := r.matches(x, pr.cwd)
	if r.Exact {
		return "", "", match
	}
	here, _ := r.appliesIn(pr.cwd)
	if led, _ := r.appliesIn(pr.resolvedPath(pr.cwd)); !here || !led && pr.cwd != pr.root {
		return "it counts in " + strings.Join(r.Roots, ", ") + " only", "", false
	}
	if !match {
		return r.missingOptions(x), "", false
	}
	if first := x.firstOperand(); len(r.Words) > 0 && !wordMatches(r.Words[0], first) && x.name != "export" {
		return "it is about \"" + r.Words[0] + "\" as it is written", "", false
	}
	if o := r.unknownOptionBefore(x); o != "" {
		return o + " stands before " + r.Words[0] + " and may change what that does", r.optionHint(o), false
	}
	if slices.ContainsFunc(x.argv[1:], hasHole) {
		return "a word of it is not known before it runs", "write that word out", false
	}
	if x.row != nil && x.row.Lang == "make" && hasPrefix(x.argv, "SHELL=", "MAKE=", ".SHELLFLAGS=", "MAKEFLAGS=") {
		return "its variables change what make runs", "", false
	}
	if what := r.findUnnamed(x); what != "" {
		return what + " makes it do more than read", r.optionHint(what), false
	}
	return "", "", true
}

// missingOptions returns the options of a rule whose words match but whose options are missing, or "".
func (r *Rule) missingOptions(x *invocation) string {
	if len(r.Options) == 0 {
		return ""
	}
	bare := *r
	bare.Options = nil
	if match, _ := bare.matchesWords(x); !match {
		return ""
	}
	return "it is about it with " + strings.Join(r.Options, " ") + " only"
}

// optionHint returns the hint for an option that a rule does not name: a rule that does.
func (r *Rule) optionHint(option string) string {
	option, _, _ = strings.Cut(option, "=")
	if !strings.HasPrefix(option, "-") {
		return "allow it with all its words (exactly …)"
	}
	longer := *r
	longer.Options = append(slices.Clone(r.Options), option)
	return "a rule that names it does: " + longer.String()
}

// firstOperand returns the first word that is neither an option nor its value, or "".
func (x *invocation) firstOperand() string {
	if at := x.parseArgs().FirstOperandIndex; at+1 < len(x.argv) {
		return x.argv[at+1]
	}
	return ""
}

// parseArgs returns the arguments as the program parses them, before any subcommand.
func (x *invocation) parseArgs() programs.Args {
	whole := programs.Lookup(x.name)
	if whole == nil {
		whole = unknownProgram
	}
	return whole.Parse(x.argv[1:])
}

// unknownOptionBefore returns an option before a rule's first word that neither the rule nor the table knows, for a
// program whose first word selects its action.
func (r *Rule) unknownOptionBefore(x *invocation) string {
	whole := programs.Lookup(x.name)
	if len(r.Words) == 0 || whole != nil && whole == x.row && !whole.Stop && !whole.SubOnly && !subcommands.has(x.name) && whole.Lang != "make" {
		return ""
	}
	if whole == nil {
		whole = unknownProgram
	}
	at := x.parseArgs().FirstOperandIndex
	args := whole.Parse(x.argv[1:min(at+1, len(x.argv))])
	for _, o := range args.Options {
		if !whole.IsFlag(o.Name) && !r.namesOption(o.Name) && !(whole.Lang == "make" && harmlessMakeOptions.has(o.Name)) {
			return o.Name
		}
	}
	return ""
}

// harmlessMakeOptions do not change what make does, only how.
var harmlessMakeOptions = words("-j --jobs -k --keep-going -s --silent -n --dry-run -B --always-make -l --load-average -O")

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

// findUnnamed returns what makes an otherwise read-only program do more without the rule's consent: an unnamed option, or a
// combination of all words.
func (r *Rule) findUnnamed(x *invocation) string {
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
		if x.row.TakesScript(o.Name) || !anything && !writes {
			return o.Name
		}
	}
	switch {
	case strings.HasPrefix(what, "-") && !anything && !writes && !r.namesOption(nameOf(what)):
		return what // a word that may be an option
	case len(x.words) > 1 && runsCode.has(x.name+" "+x.words[1]) && len(r.Words) < 2:
		return "an argument"
	}
	return ""
}
