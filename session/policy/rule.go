package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// Rule is one rule about one program.
//
// Words are compared by position with the operands, options wherever they stand: the rule
// {Program: "git", Words: ["push"], Options: ["--force"]} is about "git -C x push origin main -f" too.
//
// A Program with a slash is the file at that path; one without is the program of that name, which an allow
// rule finds only in the system's directories. An Exact allow rule is a person's answer to a question: it
// also answers what a preset asks about, which other allow rules do not. Nothing lifts a denial.
type Rule struct {
	Name     string   // in judgements; "" is made of the decision and the words
	Program  string   // without a directory
	Words    []string // operands at the beginning; "*" is any word, "a|b" one of several, a final "*" in a word any end
	Options  []string // all must be given; "-f|--force" is one of several
	Exact    bool     // the command has these words and no other; Options are not used
	Roots    []string // absolute directories: the rule counts there and below; nil: anywhere
	Decision Verdict
	Why      string // one sentence for the person or agent that is refused
	Instead  string // what to do instead

	Match    []string // lines that the rule must decide, checked by New
	NotMatch []string // lines that it must leave alone, checked by New
}

// ParseRule makes a rule of words such as "git push --force", of which the first is the program. A rule about
// exact words is written as String prints it: "exactly rm -rf 'my build'".
func ParseRule(text string, v Verdict) (Rule, error) {
	words := strings.Fields(text)
	if len(words) > 2 && words[0] == v.String() && words[1] == "exactly" { // as judgements show it
		_, text, _ = strings.Cut(text, v.String())
		words = words[1:]
	}
	exact := len(words) > 1 && words[0] == "exactly"
	if exact {
		var err error
		if words, err = SplitWords(text); err != nil {
			return Rule{}, fmt.Errorf("policy: the rule %q: %w", text, err)
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return Rule{}, fmt.Errorf("policy: a rule to %s is empty: name a program", v)
	}
	r := ruleOf(words, exact, v)
	if r.marked() {
		return Rule{}, fmt.Errorf("policy: the rule %q: %w", text, errUnwritable)
	}
	if v != Allow {
		r.Why = "a rule says " + r.Name
	}
	return r, nil
}

// ruleOf is the rule that words say, the program first.
func ruleOf(words []string, exact bool, v Verdict) Rule {
	r := Rule{Program: words[0], Exact: exact, Decision: v}
	for _, word := range words[1:] {
		if !exact && strings.HasPrefix(word, "-") {
			r.Options = append(r.Options, word)
		} else {
			r.Words = append(r.Words, word)
		}
	}
	if exact {
		return r.named()
	}
	r.Name = v.String() + " " + strings.Join(words, " ")
	return r
}

// SplitWords splits a rule's text at blanks; quotes and backslashes are those of a shell, also $'…', in which rules are shown
// that have characters which nobody sees. Nothing is expanded.
func SplitWords(text string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == 0 || c == '\n' && quote == 0:
			return nil, errors.New("a rule is one line of text")
		case quote != 0 && c == quote:
			quote = 0
		case quote != '\'' && c == '\\' && i+1 < len(text):
			i++
			word.WriteByte(text[i])
			inWord = true
		case quote != 0:
			word.WriteByte(c)
		case c == '$' && strings.HasPrefix(text[i+1:], "'"):
			end := EscapedEnd(text, i)
			if end < 0 {
				return nil, errors.New("a quotation mark ' is missing")
			}
			word.WriteString(unescaped(text[i+2:end], true))
			i, inWord = end, true
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quotation mark %c is missing", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	if slices.ContainsFunc(words, Unwritable) {
		return nil, errUnwritable
	}
	return words, nil
}

// errUnwritable is why a rule is none that has one of the marks.
var errUnwritable = errors.New("a rule cannot name the control characters \\x00 to \\x05; take them out")

// Unwritable reports whether a text has one of the characters that no rule can have in a word: the first is in no argument, the others
// are what the engine writes for text that is not known.
func Unwritable(text string) bool { return strings.ContainsAny(text, "\x00"+holes+globs) }

// marked reports whether the rule has such a word.
func (r *Rule) marked() bool {
	return slices.ContainsFunc(slices.Concat([]string{r.Program}, r.Words, r.Options), Unwritable)
}

