// Package effects describes in words what commands would do, for users that decide whether to allow them.
//
//	commands with verdicts ─▶ Of: rows of table.go, of programs and of damage ─▶ Effect: words, and the files that are lost
//
// It reads no files: its caller may measure Files. Nothing here decides: a verdict is the policy's.
package effects

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/damage"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// Effect is what a command would do.
type Effect struct {
	Text  string   // such as "deletes node_modules"
	Files []string // absolute paths that it deletes or overwrites; the last element may be a pattern
}

// maxWords bounds the operands that an effect names.
const maxWords = 4

// Of returns the effects of the commands that need approval, in their order and without repeats.
func Of(commands []policy.Command) (all []Effect) {
	from := ""
	for i := range commands {
		c := parse(&commands[i])
		if slices.Contains(downloaders, c.name) && c.host() != "" {
			from = c.host()
		}
	}
	for i := range commands {
		if commands[i].Verdict == policy.Allow || len(commands[i].Argv) == 0 {
			continue
		}
		c := parse(&commands[i])
		e := c.effect(from)
		if e.Text != "" && !slices.ContainsFunc(all, func(o Effect) bool { return o.Text == e.Text }) {
			all = append(all, e)
		}
	}
	return all
}

// downloaders are programs that print data from other machines.
var downloaders = []string{"curl", "wget", "wget2", "http", "https", "xh"}

// command is a parsed command.
type command struct {
	*policy.Command
	name  string   // without its directory
	words []string // from the subcommand on
	row   *programs.Program
	args  programs.Args // arguments behind the subcommand, if it has a row
	used  int           // number of words of that subcommand
}

// parse returns a parsed command, or nil if its program is unknown.
func parse(of *policy.Command) *command {
	c := &command{Command: of}
	if len(of.Argv) == 0 {
		return c
	}
	c.name = path.Base(of.Argv[0])
	if c.row = programs.Lookup(c.name); c.row == nil {
		c.args = programs.Unknown().Parse(of.Argv[1:])
	} else {
		c.args = c.row.Parse(of.Argv[1:])
	}
	if at := c.args.FirstOperandIndex; len(c.args.Operands) > 0 && at >= 0 && at+1 < len(of.Argv) {
		c.words = programs.Short(c.name, of.Argv[at+1:])
	}
	name := c.name
	for i := 0; i < min(2, len(c.words)); i++ {
		name += " " + c.words[i]
		if sub := programs.Sub(name); sub != nil {
			c.row, c.args, c.used = sub, sub.Parse(c.words[i+1:]), i+1
		}
	}
	return c
}

// effect returns what c does. from is the machine from which the line downloads, or empty.
func (c *command) effect(from string) Effect {
	if c.Argv[0] == ">" && len(c.Argv) > 1 {
		return Effect{"writes " + quote(c.Argv[1:2]), c.files(c.Argv[1:2])}
	}
	if e := c.damage(); e.Text != "" {
		return e
	}
	for _, a := range effectRows {
		if depth, ok := c.matches(a.of); ok {
			return Effect{Text: c.fill(a.text, depth)}
		}
	}
	for _, e := range damage.Effects(c.name, c.Argv[1:], &c.args) { // less specific than the table
		if e.Kind == damage.Elsewhere && e.Why != "" {
			return Effect{Text: strings.TrimPrefix(e.Why, "it ")}
		}
	}
	unknown := c.Rule == "unknown"
	switch {
	case unknown && from != "":
		return Effect{Text: "runs a script downloaded from " + from + ", not reviewed"}
	case c.row == nil && strings.Contains(c.Argv[0], "/"):
		return Effect{Text: "runs the program " + quote(c.Argv[:1]) + ", whose effects are not known"}
	case c.row == nil && !unknown && !strings.ContainsAny(c.name, "…<=") && c.name != "":
		return Effect{Text: "runs " + quote(c.Argv[:1]) + ", a program without known effects"}
	case c.row == nil || c.row.Reads:
		return Effect{}
	case c.row.Lang != "" && len(c.args.Operands) > 0 && len(c.codeOptions()) == 0:
		return Effect{Text: "runs the script " + quote(c.args.Operands[:1]) + ", which is not checked"}
	case c.row.Lang != "" && !unknown:
		return Effect{Text: "runs " + c.name + " code, which is not checked"}
	}
	return Effect{}
}

// codeOptions returns the options of c whose value is code.
func (c *command) codeOptions() (out []programs.Option) {
	for _, o := range c.args.Options {
		if c.row.TakesCode(o.Name) || c.row.TakesShellCode(o.Name) {
			out = append(out, o)
		}
	}
	return out
}

