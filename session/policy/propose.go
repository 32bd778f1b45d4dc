package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// maxProposed bounds the rules of one proposal: users do not read more.
const maxProposed = 8

// Propose returns the rules that would allow all commands that need approval, see Command.Propose; none if one command
// has none, or for many commands.
func (j Judgement) Propose() []Rule {
	var rules []Rule
	seen := map[string]bool{}
	for _, c := range j.Commands {
		if c.Verdict != Ask || j.Verdict != Ask {
			continue
		}
		r := c.Propose()
		if r.Program == "" {
			return nil
		}
		if name := r.String(); !seen[name] {
			seen[name] = true
			rules = append(rules, r)
		}
	}
	if len(rules) > maxProposed || len(j.Commands) >= MaxCommands {
		return nil
	}
	return rules
}

// GroupKey returns the key by which many requests are shown as one: the deciding rule, and the program.
func (j Judgement) GroupKey() string {
	for _, c := range j.Commands {
		if c.Verdict == j.Verdict && c.Rule == j.Rule {
			what := strings.Fields(programName(c.Argv))
			named := len(what) // words that the rule's own name ends with
			for named > 0 && !strings.HasSuffix(" "+j.Rule, " "+strings.Join(what[:named], " ")) {
				named--
			}
			return strings.TrimSpace(j.Rule + " " + strings.Join(what[named:], " "))
		}
	}
	return j.Rule
}

// programName returns a program with its subcommand.
func programName(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	base := argv[0][strings.LastIndexByte(argv[0], '/')+1:]
	if base == "" || strings.ContainsAny(base, " \n\t") {
		return "" // text, not a program
	}
	_, words, _ := resolve(base, argv)
	if len(words) > 1 && subcommands.has(base) && isPlainWord(words[1]) {
		return base + " " + words[1]
	}
	return base
}

// subcommands are programs whose first operand selects the action.
var subcommands = fieldSet("git go cargo rustup npm pnpm yarn pip pip3 pipx uv poetry docker podman kubectl oc helm gh " +
	"glab systemctl apt apt-get dnf yum brew terraform tofu aws gcloud az hg svn jj conda gem bundle mvn gradle dotnet " +
	"nix composer mix rake just task bazel longterm")

// isPlainWord reports whether a word may name a subcommand.
func isPlainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_:") == "" && s[0] != '-'
}

// Propose returns the narrowest sensible rule that allows the command from now on, for a user to see and edit; the zero
// Rule (without a program) for a command without one: unknown commands, wrappers and interpreter code get no rule. A
// shell with a file gets a rule with exactly its words.
//
// A build command (go test, mkdir) gets a prefix; everything else a rule with exactly its words.
//
// A rule must parse back from its own text, since the user reads the text and the text is saved.
func (c Command) Propose() Rule {
	if r := c.narrowest(); r.Program != "" && r.readsBack() {
		return r
	}
	return Rule{}
}

// machineWide are programs whose words mean the same in every directory, unless they are relative paths.
const machineWide = words("apt apt-get aptitude brew dnf flatpak kill killall pacman pkill service snap systemctl yum zypper")

// DependsOnDir reports whether the words of a command may mean something else in another directory. They do with a relative
// name, an unknown word, or without an absolute path.
func DependsOnDir(argv []string) bool {
	if len(argv) == 0 || argv[0] != ">" && strings.Contains(argv[0], "/") && !strings.HasPrefix(argv[0], "/") {
		return true
	}
	wide := machineWide.has(path.Base(argv[0]))
	absolute := 0
	for _, word := range argv[1:] {
		value := word[strings.IndexByte(word, '=')+1:]
		switch option := strings.HasPrefix(word, "-"); {
		case strings.Contains(word, "…"):
			return true
		case strings.HasPrefix(value, "/") && path.Clean(value) == strings.TrimSuffix(value, "/"):
			absolute++
		case option && value == word, wide && !strings.Contains(value, "/") && !strings.HasPrefix(value, "."):
		default:
			return true
		}
	}
	return absolute == 0 && !wide
}

// readsBack reports whether typing the rule's text, with its decision or without, gives the same rule.
func (r Rule) readsBack() bool {
	for _, text := range []string{r.String(), strings.TrimPrefix(r.String(), Allow.String()+" ")} {
		rules, err := ParseTexts(text)
		if err != nil || len(rules) != 1 || !sameRule(rules[0], r) {
			return false
		}
	}
	return true
}

func sameRule(a, b Rule) bool {
	return a.Program == b.Program && a.Exact == b.Exact && a.Decision == b.Decision && slices.Equal(a.Words, b.Words) &&
		slices.Equal(a.Options, b.Options) && slices.Equal(a.Roots, b.Roots)
}

