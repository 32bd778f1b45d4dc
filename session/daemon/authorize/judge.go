package authorize

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

// Judge evaluates a request by the rules. It does not wait and records nothing. A user without --policy is not asked
// about the findings of presets; --yes allows what would need approval. Neither overrides a denial.
func (g *Gateway) Judge(a Request) policy.Judgement {
	asked, kept := a.Policy, a.Kept
	if a.Policy, a.seen, a.verdicts = "", new(rulebook.LookupCache), &g.verdicts; a.inEffect == nil {
		a.inEffect = map[ruleKey]inEffect{}
	}
	j := g.judge(&a)
	for _, a.Policy = range []string{kept, asked, a.Actor.Policy} { // they can only be stricter than what holds without them
		if a.Policy == "" {
			continue
		}
		j = stricter(j, g.judge(&a))
	}
	if j.Verdict != policy.Deny && a.isUnlisted() {
		if d := a.unlistedJudgement(); d.Verdict >= j.Verdict { // rules do not lift it, nor what is answered about them
			d.Risk = j.Risk
			for i := range d.Commands {
				d.Commands[i].Risk = j.Risk // which is no smaller for that
			}
			j = d
		}
	}
	if j.IsIncomplete && j.Verdict != policy.Deny && a.isUnfinished() {
		j.Verdict, j.Rule, j.Words = policy.Deny, "incomplete", a.Line
		j.Why = "the line is not complete: the shell would wait for the rest of it"
		j.Instead = "Give the whole statement at once, as in `if true; then make; fi`; what has several lines as one text with line breaks, or as a file."
	}
	if j.Verdict == policy.Ask && a.Yes {
		j.Verdict = policy.Allow
	}
	if j.Verdict != policy.Deny {
		if b, ok := g.unliftableRefusal(&a); ok {
			return b
		}
	}
	return j
}

// stricter returns the stricter of two judgements of the same request. If both require approval, the result has the
// commands of both, because an answer covers all of them.
func stricter(j, p policy.Judgement) policy.Judgement {
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
		case i >= 0:
			j.Commands[i].Draft = j.Commands[i].Draft && (c.Draft || c.Verdict == policy.Allow)
		case i < 0:
			j.Commands = append(j.Commands, c)
		}
	}
	j.IsUnparsable = j.IsUnparsable && p.IsUnparsable
	j.IsIncomplete = j.IsIncomplete || p.IsIncomplete
	return j
}

// Reevaluate judges an earlier line by the current rules and the current state of its shell. It does not wait and
// records nothing.
func (g *Gateway) Reevaluate(ctx context.Context, a Request) policy.Judgement {
	a.Yes = g.honorsYes(&a)
	a.priorState = g.priorShellState(ctx, &a, false)
	return g.Judge(a)
}

// unliftableRefusal returns a refusal that no rule can lift: a full-screen program in a session on pipes, or a session
// outside the permitted directories.
func (g *Gateway) unliftableRefusal(a *Request) (policy.Judgement, bool) {
	if a.Kind == Command && g.c.CheckStartDir != nil {
		if err := g.c.CheckStartDir(a.Cwd); err != nil {
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
		l.Text, l.Shell = quoteWords(a.Argv), ""
	}
	words := policy.FullScreenCommand(l)
	return policy.Judgement{
		Verdict: policy.Deny, Rule: "screen", Words: words, Why: "it takes the whole screen, and is given pipes instead of a terminal",
		Instead: policy.FullScreenAlternative(words),
	}, words != ""
}

// isUnfinished reports whether an incomplete line is refused instead of asked about: the caller has to send all of it.
// A line that is incomplete for a shell may be complete for another program.
func (a *Request) isUnfinished() bool {
	if a.isReadByInterpreters() {
		return false
	}
	return boundByPolicy(&a.Actor) && a.Line != "" && a.Opaque == "" && (a.Kind == Line || a.Kind == Command && len(a.Argv) == 0)
}

// isReadByInterpreters reports whether the line is read by interpreters of known languages instead of shells.
func (a *Request) isReadByInterpreters() bool { return AreInterpreters(a.Readers) }

// AreInterpreters reports whether programs are known interpreters that are no shells.
func AreInterpreters(readers []string) bool {
	return len(readers) > 0 && !slices.ContainsFunc(readers, func(name string) bool { return !policy.ReadsCode(name) })
}

// isUnlisted reports whether the sandbox profile lists programs, but not this one.
func (a *Request) isUnlisted() bool {
	return a.Kind == Execution && len(a.Programs) > 0 &&
		!slices.ContainsFunc(a.Programs, func(p string) bool { return a.Path == p || strings.HasPrefix(a.Path, strings.TrimSuffix(p, "/")+"/") })
}

// ruleSandbox is the rule for programs that a sandbox profile does not list.
const ruleSandbox = "sandbox"

// isUnlistedCommand reports whether a command needs approval because a sandbox profile does not list it.
func isUnlistedCommand(c policy.Command) bool {
	return c.Verdict == policy.Ask && c.Rule == ruleSandbox
}

// unlistedJudgement returns the judgement of a program that the sandbox profile does not list.
func (a *Request) unlistedJudgement() policy.Judgement {
	j := policy.Judgement{
		Verdict: policy.Deny, Rule: ruleSandbox, Words: strings.Join(a.Argv, " "), Why: "the sandbox profile does not list " + a.Path,
		Instead: "Use a program that it lists; the user can add others to `programs` of the profile, or learn it again with --observe.",
	}
	if a.Differ {
		j.Verdict = policy.Ask
		j.Commands = []policy.Command{{Argv: a.Argv, Verdict: policy.Ask, Rule: j.Rule, Why: j.Why}}
	}
	return j
}

// Check validates a --policy name; "" is valid.
func (g *Gateway) Check(name string) error {
	if name == "" {
		return nil
	}
	if err := g.c.Rules.CheckPolicyName(name); err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint("`longterm policy --help` describes policies")
	}
	return nil
}