// EscapedEnd is where the quotation mark stands that ends $'…', which begins at a place of a text; -1: it is missing.
func EscapedEnd(text string, from int) int {
	for i := from + 2; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\'':
			return i
		}
	}
	return -1
}

// ParseText reads a rule as judgements and approvals show it: "git push", "allow git push --force",
// "deny curl", "allow exactly rm -rf 'my build'". Without a decision it allows. Words may be quoted as in
// a shell; nothing in them is expanded.
func ParseText(text string) (Rule, error) {
	words, err := SplitWords(text)
	if err != nil {
		return Rule{}, err
	}
	r := Rule{Decision: Allow}
	if len(words) > 1 {
		for _, v := range []Verdict{Allow, Ask, Deny} {
			if words[0] == v.String() {
				r.Decision, words = v, words[1:]
				break
			}
		}
	}
	if len(words) > 1 && words[0] == "exactly" {
		r.Exact, words = true, words[1:]
	}
	if len(words) == 0 {
		return Rule{}, errors.New("the rule is empty: name a program, as in \"git push\"")
	}
	r.Program, words = words[0], words[1:]
	for _, w := range words {
		if !r.Exact && strings.HasPrefix(w, "-") {
			r.Options = append(r.Options, w)
		} else {
			r.Words = append(r.Words, w)
		}
	}
	r.Name = r.String()
	return r, nil
}

// ParseTexts reads rules with semicolons between them.
func ParseTexts(text string) ([]Rule, error) {
	var rules []Rule
	quote, from := byte(0), 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ';' && quote == 0:
			if strings.TrimSpace(text[from:i]) == "" && len(rules) > 0 {
				from = i + 1
				continue // one at the end
			}
			r, err := ParseText(text[from:i])
			if err != nil {
				return nil, err
			}
			rules, from = append(rules, r), i+1
		case text[i] == '\\' && quote != '\'':
			i = min(i+1, len(text)-1)
		case quote != 0 && text[i] == quote:
			quote = 0
		case quote == 0 && text[i] == '$' && strings.HasPrefix(text[i+1:], "'"):
			if end := EscapedEnd(text, i); end > 0 { // else what reads the rule says that it has no end
				i = end
			}
		case quote == 0 && (text[i] == '\'' || text[i] == '"'):
			quote = text[i]
		}
	}
	return rules, nil
}

// check tries the rule's examples.
func (r *Rule) check() error {
	if r.Program == "" || strings.ContainsAny(r.Program, " \t") {
		return fmt.Errorf("policy: rule %q names no program", r.Name)
	}
	if r.marked() {
		return fmt.Errorf("policy: rule %q: %w", r.Name, errUnwritable)
	}
	if r.Name == "" {
		r.Name = r.String()
	}
	if r.Decision != Allow && r.Why == "" {
		r.Why = "a rule says " + r.Name
	}
	preset := Off
	if r.Decision == Allow {
		preset = Listed
	}
	alone := &Engine{preset: preset, rules: []Rule{*r}, denies: r.Decision != Allow}
	for _, line := range r.Match {
		if j := alone.Judge(Line{Text: line}); j.Verdict != r.Decision {
			why := ""
			if j.Why != "" {
				why = ": " + j.Why
			}
			if j.Instead != "" {
				why += "; " + j.Instead
			}
			return fmt.Errorf("policy: rule %q must match %q, but says %s%s", r.Name, line, j.Verdict, why)
		}
	}
	for _, line := range r.NotMatch {
		if j := alone.Judge(Line{Text: line}); (j.Verdict == Allow) != (r.Decision != Allow) {
			return fmt.Errorf("policy: rule %q must not match %q, but says %s", r.Name, line, j.Verdict)
		}
	}
	return nil
}

// at reports whether the rule counts in a directory; maybe, whether it may, the directory being unknown.
func (r *Rule) at(cwd string) (counts, maybe bool) {
	if len(r.Roots) == 0 {
		return true, false
	}
	if cwd == "" || hasHole(cwd) {
		return false, true
	}
	return slices.ContainsFunc(r.Roots, func(root string) bool {
		return root == "/" || cwd == root || strings.HasPrefix(cwd, root+"/")
	}), false
}

