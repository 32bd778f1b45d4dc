package inputdetect

import (
	"cmp"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// repl is an interpreter that reads commands at its prompt. Such a prompt is no question. A script that it runs may
// print questions that look like a prompt, but not like these.
type repl struct {
	programs map[string]bool // by name, without the digits of a version at its end
	prompt   pattern.Pattern
}

// repls lists the prompts of known REPLs, including those for the continuation of an incomplete command.
var repls = []repl{
	{set("python", "ipython", "pypy", "bpython", "ptpython"), pattern.Lazy(`^(?:>>>|\.\.\.|In ?\[\d+\]:|\s+\.\.\.:|\(i?Pdb\+{0,2}\)|ipdb>) $`)},
	{set("node", "deno", "bun"), pattern.Lazy(`^(?:>|\.\.\.|\|) $`)},
	{set("irb", "ruby", "pry"), pattern.Lazy(`^(?:irb\(.{1,60}\)(?::\d+)*[>*"'?]|\[\d+\] pry\(.{1,60}\)[>*]) $`)},
	{set("sqlite"), pattern.Lazy(`^(?:sqlite>|\s+\.\.\.>) $`)},
	{set("mysql", "mariadb"), pattern.Lazy(`^(?:mysql>|MariaDB \[.{1,64}\]>|\s+->) $`)},
	{set("psql"), pattern.Lazy(`^[\w.@:/-]{1,64}[=('"^!*-][>#] $`)},
	{set("gdb", "lldb"), pattern.Lazy(`^(?:\((?:gdb|lldb)\)|>) ?$`)},
	{set("R", "lua", "luajit"), pattern.Lazy(`^(?:>>?|\+) $`)},
	{set("julia"), pattern.Lazy(`^julia> $`)},
	{set("ghc", "ghci"), pattern.Lazy(`^(?:ghci|\*?[A-Z][\w.*]*(?: \*?[A-Z][\w.*]*)*)[>|] $`)},
	{set("php"), pattern.Lazy(`^php [>{('"] $`)},
	{set("redis-cli", "valkey-cli"), pattern.Lazy(`^[\w.:-]{1,80}(?:\[\d+\])?> $`)},
}

// farRepl matches prompts of interpreters behind a relay, where the program is not visible: those that nothing else
// prints. A shell there requests the rest of a line with "> ", which is no question either.
var farRepl = pattern.Lazy(`^(?:>>>|\.\.\.|In ?\[\d+\]:|\s+\.\.\.:|\(i?Pdb\+{0,2}\)|ipdb>|>|irb\(.{1,60}\)(?::\d+)*[>*"'?]|` +
	`\[\d+\] pry\(.{1,60}\)[>*]|sqlite>|\s+\.\.\.>|mysql>|MariaDB \[.{1,64}\]>|\s+->|[\w.-]{1,64}[=('"^!*-][>#]|\((?:gdb|lldb)\)|julia>|` +
	`ghci[>|]|Prelude(?: \*?[A-Z][\w.*]*)*[>|]|php [>{('"]|[\w.-]{1,64}:\d{1,5}(?:\[\d+\])?>) $`)

// bare programs may run a script with the same prompt: only without one they are taken for interpreters.
var bare = set("node", "deno", "bun", "R", "lua", "luajit")

// isRepl reports whether an interpreter waits for a command.
func (s *scene) isRepl() bool {
	name := s.Probe.Program
	switch {
	case s.AltScreen || s.hidden || s.Probe.Script:
		return false
	case s.relay: // the words are all there is
		return !s.asks && !saysSecret.MatchString(s.line) && farRepl.MatchString(s.line)
	}
	r := findRepl(name)
	return r != nil && r.prompt.MatchString(s.line)
}

// findRepl returns the entry of a program, with or without a version at the end of its name, or nil for an unknown
// program.
func findRepl(program string) *repl {
	program = withoutVersion(program)
	for i := range repls {
		if r := &repls[i]; r.programs[program] {
			return r
		}
	}
	return nil
}

func withoutVersion(program string) string {
	return cmp.Or(strings.TrimRight(program, "0123456789."), program)
}

// statusless programs have no exit status for a line, with any arguments; statuslessBare ones have none unless an
// argument names a script.
var (
	statusless     = set("sqlite", "mysql", "mariadb", "psql", "gdb", "lldb", "redis-cli", "valkey-cli", "bc", "dc", "jshell", "gnuplot", "ftp", "sftp", "mongosh", "octave-cli", "cat")
	statuslessBare = set("python", "ipython", "pypy", "bpython", "ptpython", "node", "deno", "bun", "irb", "ruby", "pry", "R", "lua", "luajit", "julia", "ghc", "ghci", "php",
		"tclsh", "guile", "racket", "sbcl", "clisp", "ocaml", "swipl")
)

// surelyRepl matches prompts of REPLs that no shell shows, for programs behind a relay such as ssh. Unlike farRepl it matches no
// prompt that a user may have set in a shell.
var surelyRepl = pattern.Lazy(`^(?:>>>|In ?\[\d+\]:|\(i?Pdb\+{0,2}\)|ipdb>|irb\(.{1,60}\)(?::\d+)*[>*"'?]|\[\d+\] pry\(.{1,60}\)[>*]|sqlite>|mysql>|\((?:gdb|lldb)\)|julia>|php >) $`)

// HasNoStatus reports whether a program is a REPL, which reads lines at a prompt and has no exit status for a line. It returns
// false for shells, for relays with a shell behind them, and for unknown programs: a line may fail there unseen.
func HasNoStatus(program string, argv []string, prompt string) bool {
	name, prompt := withoutVersion(program), strings.TrimRight(prompt, " ")+" "
	switch {
	case relays[program]:
		return surelyRepl.MatchString(prompt)
	case statusless[name], statuslessBare[name] && !hasScript(argv):
		return true
	}
	r := findRepl(program) // a script that is a REPL (ipython, irb), or a script in a debugger
	return r != nil && !bare[name] && r.prompt.MatchString(prompt)
}

// runsScript reports whether a program's arguments name a file to run: any argument that is no option.
func runsScript(cmdline []byte) bool {
	return hasScript(strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00"))
}

func hasScript(argv []string) bool {
	for i, arg := range argv {
		if i > 0 && !strings.HasPrefix(arg, "-") {
			return true
		}
	}
	return false
}

// keyHelp matches a line about a key in a program that keeps running, as servers and file watchers print it: a letter's
// key, and neither yes nor no.
var (
	keyHelp = pattern.Lazy(`(?i)^\W*(?:press|hit|type)\s+["'` + "`" + `]?[a-mo-xz?]["'` + "`" + `]?(?:\s*\+\s*(?:enter|return)|\s*,?\s*then\s+enter)?\s+(?:to|for)\s`)
	keyAsks = pattern.Lazy(`(?i)\b(?:continue|proceed|confirm|accept|agree|cancel|abort|skip|install|retry|overwrite|keep)\b`)
)

// helpAbove is the number of lines above the cursor that are searched for key help.
const helpAbove = 6

// showsKeyHelp reports whether the lines above the cursor's explain keys and request none.
func showsKeyHelp(above []string) (tells bool) {
	for _, l := range above[max(0, len(above)-helpAbove):] {
		if keyAsks.MatchString(l) {
			return false
		}
		tells = tells || keyHelp.MatchString(l)
	}
	return tells
}

// readsKeysInBackground reports whether a program keeps running while it reads keys, longterm's own viewers included.
func (s *scene) readsKeysInBackground(above []string) bool {
	if s.AltScreen || s.hidden || s.relay || s.asks || !s.empty {
		return false
	}
	return s.Probe.Program == "longterm" || s.raw && showsKeyHelp(above)
}
