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
// Words are compared by position with the operands, options in any place: the rule {Program: "git", Words: ["push"],
// Options: ["--force"]} also covers "git -C x push origin main -f".
//
// A Program with a slash is the file at that path; one without is the program of that name, which an allow rule finds
// only in system directories. An Exact allow rule is a user's answer to a request: it also lifts a preset's
// requirement, unlike other allow rules. Nothing lifts a denial.
type Rule struct {
	Name     string   // name in judgements; "": the decision and the words
	Program  string   // without a directory
	Words    []string // operands at the beginning; "*" is any word, "a|b" one of several, a final "*" in a word any end
	Options  []string // all must be given; "-f|--force" is one of several
	Exact    bool     // the command has exactly these words; Options are unused
	Roots    []string // absolute directories: the rule counts there and below; nil: anywhere
	Decision Verdict
	Draft    bool   // with Ask: the verdict is draft
	Why      string // one sentence for the user or agent that is refused
	Instead  string // what to do instead

	Match    []string // lines that the rule must decide, checked by New
	NotMatch []string // lines that it must leave alone, checked by New
}

// VerdictText returns the verdict of the rule as files have it.
func (r *Rule) VerdictText() string {
	if r.Draft {
		return Draft
	}
	return r.Decision.String()
}

// ParseRule parses a rule such as "git push --force", whose first word is the program. A rule with exact words has the
// form of String: "exactly rm -rf 'my build'".
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
	if r.hasUnwritable() {
		return Rule{}, fmt.Errorf("policy: the rule %q: %w", text, errUnwritable)
	}
	if v != Allow {
		r.Why = "rule " + r.Name
	}
	return r, nil
}

// ruleOf returns the rule for some words, the program first.
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
		return r.withUsualName()
	}
	r.Name = v.String() + " " + strings.Join(words, " ")
	return r
}

// SplitWords splits a rule's text at blanks, with a shell's quotes and backslashes, including $'…' for invisible
// characters. It expands nothing.
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
			word.WriteString(unescape(text[i+2:end], true))
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

// errUnwritable rejects a rule with one of the marks.
var errUnwritable = errors.New("a rule cannot contain the control characters \\x00 to \\x05; remove them")

// Unwritable reports whether a text has a character that no rule can contain: a zero byte, or one of the engine's marks
// for unknown text.
func Unwritable(text string) bool { return strings.ContainsAny(text, "\x00"+holes+globs) }

// hasUnwritable reports whether the rule has such a character.
func (r *Rule) hasUnwritable() bool {
	return slices.ContainsFunc(slices.Concat([]string{r.Program}, r.Words, r.Options), Unwritable)
}

// EscapedEnd returns the closing quotation mark of $'…' at a place of a text, or -1.
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
			if end := EscapedEnd(text, i); end > 0 { // otherwise the rule's parser reports a missing end
				i = end
			}
		case quote == 0 && (text[i] == '\'' || text[i] == '"'):
			quote = text[i]
		}
	}
	return rules, nil
}

// check verifies the rule's examples.
func (r *Rule) check() error {
	if r.Program == "" || strings.ContainsAny(r.Program, " \t") {
		return fmt.Errorf("policy: rule %q names no program", r.Name)
	}
	if r.hasUnwritable() {
		return fmt.Errorf("policy: rule %q: %w", r.Name, errUnwritable)
	}
	if r.Name == "" {
		r.Name = r.String()
	}
	if r.Decision != Allow && r.Why == "" {
		r.Why = "rule " + r.Name
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
			return fmt.Errorf("policy: rule %q must match %q, but the verdict is %s%s", r.Name, line, j.Verdict, why)
		}
	}
	for _, line := range r.NotMatch {
		if j := alone.Judge(Line{Text: line}); (j.Verdict == Allow) != (r.Decision != Allow) {
			return fmt.Errorf("policy: rule %q must not match %q, but the verdict is %s", r.Name, line, j.Verdict)
		}
	}
	return nil
}