// judge evaluates the request according to its kind.
func (g *Gateway) judge(a *Request) policy.Judgement {
	switch a.Kind {
	case Line, Execution:
		j := g.judgeText(a)
		if a.Kind == Execution {
			j = g.judgeVariants(a, j)
		}
		if a.isReadByInterpreters() && j.IsUnparsable && j.Verdict == policy.Ask {
			j = policy.Judgement{} // it needed approval only because it is no shell code
		}
		for _, name := range a.Readers {
			b := *a
			b.Shell, b.priorState = ReaderName(name), nil // what earlier lines left is the shell's
			if p := g.judgeText(&b); p.Verdict >= j.Verdict {
				j = p
			}
		}
		return g.askIfOpaque(a, j)
	case Command:
		return g.askIfOpaque(a, g.judgeVariants(a, g.judgeText(a)))
	case Network:
		return policy.Judgement{Verdict: policy.Ask, Rule: "network", Words: a.Path, Why: "it connects to another machine"}
	default: // approved by the request of a user
		j := policy.Judgement{Rule: string(a.Kind), Words: a.Path, Why: "reserved for users"}
		if boundByPolicy(&a.Actor) || a.Policy != "" {
			j.Verdict = policy.Ask
		}
		return j
	}
}

// askIfOpaque requires approval for an allowed line whose text may differ from what runs.
func (g *Gateway) askIfOpaque(a *Request, j policy.Judgement) policy.Judgement {
	if a.Opaque == "" || j.Verdict != policy.Allow {
		return j
	}
	if _, src := g.rulesFor(a); src.Preset != policy.Off {
		j = policy.Judgement{Verdict: policy.Ask, Rule: ruleUnknown, Words: firstNonEmpty(a.Line, quoteWords(a.Argv)), Why: a.Opaque}
	}
	return j
}

// ruleUnknown is the rule for what cannot be determined.
const ruleUnknown = "unknown"

// judgeVariants returns the strictest judgement of an execution or command, of the other programs that it runs, and of
// its words after resolving links.
func (g *Gateway) judgeVariants(a *Request, j policy.Judgement) policy.Judgement {
	for i, words := range slices.Concat(a.Also, a.Scripts) {
		b := *a
		b.Path, b.Argv, b.Link = words[0], words, "" // the name that it was executed by is not its interpreter's
		p := g.judgeText(&b)
		if i >= len(a.Also) && a.Link != "" && p.Verdict == policy.Ask && slices.Contains(presetRules, p.Rule) {
			continue // root's script was judged by its name; explicit rules about the interpreter still count
		}
		if i < len(a.Also) && a.isSystemCopy(words) && j.Verdict == policy.Allow && slices.Contains(presetRules[1:], p.Rule) {
			continue
		}
		if p.Verdict > j.Verdict && (i < len(a.Also) || p.Verdict == policy.Deny || p.Rule != ruleUnknown) {
			j = p
		}
	}
	for _, b := range a.variants() {
		if p := g.judgeText(&b); p.Verdict > j.Verdict {
			j = p
		}
	}
	return j
}

