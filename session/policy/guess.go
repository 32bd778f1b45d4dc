package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/bound"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// guesser judges what programs that are not known may run.
type guesser struct{ shared }

// guess looks at the arguments of a program that is not known: it may run them.
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
		case g.engine.interesting(path.Base(a)) && (i+1 < len(args) || !destroyers.has(path.Base(a))):
			tried++
			g.tryRun(args[i:])
		}
	}
}

// tryRun judges arguments as a command, and keeps only what would be denied.
func (g *guesser) tryRun(argv []string) { g.only(func() { g.run(argv, stream{}) }) }

func (g *guesser) shellGuess(text string) {
	if len(text) > bound.MaxShort {
		g.unknown([]string{clip(text)}, "the program is not known, and the text that it is given is too long to be judged")
		return
	}
	g.only(func() { g.source(text) })
}

// only runs f for its denials, which are made questions.
func (w *walk) only(f func()) {
	commands, worst := w.commands, w.worst
	w.commands, w.worst = nil, nil
	quiet, refused := w.quiet, w.refused
	w.quiet, w.refused = false, nil
	w.aside(func() stream { f(); return stream{} })
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

// interesting reports whether a rule may deny a program of this name.
func (e *Engine) interesting(name string) bool {
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

// textual are programs whose arguments are text for people or others, not commands.
var textual = fieldSet("echo printf grep egrep fgrep rg ag ack git-commit gh glab curl logger notify-send wall write say " +
	"cowsay figlet banner jq yq zenity dialog whiptail man apropos tldr which type test [ expr mail mailx " +
	"touch mkdir cp mv ln rm rmdir export alias declare typeset local readonly read unset dig host ping git true false : " +
	"basename dirname realpath ls cat stat file tee python node perl ruby php")

// prose are options whose value is text for people, or a setting of another machine's environment.
var prose = fieldSet("-m --message --title --body --comment --notes --description --subject --label --build-arg --env " +
	"--grep --author --reason --why --summary --annotation --commit-message --name --tag --text --prompt")

// commandsIn looks at values of options and operands that read as a destroying command: programs have more
// ways to run one than a table knows. What would be denied is asked about.
func (g *guesser) commandsIn(x *invocation) {
	if g.engine.preset == Off && !g.engine.denies {
		return
	}
	tried := 0
	for i, a := range x.argv[1:] {
		if tried >= 8 {
			return
		}
		if text, piped := g.pipedIn(a); piped || a == "-" && x.in.is && len(x.argv) > 2 {
			if !piped {
				text = x.in.text
			} else {
				g.withinLines(text)
			}
			g.commandsInText(text)
			continue
		}
		if g.isSetting(x.argv[i], a) {
			g.within(a)
			continue
		}
		if !strings.ContainsAny(a, " \t,") || prose.has(x.argv[i]) ||
			x.row == nil && !strings.HasPrefix(a, "-") && !strings.HasPrefix(x.argv[i], "-") {
			continue
		}
		if key, _, ok := strings.Cut(a, "="); ok && prose.has(key) || x.argv[i] == "-e" && x.name != "lftp" &&
			x.row != nil && strings.Contains(x.row.Values, "--env") {
			continue
		}
		for _, text := range commandStarts(a) {
			first, _, _ := strings.Cut(text, " ")
			first, _, _ = strings.Cut(first, ",")
			if !g.engine.interesting(path.Base(first)) {
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

// isSetting reports a word that gives a setting its value in quotes or brackets: --config, 'x.command=["rm", "-rf"]'.
func (g *guesser) isSetting(before, word string) bool {
	at := strings.IndexAny(word, "\"'[")
	return at >= 0 && !prose.has(before) && len(word) <= bound.MaxShort && (strings.HasPrefix(before, "-") || strings.HasPrefix(word, "-") || strings.Contains(word[:at], "="))
}

// pipedIn is what stands behind the name of a process substitution: a word, or the end of one like --file=NAME.
func (fs *files) pipedIn(word string) (string, bool) {
	if len(fs.pipes) == 0 {
		return "", false
	}
	text, is := fs.pipes[word[strings.LastIndexAny(word, "=:")+1:]]
	return text, is
}

// maxLines is how many lines of a file are looked at that a program is given which the line itself makes.
const maxLines = 64

// commandsInText looks at each line of such a file for a destroying command: the rules of builds and tasks are such.
func (g *guesser) commandsInText(text string) {
	tried := 0
	for line := range strings.Lines(text) {
		if tried++; tried > maxLines || len(line) > bound.MaxShort {
			return
		}
		for _, start := range commandStarts(strings.TrimSpace(line)) {
			if first, _, _ := strings.Cut(start, " "); g.engine.interesting(path.Base(first)) {
				g.shellGuess(start)
				break
			}
		}
	}
}

// within looks for a destroying command anywhere in a text of another language, whatever stands around its words.
func (g *guesser) within(text string) {
	if len(text) > bound.MaxShort {
		g.unknown([]string{clip(text)}, "what it is given is too long to be judged")
		return
	}
	words := strings.FieldsFunc(g.homes(text), func(r rune) bool { return strings.ContainsRune(aroundWords, r) })
	for i, word := range words { // as a shell takes it that is given the command in the end
		words[i] = strings.ReplaceAll(word, "*", globStar)
	}
	g.guess(slices.DeleteFunc(words, func(word string) bool { return word == "--" }))
}

// inVariable judges the value of a variable for what programs do with it that are not known: they may run it, take it for a
// file of their settings, or write it. handed says that the programs get it.
func (g *guesser) inVariable(name, value string, handed bool) {
	if g.engine.preset == Off && !g.engine.denies {
		return
	}
	argv := []string{name + "=" + value}
	if standsIn(name) && removing.has(path.Base(value)) {
		g.unknown(argv, "files of others are handed to "+path.Base(value))
	}
	if _, writes := programs.VariableFor(name, programs.AsOutput); writes && g.overwritten(value) != harmless {
		c := Command{Argv: argv}
		g.ask(&c, "hard:overwrite", whyOverwrites)
		g.record(c)
	}
	if name == "PYTHONBREAKPOINT" && len(value) > 1 && !strings.HasSuffix(value, "set_trace") && !strings.HasSuffix(value, ".embed") {
		g.unknown(argv, "python calls it with what breakpoint() is given")
	}
	if !handed || value == "" || forPeople(name) {
		return
	}
	if text, made := g.textAt(value); made {
		g.commandsInText(text)
	}
	g.within(value)
}

// forPeople reports a variable whose name says that its value is a text for people.
func forPeople(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"MSG", "MESSAGE", "TITLE", "BODY", "COMMENT", "NOTE", "DESC", "SUBJECT", "TEXT", "NAME", "LABEL", "REASON", "SUMMARY"},
		func(part string) bool { return strings.Contains(name, part) })
}

// aroundWords are the characters that end a word in one language or another.
const aroundWords = " \t\r\n'\"`\\(){}[],;|<>=!~@$"

// homes is a text with the home in place of what a shell takes for it: ~, ~/x, $HOME, ${HOME}.
func (g *guesser) homes(text string) string {
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

// withinLines looks so at the lines of a text, each by itself.
func (g *guesser) withinLines(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > maxConsole {
			g.unknown([]string{clip(text)}, "it is too long to be judged")
			return
		}
		g.within(line)
	}
}

// maxConsole is how many lines of what a console is given are looked at.
const maxConsole = 1000

// escapes judges what a program that is not known is given on its input: lines that begin with a sign by which many programs
// hand the rest to a shell.
func (g *guesser) escapes(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if command := strings.TrimLeft(line, ":~ \t"); n < maxLines && strings.HasPrefix(command, "!") && len(line) < bound.MaxShort {
			n++
			g.shellGuess(strings.TrimLeft(command, "! "))
		}
	}
}

// commandStarts returns the places of a value where a command may begin.
func commandStarts(a string) []string {
	const lead = " \t'\"`({[!|&;:%\\~"
	out := []string{strings.TrimLeft(a, lead)}
	for i := 0; i < len(a) && len(out) < 12; i++ {
		if strings.IndexByte("=:!(|;{\"'`[%", a[i]) >= 0 {
			out = append(out, strings.TrimLeft(a[i+1:], lead))
		}
	}
	for i, s := range out {
		if end := strings.IndexAny(s, "(){}"); end > 0 && (s[end] == ')' || s[end] == '}') { // of what it stands in
			s = s[:end]
		}
		if trimmed := strings.TrimRight(s, "'\"`)}];"); strings.Count(trimmed, "\"")%2 == 0 && strings.Count(trimmed, "'")%2 == 0 {
			s = trimmed
		}
		out[i] = s
	}
	return out
}
