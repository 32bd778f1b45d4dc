package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/bound"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// guesser judges what unknown programs may run.
type guesser struct{ shared }

// guess judges the arguments of an unknown program as a command: it may run them.
func (g *guesser) guess(args []string) {
	if g.engine.preset == Off && !g.engine.denies {
		return
	}
	quiet, outside := g.quiet, g.direct
	g.quiet, g.direct = true, false
	defer func() { g.quiet, g.direct = quiet, outside }()
	tried := 0
	for i, a := range args {
		if tried >= 8 {
			return
		}
		switch {
		case strings.HasPrefix(a, "-"):
		case strings.ContainsAny(a, " \t") && i > 0 && (args[i-1] == "-c" || args[i-1] == "-e" ||
			args[i-1] == "-x" ||
			strings.HasPrefix(args[i-1], "--c") || strings.HasPrefix(args[i-1], "--e")):
			tried++
			g.shellGuess(a)
		case g.engine.mayBeDenied(path.Base(a)) && (i+1 < len(args) || !destroyers.has(path.Base(a))):
			tried++
			g.tryRun(args[i:])
		}
	}
}

// tryRun judges arguments as a command, and keeps only what would be denied.
func (g *guesser) tryRun(argv []string) { g.downgradeDenials(func() { g.run(argv, stream{}) }) }

// shellGuess judges an argument as shell text.
func (g *guesser) shellGuess(text string) {
	if len(text) > bound.MaxShort {
		g.unknown([]string{clip(text)}, "the program is not known, and the text that it is given is too long to be judged")
		return
	}
	g.downgradeDenials(func() { g.source(text) })
}

// downgradeDenials runs f and records the command that it denies as one that needs approval. Everything else that f finds
// is dropped.
func (w *analyzer) downgradeDenials(f func()) {
	commands, worst := w.commands, w.worst
	w.commands, w.worst = nil, nil
	quiet, refused := w.quiet, w.refused
	w.quiet, w.refused = false, nil
	w.analyzeSubshell(func() stream { f(); return stream{} })
	found := w.refused
	w.commands, w.worst, w.quiet = commands, worst, quiet
	if refused != nil {
		w.refused = refused
	}
	if found != nil {
		c := *found
		c.Verdict = Ask
		c.Why = "the program is not known, and may run what follows: " + c.Why
		w.record(c)
	}
}

// destroyers are the programs that the hard denials are about.
var destroyers = words("wipe srm scrub mkfs sgdisk parted rm dd shred wipefs mkswap mke2fs find chmod chown bash sh sudo env " +
	"blkdiscard tee busybox")

// mayBeDenied reports whether a rule may deny a program of this name.
func (e *Engine) mayBeDenied(name string) bool {
	if e.preset != Off && (destroyers.has(name) || strings.HasPrefix(name, "mkfs")) {
		return true
	}
	if !e.denies {
		return false
	}
	for i := range e.rules {
		if e.rules[i].Decision != Allow && e.rules[i].Program == name {
			return true
		}
	}
	return false
}

// guessDestroyers looks for a destroying command among the arguments of a program that the table knows, but
// not that it runs any.
func (g *guesser) guessDestroyers(args []string) {
	if g.engine.preset == Off {
		return
	}
	for i, a := range args {
		if destroyers.has(path.Base(a)) && i+1 < len(args) {
			g.tryRun(args[i:])
			return
		}
	}
}

// textPrograms take arguments that are text, not commands.
var textPrograms = fieldSet("echo printf grep egrep fgrep rg ag ack git-commit gh glab curl logger notify-send wall write say " +
	"cowsay figlet banner jq yq zenity dialog whiptail man apropos tldr which type test [ expr mail mailx " +
	"touch mkdir cp mv ln rm rmdir export alias declare typeset local readonly read unset dig host ping git true false : " +
	"basename dirname realpath ls cat stat file tee python node perl ruby php")