// isSystemCopy reports whether the system has the program in two places under one name, as git is among its own
// subcommands. If a preset allows it in its usual place, it may run from the other; explicit rules about either count.
func (a *Request) isSystemCopy(words []string) bool {
	return a.Kind == Execution && (strings.HasPrefix(a.Path, "/usr/lib/") || strings.HasPrefix(a.Path, "/usr/libexec/")) &&
		filepath.Base(words[0]) == filepath.Base(a.Path) && slices.Equal(words[1:], a.Argv[min(1, len(a.Argv)):])
}

// judgeText judges a line, or the words of a command or an execution.
func (g *Gateway) judgeText(a *Request) policy.Judgement {
	engine, src := g.rulesFor(a)
	if a.Kind == Execution && (a.Nameless || strings.HasPrefix(a.Path, "/memfd:")) && src.Preset != policy.Off {
		return policy.Judgement{
			Verdict: policy.Deny, Rule: "unknown", Words: strings.Join(append([]string{a.Path}, a.Argv...), " "),
			Why: "the program has no file (in memory only, or removed), so it cannot be judged", Instead: "Put it into a file, and execute that.",
		}
	}
	if src.Preset == policy.Off { // destructive commands are denied even with the preset "off"
		if j := a.judgeWith(hardEngine()); j.Verdict == policy.Deny {
			return j
		}
	}
	return src.WaivePresetApprovals(a.judgeWith(engine))
}

// hardEngine is the engine with only the preset "hard".
var hardEngine = sync.OnceValue(func() *policy.Engine {
	e, err := policy.New(policy.Options{Preset: policy.Hard})
	if err != nil {
		panic("gateway: " + err.Error()) // it is built in
	}
	return e
})

// ruleKey holds all properties that select the rules for a request and its variants.
type ruleKey struct{ policy, cwd, home string }

// inEffect is a cached lookup of rules, because a lookup checks files.
type inEffect struct {
	engine  *policy.Engine
	sources *rulebook.Sources
}

// rulesFor returns the rules in effect for a request. They stay the same while it is judged.
func (g *Gateway) rulesFor(a *Request) (*policy.Engine, *rulebook.Sources) {
	by := ruleKey{a.Policy, a.Cwd, a.Home}
	r, ok := a.inEffect[by]
	if !ok {
		r.engine, r.sources = g.c.Rules.For(a.subject(a.Policy))
		if a.inEffect != nil {
			a.inEffect[by] = r
		}
	}
	return r.engine, r.sources
}

// subject returns the properties by which rules are selected.
func (a *Request) subject(name string) rulebook.Subject {
	return rulebook.Subject{
		Agent: a.Actor.Agent, Session: firstNonEmpty(a.Name, a.Session), Labels: a.Labels, Cwd: a.Cwd, Home: a.Home, Policy: name, IsCwdResolved: a.Real, Cache: a.seen,
	}
}

// judgeWith returns the engine's judgement.
func (a *Request) judgeWith(engine *policy.Engine) policy.Judgement {
	line := policy.Line{Text: a.Line, Shell: a.Shell, Cwd: a.Cwd, Home: a.Home, State: a.priorState}
	if a.Kind != Line && len(a.Argv) == 0 && (a.Kind == Execution || a.Line == "") { // nothing to judge
		return policy.Judgement{Verdict: policy.Deny, Rule: "unknown", Words: a.Path, Why: "it has no words"}
	}
	if a.Kind == Line || a.Kind == Command && len(a.Argv) == 0 {
		line.Disk = rulebook.NewDisk()
		return engine.Judge(line)
	}
	line.Text = ""
	if line.Installed = a.Installed; a.Kind == Execution {
		line.Account = accountHome()
	}
	if a.Script && len(a.Argv) > 1 {
		// bash FILE: the preset already judged FILE; explicit rules about bash still count.
		j := a.verdicts.judgeArgv(engine, a.Path, a.Argv, line)
		if j.Verdict == policy.Allow || j.Verdict == policy.Ask && slices.Contains(presetRules, j.Rule) {
			return a.verdicts.judgeArgv(engine, a.Argv[1], a.Argv[1:], line)
		}
		return j
	}
	if j, ok := a.judgeByLinkName(engine, line); ok {
		return j
	}
	file, argv := firstNonEmpty(a.Path, a.Argv[0]), a.Argv
	if own := executable(); own != "" && file == own { // regardless of the file's name
		file, argv = filepath.Join(filepath.Dir(own), "longterm"), append([]string{"longterm"}, argv[1:]...)
	}
	return a.judgeScriptFile(engine, a.verdicts.judgeArgv(engine, file, argv, line), line)
}