// appliesIn reports whether the rule counts in a directory; maybe reports whether it may count in an unknown directory.
func (r *Rule) appliesIn(cwd string) (counts, maybe bool) {
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

// isSameFile reports whether two names are the same file where /bin and similar directories are links into /usr. On
// other systems, rules about one name also count for the other.
func isSameFile(a, b string) bool {
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

// matches reports whether the rule is about a command that is run in a directory; maybe reports whether unknown parts
// may make it so.
func (r *Rule) matches(x *invocation, cwd string) (match, maybe bool) {
	if x.name != r.Program && x.argv[0] != r.Program && !r.isFile(x.argv[0], cwd) && (r.Decision == Allow || !isSameFile(x.argv[0], r.Program)) {
		return false, false
	}
	here, perhaps := r.appliesIn(cwd)
	if !here && !perhaps {
		return false, false
	}
	match, maybe = r.matchesWords(x)
	return match && here, maybe || match && perhaps
}

// matchesWords reports whether the rule is about the words of a command.
func (r *Rule) matchesWords(x *invocation) (match, maybe bool) {
	if r.Exact {
		return slices.Equal(x.argv[1:], r.Words), false
	}
	match = true
	if len(r.Words) > 0 {
		operands := x.words[1:]
		if x.row == nil || !x.row.Stop && !isSubcommand(x) {
			operands = x.args.Operands
		} else if isSubcommand(x) {
			operands = subOperands(x)
		}
		for i, pattern := range r.usualWords(x.name) {
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
		if !slices.ContainsFunc(strings.Split(o, "|"), func(o string) bool { return x.hasOption(given, o) }) {
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

// usualWords returns the rule's words with the subcommand in its usual form: npm i is npm install.
func (r *Rule) usualWords(program string) []string {
	first := strings.Split(r.Words[0], "|")
	if len(first) == 1 {
		return programs.Short(program, r.Words)
	}
	for i, word := range first {
		first[i] = programs.Full(program, word)
	}
	return append([]string{strings.Join(first, "|")}, r.Words[1:]...)
}

// wordMatches reports whether a word matches a rule's word.
func wordMatches(pattern, word string) bool {
	for p := range strings.SplitSeq(pattern, "|") {
		if p == "*" || p == word || strings.HasSuffix(p, "*") && strings.HasPrefix(word, p[:len(p)-1]) {
			return true
		}
	}
	return false
}

// isSubcommand reports whether the invocation's table row is for a subcommand.
func isSubcommand(x *invocation) bool {
	return x.row != nil && strings.Contains(x.row.Name, x.name+" ")
}

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
		if o.HasValue {
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

// hasOption reports whether an option of a rule is among the given ones; "-rf" is two, in any order.
func (x *invocation) hasOption(given []string, option string) bool {
	if slices.Contains(given, option) {
		return true
	}
	row := x.row
	if row == nil {
		row = unknownProgram
	}
	if len(option) < 3 || option[0] != '-' || option[1] == '-' || row.OneDash {
		return false
	}
	args := row.Parse([]string{option})
	return !slices.ContainsFunc(args.Options, func(o programs.Option) bool {
		return !slices.Contains(given, o.Name) || o.HasValue && !slices.Contains(given, o.Name+"="+o.Value)
	})
}

// nameOf returns the name in NAME=VALUE.
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

// pushOptions returns the options that refspecs imply: +main forces, :main deletes, which also forces.
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
	asks := false // a rule with the verdict ask has matched, which is stricter than draft
	for i := range pr.engine.rules {
		r := &pr.engine.rules[i]
		if r.Decision == Allow {
			continue
		}
		match, maybe := r.matches(x, pr.cwd)
		if r.Draft && asks {
			continue
		}
		asks = asks || (match || maybe) && r.Decision == Ask && !r.Draft
		switch {
		case match && r.Decision == Deny:
			pr.deny(c, r.Name, r.Why, r.Instead)
		case match && c.Verdict == Ask, maybe && c.Verdict == Ask && strings.HasPrefix(c.Rule, "hard:"):
			// a rule outranks a preset and also applies to users
			c.Rule, c.Why, c.Instead = r.Name, r.Why, r.Instead
		case match || maybe:
			if pr.ask(c, r.Name, r.Why); c.Rule == r.Name {
				c.Instead = r.Instead
			}
		}
	}
}

// isDraft reports whether the verdict on a command that needs approval is draft: that of its rule, or of the preset. Questions of
// hard stay questions.
func (e *Engine) isDraft(c *Command) bool {
	for i := range e.rules {
		if r := &e.rules[i]; r.Decision != Allow && r.Name == c.Rule {
			return r.Draft
		}
	}
	return e.drafts && !strings.HasPrefix(c.Rule, "hard:") && !strings.HasSuffix(c.Why, holdsSecrets)
}

// exactlyAllowed reports whether an exact rule allows the command in a directory, and no rule asks.
func (e *Engine) exactlyAllowed(c *Command, cwd string) bool {
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
		here, _ := r.appliesIn(cwd)
		found = found || r.Decision == Allow && r.Exact && here && slices.Equal(c.Argv[1:], r.Words) &&
			(r.Program == c.Argv[0] || r.Program == base && systemProgramDirs[dir] || r.isFile(c.Argv[0], cwd))
	}
	return found
}
