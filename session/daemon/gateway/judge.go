package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Judge looks up what the rules say of an asking: it waits for nobody and records nothing. What a preset
// asks about is allowed to a person without --policy, who typed it; --yes allows what would be asked about.
// Neither gets past a denial.
func (g *Gateway) Judge(a Ask) policy.Judgement {
	asked, kept := a.Policy, a.Kept
	if a.Policy, a.seen, a.verdicts = "", new(rulebook.Seen), &g.verdicts; a.inEffect == nil {
		a.inEffect = map[ruledBy]inEffect{}
	}
	j := g.judge(&a)
	for _, a.Policy = range []string{kept, asked, a.Actor.Policy} { // they can only be stricter than what holds without them
		if a.Policy == "" {
			continue
		}
		j = both(j, g.judge(&a))
	}
	if j.Verdict != policy.Deny && a.unlisted() {
		if d := a.difference(); d.Verdict >= j.Verdict { // rules do not lift it, nor what is answered about them
			d.Risk = j.Risk
			for i := range d.Commands {
				d.Commands[i].Risk = j.Risk // which is no smaller for that
			}
			j = d
		}
	}
	if j.Cut && j.Verdict != policy.Deny && a.unfinished() {
		j.Verdict, j.Rule, j.Words = policy.Deny, "incomplete", a.Line
		j.Why = "the line is not complete: the shell would wait for the rest of it"
		j.Instead = "Give the whole statement at once, as in `if true; then make; fi`; what has several lines as one text with line breaks, or as a file."
	}
	if j.Verdict == policy.Ask && a.Yes {
		j.Verdict = policy.Allow
	}
	if j.Verdict != policy.Deny {
		if b, ok := g.bound(&a); ok {
			return b
		}
	}
	return j
}

// both is the stricter of two judgements of the same. Where both ask, a person is shown the questions of either: an answer is about
// all that is asked.
func both(j, p policy.Judgement) policy.Judgement {
	if p.Verdict > j.Verdict {
		j, p = p, j
	}
	if j.Verdict != policy.Ask || p.Verdict != policy.Ask {
		return j
	}
	j.Commands = slices.Clone(j.Commands)
	for _, c := range p.Commands {
		i := slices.IndexFunc(j.Commands, func(o policy.Command) bool { return o.Dir == c.Dir && slices.Equal(o.Argv, c.Argv) })
		switch {
		case i >= 0 && j.Commands[i].Verdict == policy.Allow:
			j.Commands[i] = c
		case i < 0:
			j.Commands = append(j.Commands, c)
		}
	}
	j.Unread = j.Unread && p.Unread
	j.Cut = j.Cut || p.Cut
	return j
}

// JudgeAgain looks up what the rules say now of a line that was asked for before: with what other lines have left in its
// shell since then. It waits for nobody and records nothing.
func (g *Gateway) JudgeAgain(ctx context.Context, a Ask) policy.Judgement {
	a.Yes = g.yesOf(&a)
	a.earlier = g.earlier(ctx, &a, false)
	return g.Judge(a)
}

// bound is why something is refused whatever the rules say: a program that takes the whole screen has none, or
// a session is to start outside of the directories for them.
func (g *Gateway) bound(a *Ask) (policy.Judgement, bool) {
	if a.Kind == Command && g.c.Start != nil {
		if err := g.c.Start(a.Cwd); err != nil {
			j := policy.Judgement{Verdict: policy.Deny, Rule: "roots", Words: a.Cwd, Why: err.Error()}
			var e *api.Error
			if errors.As(err, &e) {
				j.Why, j.Instead = e.Message, e.Hint
			}
			return j, true
		}
	}
	if !a.Pipe || a.Kind != Command && a.Kind != Line {
		return policy.Judgement{}, false
	}
	l := policy.Line{Text: a.Line, Shell: a.Shell, Cwd: a.Cwd, Home: a.Home}
	if a.Kind == Command && len(a.Argv) > 0 {
		l.Text, l.Shell = quoted(a.Argv), ""
	}
	words := policy.Screen(l)
	return policy.Judgement{
		Verdict: policy.Deny, Rule: "screen", Words: words, Why: "it takes the whole screen, and is given pipes instead of a terminal",
		Instead: policy.InsteadOfScreen(words),
	}, words != ""
}