// judgeScriptFile allows the execution of a shell with a script file, as sh x.sh, if the rules allow ./x.sh: both do the same, and
// each program that the script executes is judged. j is the judgement of the shell itself, which it returns otherwise.
func (a *Request) judgeScriptFile(engine *policy.Engine, j policy.Judgement, line policy.Line) policy.Judgement {
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
	if f := a.verdicts.judgeArgv(engine, file, append([]string{file}, a.Argv[2:]...), line); f.Verdict == policy.Allow {
		return f
	}
	return j
}

// judgeByLinkName judges a program by the system's name for it, if that is a link to a file elsewhere, such as /usr/bin/npm. It
// returns false if the name makes no difference: rules that deny or ask about the file itself count.
func (a *Request) judgeByLinkName(engine *policy.Engine, line policy.Line) (policy.Judgement, bool) {
	if a.Link == "" || a.Path == "" {
		return policy.Judgement{}, false
	}
	j := a.verdicts.judgeArgv(engine, a.Path, a.Argv, line)
	if j.Verdict != policy.Ask || !slices.Contains(presetRules[1:], j.Rule) {
		return j, true
	}
	return a.verdicts.judgeArgv(engine, a.Link, a.Argv, line), true
}

// accountHome is the home directory of our user account, regardless of HOME; empty if unknown.
var accountHome = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil || u.HomeDir == "/" {
		return ""
	}
	return u.HomeDir
})

// executable is the path of our program; empty if unknown.
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

// presetRules lists the rules of presets that do not depend on the program.
var presetRules = []string{"unknown", "not reading", "not listed"}

// quoteWords returns argv as a shell line with the same words.
func quoteWords(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = shellquote.Word(w)
	}
	return strings.Join(words, " ")
}

// ShellName returns the engine's name for a shell program, or "" for one that reads like bash.
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

// ReaderName returns the engine's name for the program that reads a session's lines: a shell as in ShellName, others,
// such as python and psql, by their name.
func ReaderName(program string) string {
	name := strings.TrimPrefix(filepath.Base(program), "-")
	if shell := ShellName(program); shell != "" || name == "." || name == "/" {
		return shell
	}
	return name
}

// view converts a judgement to its API form.
func view(j policy.Judgement) api.Judgement {
	v := api.Judgement{Verdict: j.Verdict.String(), Rule: j.Rule, Words: truncate(j.Words, maxWord), Why: j.Why, Instead: j.Instead, Effects: j.Effects, NoDraft: j.NoDraft}
	for _, c := range j.Commands[:min(len(j.Commands), maxShown)] {
		v.Commands = append(v.Commands, api.Judged{Argv: truncateWords(c.Argv), Verdict: c.Verdict.String(), Rule: c.Rule, Why: c.Why})
	}
	return v
}

// maxShown bounds the commands of a judgement that clients are sent and records keep.
const maxShown = 100

// denialError returns the error for a denial by rules.
func denialError(j policy.Judgement) *api.Error {
	e := api.Errorf(api.CodeDenied, "Blocked: %s: %s (rule %s)", firstNonEmpty(j.Why, "the rules do not allow it"), oneLine(j.Words), j.Rule)
	e.Hint = firstNonEmpty(j.Instead, api.CodeDenied.Hint())
	v := view(j)
	e.Policy = &v
	return e
}

// rejectionError returns the error for a user's rejection.
func rejectionError(a *api.Approval) *api.Error {
	who := "the user"
	if a.By != nil {
		who = a.By.String()
	}
	e := api.Errorf(api.CodeRejected, "Rejected by %s (approval %s)", who, a.ID)
	e.Hint = firstNonEmpty(a.Judgement.Instead, api.CodeRejected.Hint())
	if a.Feedback != "" {
		e.Message = fmt.Sprintf("Rejected by %s (approval %s): %s", who, a.ID, oneLine(a.Feedback))
	}
	j := a.Judgement
	e.Policy, e.Approval = &j, a.ID
	return e
}

// ErrApprovalNeeded returns the error for callers that do not wait for the approval.
func ErrApprovalNeeded(a *api.Approval) *api.Error {
	e := api.Errorf(api.CodeNeedsApproval, "approval required: %s: %s (approval %s)", strings.Join(a.Judgement.Explain(), "; "), oneLine(a.Judgement.Words), a.ID).
		WithHint("`longterm approvals answer %s once` allows it; repeat the call with the same id to wait", a.ID)
	j := a.Judgement
	e.Policy, e.Approval = &j, a.ID
	return e
}

// oneLine makes untrusted text safe for a message: short, on one line and without control characters.
func oneLine(s string) string {
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

// firstNonEmpty returns the first string that is not empty, or "".
func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}