// samePlace reports two names of a file where /bin and its kind are links into /usr. Where they are not, what would be denied
// of one is denied of both.
func samePlace(a, b string) bool {
	merged := func(p string) string {
		if strings.HasPrefix(p, "/bin/") || strings.HasPrefix(p, "/sbin/") {
			return "/usr" + p
		}
		return p
	}
	return strings.HasPrefix(a, "/") && strings.HasPrefix(b, "/") && merged(a) == merged(b)
}

// isFile reports whether a relative path of a program is the file that the rule names.
func (r *Rule) isFile(program, cwd string) bool {
	return strings.HasPrefix(r.Program, "/") && strings.Contains(program, "/") && !strings.HasPrefix(program, "/") && cwd != "" && !hasHole(cwd+program) &&
		path.Join(cwd, program) == r.Program
}

// matches reports whether the rule is about a command that is run in a directory; maybe, whether what is not
// known may make it so.
func (r *Rule) matches(x *invocation, cwd string) (match, maybe bool) {
	if x.name != r.Program && x.argv[0] != r.Program && !r.isFile(x.argv[0], cwd) && (r.Decision == Allow || !samePlace(x.argv[0], r.Program)) {
		return false, false
	}
	here, perhaps := r.at(cwd)
	if !here && !perhaps {
		return false, false
	}
	match, maybe = r.names(x)
	return match && here, maybe || match && perhaps
}

// names reports whether the rule is about the words of a command.
func (r *Rule) names(x *invocation) (match, maybe bool) {
	if r.Exact {
		return slices.Equal(x.argv[1:], r.Words), false
	}
	match = true
	if len(r.Words) > 0 {
		operands := x.words[1:]
		if x.row == nil || !x.row.Stop && !sub(x) {
			operands = x.args.Operands
		} else if sub(x) {
			operands = subOperands(x)
		}
		for i, pattern := range r.usual(x.name) {
			if i >= len(operands) {
				return false, slices.ContainsFunc(operands, hasHole)
			}
			switch {
			case hasHole(operands[i]):
				maybe = true
				match = false
			case !wordMatches(pattern, operands[i]) && !(x.name == "export" && wordMatches(pattern, nameOf(operands[i]))):
				return false, maybe && strings.Contains(operands[max(0, i-1)], hole)
			}
		}
	}
	given := x.options()
	for _, o := range r.Options {
		if !slices.ContainsFunc(strings.Split(o, "|"), func(o string) bool { return x.gave(given, o) }) {
			match = false
			if !slices.ContainsFunc(x.argv[1:], func(a string) bool {
				return hasHole(a) &&
					strings.IndexAny(a, holes) == 0
			}) {
				return false, false
			}
			maybe = true
		}
	}
	return match, maybe
}

// usual are the rule's words with the subcommand in its usual form: npm i is npm install.
func (r *Rule) usual(program string) []string {
	first := strings.Split(r.Words[0], "|")
	if len(first) == 1 {
		return programs.Short(program, r.Words)
	}
	for i, word := range first {
		first[i] = programs.Full(program, word)
	}
	return append([]string{strings.Join(first, "|")}, r.Words[1:]...)
}

func wordMatches(pattern, word string) bool {
	for p := range strings.SplitSeq(pattern, "|") {
		if p == "*" || p == word || strings.HasSuffix(p, "*") && strings.HasPrefix(word, p[:len(p)-1]) {
			return true
		}
	}
	return false
}

// sub reports whether the row is one of a subcommand.
func sub(x *invocation) bool { return x.row != nil && strings.Contains(x.row.Name, x.name+" ") }

// subOperands returns the subcommand and its operands without options.
func subOperands(x *invocation) []string {
	depth := len(x.words) - 1
	out := []string{}
	for i := 1; i < len(x.words) && i <= depth; i++ {
		if !strings.HasPrefix(x.words[i], "-") {
			out = append(out, x.words[i])
		}
	}
	return out
}