// unfinished says that nobody is asked about half a line: who gave it is to give all of it. What is half a line to a shell
// may be a whole one to the program that reads it.
func (a *Ask) unfinished() bool {
	if a.readCode() {
		return false
	}
	return held(&a.Actor) && a.Line != "" && a.Opaque == "" && (a.Kind == Line || a.Kind == Command && len(a.Argv) == 0)
}

// readCode says that a line is read by programs that are no shells, and whose languages are known.
func (a *Ask) readCode() bool { return ReadCode(a.Readers) }

// ReadCode says that programs are known not to be shells, and to read code.
func ReadCode(readers []string) bool {
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(name string) bool { return !policy.ReadsCode(name) })
}

// unlisted says that a sandbox profile lists programs, and this is none of them.
func (a *Ask) unlisted() bool {
	return a.Kind == Execution && len(a.Programs) > 0 &&
		!slices.ContainsFunc(a.Programs, func(p string) bool { return a.Path == p || strings.HasPrefix(a.Path, strings.TrimSuffix(p, "/")+"/") })
}

// ruleSandbox is the rule of what a sandbox profile does not list.
const ruleSandbox = "sandbox"

// unlistedIn says that a command is asked about because a sandbox profile does not list it.
func unlistedIn(c policy.Command) bool { return c.Verdict == policy.Ask && c.Rule == ruleSandbox }

// difference is what becomes of a program that a sandbox profile does not list.
func (a *Ask) difference() policy.Judgement {
	j := policy.Judgement{
		Verdict: policy.Deny, Rule: ruleSandbox, Words: strings.Join(a.Argv, " "), Why: "the sandbox profile does not list " + a.Path,
		Instead: "Use a program that it lists; a person adds others to `programs` of the profile, or learns it again with --observe.",
	}
	if a.Differ {
		j.Verdict = policy.Ask
		j.Commands = []policy.Command{{Argv: a.Argv, Verdict: policy.Ask, Rule: j.Rule, Why: j.Why}}
	}
	return j
}

// Check says what is wrong with a name that --policy gives; empty is none, and right.
func (g *Gateway) Check(name string) error {
	if name == "" {
		return nil
	}
	if err := g.c.Rules.Known(name); err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint("`longterm policy --help` tells of policies")
	}
	return nil
}

// judge asks the engine for the subject.
func (g *Gateway) judge(a *Ask) policy.Judgement {
	switch a.Kind {
	case Line, Execution:
		j := g.judgeText(a)
		if a.Kind == Execution {
			j = g.judgeBesides(a, j)
		}
		if a.readCode() && j.Unread && j.Verdict == policy.Ask {
			j = policy.Judgement{} // it was asked about because it is nothing to the shell
		}
		for _, name := range a.Readers {
			b := *a
			b.Shell, b.earlier = ReaderName(name), nil // what earlier lines left is the shell's
			if p := g.judgeText(&b); p.Verdict >= j.Verdict {
				j = p
			}
		}
		return g.unless(a, j)
	case Command:
		return g.unless(a, g.judgeBesides(a, g.judgeText(a)))
	case Network:
		return policy.Judgement{Verdict: policy.Ask, Rule: "network", Words: a.Path, Why: "it connects to another machine"}
	default: // a person who asks for it has decided it
		j := policy.Judgement{Rule: string(a.Kind), Words: a.Path, Why: "only a person decides it"}
		if held(&a.Actor) || a.Policy != "" {
			j.Verdict = policy.Ask
		}
		return j
	}
}