// textOptions take text for people, or a setting of another machine's environment.
var textOptions = fieldSet("-m --message --title --body --comment --notes --description --subject --label --build-arg --env " +
	"--grep --author --reason --why --summary --annotation --commit-message --name --tag --text --prompt")

// commandsIn checks option values and operands for destructive commands, since programs have more ways to run one than
// a table knows. What would be denied needs approval.
func (g *guesser) commandsIn(x *invocation) {
	if g.engine.preset == Off && !g.engine.denies {
		return
	}
	tried := 0
	for i, a := range x.argv[1:] {
		if tried >= 8 {
			return
		}
		if text, piped := g.pipedIn(a); piped || a == "-" && x.in.set && len(x.argv) > 2 {
			if !piped {
				text = x.in.text
			} else {
				g.findDestroyerInLines(text)
			}
			g.commandsInText(text)
			continue
		}
		if g.isSetting(x.argv[i], a) {
			g.findDestroyer(a)
			continue
		}
		if !strings.ContainsAny(a, " \t,") || textOptions.has(x.argv[i]) ||
			x.row == nil && !strings.HasPrefix(a, "-") && !strings.HasPrefix(x.argv[i], "-") {
			continue
		}
		if key, _, ok := strings.Cut(a, "="); ok && textOptions.has(key) || x.argv[i] == "-e" && x.name != "lftp" &&
			x.row != nil && strings.Contains(x.row.Values, "--env") {
			continue
		}
		for _, text := range commandStarts(a) {
			first, _, _ := strings.Cut(text, " ")
			first, _, _ = strings.Cut(first, ",")
			if !g.engine.mayBeDenied(path.Base(first)) {
				continue
			}
			tried++
			g.shellGuess(text)
			if strings.Contains(text, ",") {
				g.shellGuess(strings.ReplaceAll(text, ",", " ")) // gcc -wrapper and the like
			}
			break
		}
	}
}

// isSetting reports whether a word sets a setting to a value in quotes or brackets: --config, 'x.command=["rm",
// "-rf"]'.
func (g *guesser) isSetting(before, word string) bool {
	at := strings.IndexAny(word, "\"'[")
	return at >= 0 && !textOptions.has(before) && len(word) <= bound.MaxShort && (strings.HasPrefix(before, "-") || strings.HasPrefix(word, "-") || strings.Contains(word[:at], "="))
}

// pipedIn returns the text behind the name of a process substitution: a word, or the end of one like --file=NAME.
func (fs *files) pipedIn(word string) (string, bool) {
	if len(fs.pipes) == 0 {
		return "", false
	}
	text, is := fs.pipes[word[strings.LastIndexAny(word, "=:")+1:]]
	return text, is
}

// maxLines bounds the checked lines of a file that the line creates for a program.
const maxLines = 64

// commandsInText checks each line of a created file for a destructive command, as in the rules of build tools and task
// runners.
func (g *guesser) commandsInText(text string) {
	tried := 0
	for line := range strings.Lines(text) {
		if tried++; tried > maxLines || len(line) > bound.MaxShort {
			return
		}
		for _, start := range commandStarts(strings.TrimSpace(line)) {
			if first, _, _ := strings.Cut(start, " "); g.engine.mayBeDenied(path.Base(first)) {
				g.shellGuess(start)
				break
			}
		}
	}
}

// findDestroyer looks for a destructive command anywhere in a text of another language.
func (g *guesser) findDestroyer(text string) {
	if len(text) > bound.MaxShort {
		g.unknown([]string{clip(text)}, "its argument is too long to judge")
		return
	}
	words := strings.FieldsFunc(g.expandHome(text), func(r rune) bool { return strings.ContainsRune(aroundWords, r) })
	for i, word := range words { // as a shell takes it that is given the command in the end
		words[i] = strings.ReplaceAll(word, "*", globStar)
	}
	g.guess(slices.DeleteFunc(words, func(word string) bool { return word == "--" }))
}