// narrowest returns the rule of Propose, before the check of its text.
func (c Command) narrowest() Rule {
	if len(c.Argv) == 0 || c.Verdict == Deny || c.Rule == "unknown" && !c.OfFile || c.Rule == "environment" || c.Rule == "secret" {
		return Rule{}
	}
	if slices.ContainsFunc(c.Argv, func(a string) bool { return strings.ContainsAny(a, "…*?\x1a\n"+holes+globs) || !utf8.ValidString(a) }) {
		return Rule{}
	}
	file := c.Argv[0]
	base := file[strings.LastIndexByte(file, '/')+1:]
	r := Rule{Program: file, Words: slices.Clone(c.Argv[1:]), Exact: true, Decision: Allow}
	if file == ">" {
		if len(c.Argv) != 2 || !strings.HasPrefix(c.Argv[1], "/") || strings.HasPrefix(c.Rule, "hard:") {
			return Rule{}
		}
		return r.withUsualName()
	}
	if base == "" || strings.ContainsAny(base, "=") || strings.ContainsAny(file, " \t") {
		return Rule{}
	}
	switch dir := file[:len(file)-len(base)]; {
	case systemProgramDirs[dir]:
		r.Program = base
	case dir != "" && dir[0] != '/' && c.Dir == "":
		return Rule{}
	case dir != "" && dir[0] != '/': // a file of rules names a file by its whole path
		r.Program = path.Join(c.Dir, file)
	}
	if c.OfFile {
		return r.withUsualName()
	}
	row, words, args := resolve(base, c.Argv)
	if runsOthers.has(base) || row != nil && (row.Run != programs.RunNothing && row.Run != programs.RunPerhaps || row.Argv != "" && slices.ContainsFunc(args.Options,
		func(o option) bool { return row.TakesCommand(o.Name) })) {
		if row == nil || row.Lang != "awk" && row.Lang != "sed" {
			return Rule{}
		}
	}
	if row != nil {
		for _, o := range args.Options {
			if row.TakesCode(o.Name) || row.TakesShellCode(o.Name) || row.TakesScript(o.Name) {
				return Rule{}
			}
		}
		if row.StdinRun && len(args.Operands) == 0 {
			return Rule{} // an interpreter that waits for code
		}
		if row.StdinRun && slices.Contains([]string{"-", "/dev/stdin"}, args.Operands[0]) {
			return Rule{}
		}
	}
	if strings.HasPrefix(c.Rule, "hard:") || riskOrder[c.Risk] > riskOrder[Writes] {
		return r.withUsualName()
	}
	program := building.Lookup(base)
	switch {
	case program != nil && program.Subs == "" && program.Goals == "" && r.Program == base && (row == nil || row.Lang == ""):
		r.Words, r.Exact = nil, false
	case subcommands.has(base) && r.Program == base && len(words) > 1 && len(c.Argv) > 1 && words[1] == c.Argv[1] &&
		isPlainWord(words[1]) && !runsCode.has(base+" "+words[1]):
		r.Words, r.Exact = words[1:2:2], false
	}
	return r.withUsualName()
}

// runsOthers are programs that no proposed rule allows, even if the table does not show what they run.
var runsOthers = fieldSet("sudo su doas run0 pkexec ssh xargs parallel env sh bash dash zsh ksh mksh fish csh tcsh nu eval " +
	"source . exec command builtin watch timeout nice nohup setsid time strace script screen tmux make-x gdb expect cmd " +
	"powershell pwsh at batch crontab trap alias export declare coproc busybox toybox chroot unshare nsenter docker-x " +
	"entr flock systemd-run")

// runsCode are subcommands that run their arguments: only their exact words are proposed.
var runsCode = fieldSet("x|npm exec|npm run|pnpm exec|pnpm run|yarn exec|yarn run|go run|cargo run|docker run|docker exec|" +
	"podman run|podman exec|kubectl exec|oc exec|bundle exec|poetry run|uv run|nix run|git config|git rebase|git bisect|" +
	"git submodule|git filter-branch|gh alias|gh extension|gh api|go tool|dotnet run|dotnet exec")

// withUsualName gives a rule its usual name.
func (r Rule) withUsualName() Rule {
	r.Name = r.String()
	return r
}

// String writes a rule as a user reads it: "allow git push", "allow exactly rm -rf build".
func (r Rule) String() string {
	verb := r.VerdictText()
	if r.Exact {
		verb += " exactly"
	}
	return strings.Join(slices.Concat([]string{verb}, quoteWords([]string{r.Program}, "|"), quoteWords(r.Words, "|"), quoteWords(r.Options, "")), " ")
}

// quoteWords quotes words that a shell would split, and words with one of the characters in more.
func quoteWords(words []string, more string) []string {
	out := escapeWords(words)
	for i, word := range words {
		if out[i] == word && (word == "" || strings.ContainsAny(word, " '\"\\$`;&<>(){}*?[#~!"+more)) {
			out[i] = shellquote.Word(word)
		}
	}
	return out
}

// escapeWords writes words with invisible characters as $'…', so that typing the shown text gives the same rule.
func escapeWords(words []string) []string {
	out := slices.Clone(words)
	for i, word := range words {
		if utf8.ValidString(word) && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
			continue
		}
		var b strings.Builder
		for rest := word; rest != ""; {
			r, size := utf8.DecodeRuneInString(rest)
			one := rest[:size]
			rest = rest[size:]
			if at := strings.IndexRune("\n\t\r\x1b\\'", r); at >= 0 {
				b.WriteString(`\` + `ntre\'`[at:at+1])
			} else if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
				for _, c := range []byte(one) {
					fmt.Fprintf(&b, `\x%02x`, c)
				}
			} else {
				b.WriteString(one)
			}
		}
		out[i] = "$'" + b.String() + "'"
	}
	return out
}