// unless has what would be allowed asked about where it may be another thing than it says.
func (g *Gateway) unless(a *Ask, j policy.Judgement) policy.Judgement {
	if a.Opaque == "" || j.Verdict != policy.Allow {
		return j
	}
	if _, src := g.rulesFor(a); src.Preset != policy.Off {
		j = policy.Judgement{Verdict: policy.Ask, Rule: ruleUnknown, Words: firstOf(a.Line, quoted(a.Argv)), Why: a.Opaque}
	}
	return j
}

// ruleUnknown is the rule of what is asked about because it is not known.
const ruleUnknown = "unknown"

// judgeBesides is the strictest of what is said of an execution or a command, of what it runs besides, and of what its
// words really are.
func (g *Gateway) judgeBesides(a *Ask, j policy.Judgement) policy.Judgement {
	for i, words := range slices.Concat(a.Also, a.Scripts) {
		b := *a
		b.Path, b.Argv, b.Link = words[0], words, "" // the name that it was executed by is not its interpreter's
		p := g.judgeText(&b)
		if i >= len(a.Also) && a.Link != "" && p.Verdict == policy.Ask && slices.Contains(ofPresets, p.Rule) {
			continue // root's own script was judged by its name; what rules say of the interpreter holds
		}
		if i < len(a.Also) && a.twice(words) && j.Verdict == policy.Allow && slices.Contains(ofPresets[1:], p.Rule) {
			continue
		}
		if p.Verdict > j.Verdict && (i < len(a.Also) || p.Verdict == policy.Deny || p.Rule != ruleUnknown) {
			j = p
		}
	}
	for _, b := range a.besides() {
		if p := g.judgeText(&b); p.Verdict > j.Verdict {
			j = p
		}
	}
	return j
}

// twice reports a program that the system has in two places under one name, as git has itself among its subcommands: where a
// preset allows it by its own place, what it is in the other one is no question. Rules about either hold.
func (a *Ask) twice(words []string) bool {
	return a.Kind == Execution && (strings.HasPrefix(a.Path, "/usr/lib/") || strings.HasPrefix(a.Path, "/usr/libexec/")) &&
		filepath.Base(words[0]) == filepath.Base(a.Path) && slices.Equal(words[1:], a.Argv[min(1, len(a.Argv)):])
}

// judgeText asks the engine about words.
func (g *Gateway) judgeText(a *Ask) policy.Judgement {
	engine, src := g.rulesFor(a)
	if a.Kind == Execution && (a.Nameless || strings.HasPrefix(a.Path, "/memfd:")) && src.Preset != policy.Off {
		return policy.Judgement{
			Verdict: policy.Deny, Rule: "unknown", Words: strings.Join(append([]string{a.Path}, a.Argv...), " "),
			Why: "the program is in memory only, or its file was removed, and there is no name by which it could be judged", Instead: "Put it into a file, and execute that.",
		}
	}
	if src.Preset == policy.Off { // nobody gets past what destroys the machine
		if j := a.judgedBy(hard()); j.Verdict == policy.Deny {
			return j
		}
	}
	return src.Soften(a.judgedBy(engine))
}

// hard is the preset by itself.
var hard = sync.OnceValue(func() *policy.Engine {
	e, err := policy.New(policy.Options{Preset: policy.Hard})
	if err != nil {
		panic("gateway: " + err.Error()) // it is built in
	}
	return e
})

// ruledBy is all in which an asking and what it is taken for besides can differ for the choice of rules.
type ruledBy struct{ policy, cwd, home string }

// inEffect are rules that were looked up: files are looked at for it.
type inEffect struct {
	engine  *policy.Engine
	sources *rulebook.Sources
}