// judgeValue judges the value of a variable for unknown uses: programs may run it, read it as settings, or write to it.
// handed states that programs receive it.
func (g *guesser) judgeValue(name, value string, handed bool) {
	if g.engine.preset == Off && !g.engine.denies {
		return
	}
	argv := []string{name + "=" + value}
	if namesReplacement(name) && removePrograms.has(path.Base(value)) {
		g.unknown(argv, "files of others are handed to "+path.Base(value))
	}
	if _, writes := programs.VariableFor(name, programs.AsOutput); writes && g.overwriteDanger(value) != harmless {
		c := Command{Argv: argv}
		g.ask(&c, "hard:overwrite", whyOverwrites)
		g.record(c)
	}
	if name == "PYTHONBREAKPOINT" && len(value) > 1 && !strings.HasSuffix(value, "set_trace") && !strings.HasSuffix(value, ".embed") {
		g.unknown(argv, "python calls it with what breakpoint() is given")
	}
	if !handed || value == "" || isUserText(name) {
		return
	}
	if text, made := g.textAt(value); made {
		g.commandsInText(text)
	}
	g.findDestroyer(value)
}

// isUserText reports whether a variable's name marks its value as text for humans.
func isUserText(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"MSG", "MESSAGE", "TITLE", "BODY", "COMMENT", "NOTE", "DESC", "SUBJECT", "TEXT", "NAME", "LABEL", "REASON", "SUMMARY"},
		func(part string) bool { return strings.Contains(name, part) })
}

// aroundWords are the characters that end a word in one language or another.
const aroundWords = " \t\r\n'\"`\\(){}[],;|<>=!~@$"

// expandHome returns a text with the home directory in place of ~, ~/x, $HOME and ${HOME}.
func (g *guesser) expandHome(text string) string {
	if !strings.Contains(text, "~") && !strings.Contains(text, "HOME") {
		return text
	}
	home, _ := g.tilde("")
	if home == "" {
		home = "/root" // it is not known where, but there is one
	}
	text = strings.ReplaceAll(text, "${HOME}", "$HOME")
	ends := func(at int) bool { return at < 0 || at >= len(text) || strings.IndexByte(aroundWords, text[at]) >= 0 }
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '~' && ends(i-1) && (ends(i+1) || text[i+1] == '/'):
			b.WriteString(home)
		case strings.HasPrefix(text[i:], "$HOME") && (i+5 >= len(text) || !isWord(text[i+5])):
			b.WriteString(home)
			i += 4
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// findDestroyerInLines calls findDestroyer for each line of a text.
func (g *guesser) findDestroyerInLines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > maxConsole {
			g.unknown([]string{clip(text)}, "it is too long to be judged")
			return
		}
		g.findDestroyer(line)
	}
}

// maxConsole bounds the checked lines of console input.
const maxConsole = 1000

// escapes judges the input of an unknown program: lines with a prefix by which many programs pass the rest to a shell.
func (g *guesser) escapes(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if command := strings.TrimLeft(line, ":~ \t"); n < maxLines && strings.HasPrefix(command, "!") && len(line) < bound.MaxShort {
			n++
			g.shellGuess(strings.TrimLeft(command, "! "))
		}
	}
}

// commandStarts returns the suffixes of a value at which a command may start.
func commandStarts(a string) []string {
	const lead = " \t'\"`({[!|&;:%\\~"
	out := []string{strings.TrimLeft(a, lead)}
	for i := 0; i < len(a) && len(out) < 12; i++ {
		if strings.IndexByte("=:!(|;{\"'`[%", a[i]) >= 0 {
			out = append(out, strings.TrimLeft(a[i+1:], lead))
		}
	}
	for i, s := range out {
		if end := strings.IndexAny(s, "(){}"); end > 0 && (s[end] == ')' || s[end] == '}') { // of the enclosing text
			s = s[:end]
		}
		if trimmed := strings.TrimRight(s, "'\"`)}];"); strings.Count(trimmed, "\"")%2 == 0 && strings.Count(trimmed, "'")%2 == 0 {
			s = trimmed
		}
		out[i] = s
	}
	return out
}