// damage returns what c deletes and overwrites.
func (c *command) damage() Effect {
	var trees []string
	disk := c.Rule == "hard:device"
	for _, e := range damage.Effects(c.name, c.Argv[1:], &c.args) {
		switch {
		case e.Kind == damage.Elsewhere: // see effect
		case e.Why != "":
			return Effect{Text: strings.TrimPrefix(e.Why, "it ")}
		case e.Kind == damage.Disk:
			disk = true
		case e.Kind == damage.Tree:
			trees = append(trees, e.Word)
		}
	}
	for _, w := range c.Argv[1:] {
		if w = strings.TrimPrefix(w, "of="); disk && strings.HasPrefix(w, "/dev/") {
			return Effect{Text: "overwrites the disk " + quote([]string{w})}
		}
	}
	if c.row != nil && c.row.Removes == programs.AllOperands {
		trees = append(trees, c.args.Operands...)
	}
	if c.name == "find" && slices.Contains(c.Argv, "-delete") {
		return Effect{Text: "deletes the files that find matches in " + quote(c.args.Operands)}
	}
	if len(trees) > 0 {
		return Effect{"deletes " + quote(trees), c.files(trees)}
	}
	if c.row == nil || c.name == "mv" || c.name == "ln" || c.name == "scp" || c.name == "rsync" {
		return Effect{}
	}
	ops := c.args.Operands
	switch n := len(ops); c.row.WriteTo {
	case programs.AllOperands:
	case programs.LastOperand:
		ops = ops[max(0, n-1):]
	case programs.FirstOperand:
		ops = ops[:min(1, n)]
	case programs.OperandsAfterFirst:
		ops = ops[min(1, n):]
	default:
		ops = nil
	}
	if len(ops) == 0 {
		return Effect{}
	}
	return Effect{"writes " + quote(ops), c.files(ops)}
}

// matches reports whether one of the entries of a row names c, and how many words its subcommand has.
func (c *command) matches(of string) (depth int, ok bool) {
	for entry := range strings.SplitSeq(of, "|") {
		words := strings.Fields(entry)
		depth, ok = 0, words[0] == c.name
		for _, w := range words[1:] {
			switch {
			case strings.HasPrefix(w, "-"):
				ok = ok && (c.args.Has(w) || slices.Contains(c.Argv, w))
			case depth < len(c.words) && c.words[depth] == w:
				depth++
			default:
				ok = false
			}
		}
		if ok {
			return depth, true
		}
	}
	return 0, false
}

// fill returns text with the words of c. A part without words is omitted.
func (c *command) fill(text string, depth int) string {
	ops := c.args.Operands
	if depth > c.used {
		row := c.row
		if row == nil {
			row = programs.Unknown()
		}
		ops = row.Parse(c.words[depth:]).Operands
	}
	for name, word := range map[string]string{"{}": quote(ops), "{first}": quote(ops[:min(1, len(ops))]), "{host}": c.host(), "{rest}": quote(c.Argv[1:])} {
		if word == "" && name == "{host}" {
			word = "another machine"
		}
		if word == "" {
			text = strings.NewReplacer(": "+name, "", " "+name, "").Replace(text)
		}
		text = strings.ReplaceAll(text, name, word)
	}
	return text
}

// host returns the machine that c names, or "".
func (c *command) host() string {
	for _, o := range c.Argv[min(1, len(c.Argv)):] {
		if u, err := url.Parse(o); err == nil && u.Host != "" {
			return u.Host
		}
	}
	switch {
	case len(c.args.Operands) == 0:
	case c.name == "ssh" || c.name == "mosh" || c.name == "autossh":
		return c.args.Operands[0]
	case slices.Contains(downloaders, c.name):
		host, _, _ := strings.Cut(c.args.Operands[0], "/")
		return host
	}
	return ""
}

// files returns the absolute paths of words whose text is known.
func (c *command) files(words []string) (out []string) {
	for _, w := range words {
		if !path.IsAbs(w) && c.Dir != "" && !strings.HasPrefix(w, "~") {
			w = path.Join(c.Dir, w)
		}
		if path.IsAbs(w) && !strings.Contains(w, "…") {
			out = append(out, w)
		}
	}
	return out
}

// quote returns words for a sentence, at most maxWords of them.
func quote(words []string) string {
	more := ""
	if len(words) > maxWords {
		words, more = words[:maxWords], " …"
	}
	short := make([]string, len(words))
	for i, w := range words {
		if r := []rune(w); len(r) > maxWord {
			w = string(r[:maxWord/3]) + "…" + string(r[len(r)-maxWord*2/3+1:]) // names differ at their ends
		}
		short[i] = w
	}
	return strings.Join(short, " ") + more
}

// maxWord bounds the characters of a word in an effect.
const maxWord = 60