// rulesFor are the rules in effect for an asking. They stay the same while it is judged.
func (g *Gateway) rulesFor(a *Ask) (*policy.Engine, *rulebook.Sources) {
	by := ruledBy{a.Policy, a.Cwd, a.Home}
	r, ok := a.inEffect[by]
	if !ok {
		r.engine, r.sources = g.c.Rules.For(a.subject(a.Policy))
		if a.inEffect != nil {
			a.inEffect[by] = r
		}
	}
	return r.engine, r.sources
}

// subject is whom and what rules are chosen for.
func (a *Ask) subject(name string) rulebook.Subject {
	return rulebook.Subject{
		Agent: a.Actor.Agent, Session: firstOf(a.Name, a.Session), Labels: a.Labels, Cwd: a.Cwd, Home: a.Home, Policy: name, Real: a.Real, Seen: a.seen,
	}
}

// judgedBy is what an engine says of it.
func (a *Ask) judgedBy(engine *policy.Engine) policy.Judgement {
	line := policy.Line{Text: a.Line, Shell: a.Shell, Cwd: a.Cwd, Home: a.Home, State: a.earlier}
	if a.Kind != Line && len(a.Argv) == 0 && (a.Kind == Execution || a.Line == "") { // nothing can be said of it
		return policy.Judgement{Verdict: policy.Deny, Rule: "unknown", Words: a.Path, Why: "it has no words"}
	}
	if a.Kind == Line || a.Kind == Command && len(a.Argv) == 0 {
		line.Real = rulebook.Links()
		return engine.Judge(line)
	}
	line.Text = ""
	if line.Installed = a.Installed; a.Kind == Execution {
		line.Account = account()
	}
	if a.Script && len(a.Argv) > 1 {
		// bash FILE: what a preset would ask was asked of FILE; what rules say of bash counts.
		j := a.verdicts.argv(engine, a.Path, a.Argv, line)
		if j.Verdict == policy.Allow || j.Verdict == policy.Ask && slices.Contains(ofPresets, j.Rule) {
			return a.verdicts.argv(engine, a.Argv[1], a.Argv[1:], line)
		}
		return j
	}
	if j, ok := a.byLink(engine, line); ok {
		return j
	}
	file, argv := firstOf(a.Path, a.Argv[0]), a.Argv
	if own := executable(); own != "" && file == own { // whatever its file is called
		file, argv = filepath.Join(filepath.Dir(own), "longterm"), append([]string{"longterm"}, argv[1:]...)
	}
	return a.judgeScriptFile(engine, a.verdicts.argv(engine, file, argv, line), line)
}

// judgeScriptFile allows the execution of a shell with a script file, as sh x.sh, if the rules allow ./x.sh: both do the same, and
// each program that the script executes is judged. j is the judgement of the shell itself, which it returns otherwise.
func (a *Ask) judgeScriptFile(engine *policy.Engine, j policy.Judgement, line policy.Line) policy.Judgement {
	if a.Kind != Execution || j.Verdict != policy.Ask || len(a.Argv) < 2 || strings.HasPrefix(a.Argv[1], "-") {
		return j
	}
	if slices.ContainsFunc(j.Commands, func(c policy.Command) bool { return c.Verdict == policy.Ask && !c.OfFile }) {
		return j
	}
	file := a.Argv[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Cwd, file)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return j
	}
	if f := a.verdicts.argv(engine, file, append([]string{file}, a.Argv[2:]...), line); f.Verdict == policy.Allow {
		return f
	}
	return j
}

// byLink is what an engine says of a program that the system has under a name that leads elsewhere, as /usr/bin/npm does;
// false where that name makes no difference: rules that deny or ask about the file itself hold.
func (a *Ask) byLink(engine *policy.Engine, line policy.Line) (policy.Judgement, bool) {
	if a.Link == "" || a.Path == "" {
		return policy.Judgement{}, false
	}
	j := a.verdicts.argv(engine, a.Path, a.Argv, line)
	if j.Verdict != policy.Ask || !slices.Contains(ofPresets[1:], j.Rule) {
		return j, true
	}
	return a.verdicts.argv(engine, a.Link, a.Argv, line), true
}