// options returns the options of a command in all their spellings.
func (x *invocation) options() []string {
	var out []string
	for _, o := range x.args.Options {
		out = append(out, o.Name)
		if o.Has {
			out = append(out, o.Name+"="+o.Value)
		}
	}
	if x.name == "git" && len(x.words) > 1 && x.words[1] == "push" {
		out = append(out, x.pushOptions()...)
	}
	for _, pair := range spellings[x.name] {
		if slices.Contains(out, pair[0]) {
			out = append(out, pair[1])
		} else if slices.Contains(out, pair[1]) {
			out = append(out, pair[0])
		}
	}
	return out
}

// gave reports whether an option of a rule is among those that were given; "-rf" is two, in whatever order.
func (x *invocation) gave(given []string, option string) bool {
	if slices.Contains(given, option) {
		return true
	}
	row := x.row
	if row == nil {
		row = plain
	}
	if len(option) < 3 || option[0] != '-' || option[1] == '-' || row.OneDash {
		return false
	}
	args := row.Parse([]string{option})
	return !slices.ContainsFunc(args.Options, func(o programs.Option) bool {
		return !slices.Contains(given, o.Name) || o.Has && !slices.Contains(given, o.Name+"="+o.Value)
	})
}

// nameOf is the name in NAME=VALUE.
func nameOf(word string) string {
	name, _, _ := strings.Cut(word, "=")
	return name
}

// spellings are short and long names of the same option.
var spellings = map[string][][2]string{
	"rm":   {{"-r", "--recursive"}, {"-R", "--recursive"}, {"-f", "--force"}, {"-i", "--interactive"}},
	"git":  {{"-f", "--force"}, {"-d", "--delete"}, {"-n", "--dry-run"}, {"-a", "--all"}, {"-u", "--set-upstream"}},
	"curl": {{"-o", "--output"}, {"-k", "--insecure"}, {"-d", "--data"}, {"-X", "--request"}},
	"cp":   {{"-r", "--recursive"}, {"-R", "--recursive"}, {"-f", "--force"}}, "chmod": {{"-R", "--recursive"}},
	"chown": {{"-R", "--recursive"}}, "sed": {{"-i", "--in-place"}},
}

// pushOptions names what a refspec says: +main forces, :main deletes, which is a force too.
func (x *invocation) pushOptions() []string {
	var out []string
	for _, o := range x.args.Operands {
		if strings.HasPrefix(o, "+") || strings.HasPrefix(o, ":") {
			out = append(out, "--force", "-f")
		}
		if strings.HasPrefix(o, ":") {
			out = append(out, "--delete", "-d")
		}
	}
	if x.args.Has("--mirror", "--delete", "-d", "--prune") {
		out = append(out, "--force", "-f")
	}
	return out
}

// matchRules applies the rules that deny or ask.
func (pr *presets) matchRules(c *Command, x *invocation) {
	for i := range pr.engine.rules {
		r := &pr.engine.rules[i]
		if r.Decision == Allow {
			continue
		}
		match, maybe := r.matches(x, pr.cwd)
		switch {
		case match && r.Decision == Deny:
			pr.deny(c, r.Name, r.Why, r.Instead)
		case match && c.Verdict == Ask: // a rule says more than a preset, and is meant for persons too
			c.Rule, c.Why, c.Instead = r.Name, r.Why, r.Instead
		case match || maybe:
			if pr.ask(c, r.Name, r.Why); c.Rule == r.Name {
				c.Instead = r.Instead
			}
		}
	}
}

// exactly reports whether an exact rule answers what was asked about in a directory; not where a rule asks.
func (e *Engine) exactly(c *Command, cwd string) bool {
	if len(c.Argv) == 0 || c.Rule == "unknown" && !c.OfFile {
		return false
	}
	found := false
	for i := range e.rules {
		r := &e.rules[i]
		if r.Decision != Allow && r.Name == c.Rule {
			return false
		}
		dir, base := path.Split(c.Argv[0])
		here, _ := r.at(cwd)
		found = found || r.Decision == Allow && r.Exact && here && slices.Equal(c.Argv[1:], r.Words) &&
			(r.Program == c.Argv[0] || r.Program == base && systemPlaces[dir] || r.isFile(c.Argv[0], cwd))
	}
	return found
}