// account is the home directory of our account, whatever HOME says; empty: it is not known.
var account = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil || u.HomeDir == "/" {
		return ""
	}
	return u.HomeDir
})

// executable is our own file; empty: it is not known.
var executable = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return ""
	}
	return path
})

// ofPresets name what presets ask about, whatever is run.
var ofPresets = []string{"unknown", "not reading", "not listed"}

// quoted is argv as a line that a shell reads as these words.
func quoted(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = shellquote.Word(w)
	}
	return strings.Join(words, " ")
}

// ShellName is what the engine calls the shell that a program is; "" is one that reads as bash does.
func ShellName(program string) string {
	switch name := strings.TrimPrefix(filepath.Base(program), "-"); name {
	case "zsh", "fish", "mksh", "bash":
		return name
	case "ksh", "ksh93", "oksh", "lksh":
		return "mksh"
	case "sh", "dash", "ash", "busybox":
		return "sh"
	case "pwsh", "powershell":
		return "powershell"
	}
	return ""
}

// ReaderName is what the engine calls the program of a session that lines are typed into: a shell as ShellName
// has it, python and psql by their names.
func ReaderName(program string) string {
	name := strings.TrimPrefix(filepath.Base(program), "-")
	if shell := ShellName(program); shell != "" || name == "." || name == "/" {
		return shell
	}
	return name
}

// view is a judgement as clients see it.
func view(j policy.Judgement) api.Judgement {
	v := api.Judgement{Verdict: j.Verdict.String(), Rule: j.Rule, Words: bounded(j.Words, maxWord), Why: j.Why, Instead: j.Instead}
	for _, c := range j.Commands[:min(len(j.Commands), maxShown)] {
		v.Commands = append(v.Commands, api.Judged{Argv: boundedWords(c.Argv), Verdict: c.Verdict.String(), Rule: c.Rule, Why: c.Why})
	}
	return v
}

// maxShown bounds the commands of a judgement that clients are sent and records keep.
const maxShown = 100

// denied is the error for what the rules deny.
func denied(j policy.Judgement) *api.Error {
	e := api.Errorf(api.CodeDenied, "Blocked: %s: %s (rule %s)", firstOf(j.Why, "the rules do not allow it"), inLine(j.Words), j.Rule)
	e.Hint = firstOf(j.Instead, api.CodeDenied.Hint())
	v := view(j)
	e.Policy = &v
	return e
}

// rejected is the error for what a person did not allow.
func rejected(a *api.Approval) *api.Error {
	who := "the person who was asked"
	if a.By != nil {
		who = a.By.String()
	}
	e := api.Errorf(api.CodeRejected, "Rejected by %s (approval %s)", who, a.ID)
	e.Hint = firstOf(a.Judgement.Instead, api.CodeRejected.Hint())
	if a.Feedback != "" {
		e.Message = fmt.Sprintf("Rejected by %s (approval %s): %s", who, a.ID, inLine(a.Feedback))
	}
	j := a.Judgement
	e.Policy, e.Approval = &j, a.ID
	return e
}

// Needed is the error for who wants to know at once that a person has to allow it.
func Needed(a *api.Approval) *api.Error {
	e := api.Errorf(api.CodeNeedsApproval, "a person has to allow it: %s: %s (approval %s)", a.Judgement.Why, inLine(a.Judgement.Words), a.ID).
		WithHint("`longterm approvals answer %s once` allows it; ask again with the same id to wait for the answer", a.ID)
	j := a.Judgement
	e.Policy, e.Approval = &j, a.ID
	return e
}

// inLine is hostile text as part of a message: short, in one line, without what acts on a terminal.
func inLine(s string) string {
	const most = 200
	var b strings.Builder
	n := 0
	for _, r := range plaintext.Literal(s) {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

func firstOf(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
