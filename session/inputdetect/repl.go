package inputdetect

import (
	"cmp"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// interpreter is a kind of program that reads commands at its prompt. Such a prompt is no question. A script that it
// runs may print questions that look like a prompt, but not like these.
type interpreter struct {
	programs map[string]bool // names, without a version at the end
	prompt   pattern.Pattern
}

// interpreters has the prompts of known REPLs, including those for the continuation of an incomplete command.
var interpreters = []interpreter{
	{newSet("python", "ipython", "pypy", "bpython", "ptpython"), pattern.Lazy(`^(?:>>>|\.\.\.|In ?\[\d+\]:|\s+\.\.\.:|\(i?Pdb\+{0,2}\)|ipdb>) $`)},
	{newSet("node", "deno", "bun"), pattern.Lazy(`^(?:>|\.\.\.|\|) $`)},
	{newSet("irb", "ruby", "pry"), pattern.Lazy(`^(?:irb\(.{1,60}\)(?::\d+)*[>*"'?]|\[\d+\] pry\(.{1,60}\)[>*]) $`)},
	{newSet("sqlite"), pattern.Lazy(`^(?:sqlite>|\s+\.\.\.>) $`)},
	{newSet("mysql", "mariadb"), pattern.Lazy(`^(?:mysql>|MariaDB \[.{1,64}\]>|\s+->) $`)},
	{newSet("psql"), pattern.Lazy(`^[\w.@:/-]{1,64}[=('"^!*-][>#] $`)},
	{newSet("gdb", "lldb"), pattern.Lazy(`^(?:\((?:gdb|lldb)\)|>) ?$`)},
	{newSet("R", "lua", "luajit"), pattern.Lazy(`^(?:>>?|\+) $`)},
	{newSet("julia"), pattern.Lazy(`^julia> $`)},
	{newSet("ghc", "ghci"), pattern.Lazy(`^(?:ghci|\*?[A-Z][\w.*]*(?: \*?[A-Z][\w.*]*)*)[>|] $`)},
	{newSet("php"), pattern.Lazy(`^php [>{('"] $`)},
	{newSet("redis-cli", "valkey-cli"), pattern.Lazy(`^[\w.:-]{1,80}(?:\[\d+\])?> $`)},
}

// relayedREPLPrompt matches prompts of interpreters behind a relay, where the program is not visible: only prompts that
// nothing else prints. A shell there prints "> " for the rest of a line, which is no question either.
var relayedREPLPrompt = pattern.Lazy(`^(?:>>>|\.\.\.|In ?\[\d+\]:|\s+\.\.\.:|\(i?Pdb\+{0,2}\)|ipdb>|>|irb\(.{1,60}\)(?::\d+)*[>*"'?]|` +
	`\[\d+\] pry\(.{1,60}\)[>*]|sqlite>|\s+\.\.\.>|mysql>|MariaDB \[.{1,64}\]>|\s+->|[\w.-]{1,64}[=('"^!*-][>#]|\((?:gdb|lldb)\)|julia>|` +
	`ghci[>|]|Prelude(?: \*?[A-Z][\w.*]*)*[>|]|php [>{('"]|[\w.-]{1,64}:\d{1,5}(?:\[\d+\])?>) $`)

// ambiguousInterpreters may run a script with the same prompt. They count as interpreters only without a script.
var ambiguousInterpreters = newSet("node", "deno", "bun", "R", "lua", "luajit")

// isREPLPrompt reports whether an interpreter waits for a command.
func (s *evaluation) isREPLPrompt() bool {
	name := s.Probe.Program
	switch {
	case s.AltScreen || s.hidesInput || s.Probe.RunsScript:
		return false
	case s.isRelay: // only the text is known
		return !s.isPrompt && !secretPattern.MatchString(s.line) && relayedREPLPrompt.MatchString(s.line)
	}
	r := findInterpreter(name)
	return r != nil && r.prompt.MatchString(s.line)
}

// findInterpreter returns the entry of a program, with or without a version at the end of its name, or nil if unknown.
func findInterpreter(program string) *interpreter {
	program = withoutVersion(program)
	for i := range interpreters {
		if r := &interpreters[i]; r.programs[program] {
			return r
		}
	}
	return nil
}

// withoutVersion returns a program's name without the version at its end.
func withoutVersion(program string) string {
	return cmp.Or(strings.TrimRight(program, "0123456789."), program)
}

var (
	// noStatusPrograms have no exit status for a line. noStatusWithoutScript have none unless an argument names a
	// script.
	noStatusPrograms      = newSet("sqlite", "mysql", "mariadb", "psql", "gdb", "lldb", "redis-cli", "valkey-cli", "bc", "dc", "jshell", "gnuplot", "ftp", "sftp", "mongosh", "octave-cli", "cat")
	noStatusWithoutScript = newSet("python", "ipython", "pypy", "bpython", "ptpython", "node", "deno", "bun", "irb", "ruby", "pry", "R", "lua", "luajit", "julia", "ghc", "ghci", "php",
		"tclsh", "guile", "racket", "sbcl", "clisp", "ocaml", "swipl")
)

// certainREPLPrompt matches prompts of REPLs that no shell shows, for programs behind a relay such as ssh. Unlike
// relayedREPLPrompt it matches no prompt that a user may have set in a shell.
var certainREPLPrompt = pattern.Lazy(`^(?:>>>|In ?\[\d+\]:|\(i?Pdb\+{0,2}\)|ipdb>|irb\(.{1,60}\)(?::\d+)*[>*"'?]|\[\d+\] pry\(.{1,60}\)[>*]|sqlite>|mysql>|\((?:gdb|lldb)\)|julia>|php >) $`)

// HasNoStatus reports whether a program is a REPL, which has no exit status for a line. It returns false for shells,
// for relays with a shell behind them, and for unknown programs: there a line may fail without a visible status.
func HasNoStatus(program string, argv []string, prompt string) bool {
	name, prompt := withoutVersion(program), strings.TrimRight(prompt, " ")+" "
	switch {
	case relayPrograms[program]:
		return certainREPLPrompt.MatchString(prompt)
	case noStatusPrograms[name], noStatusWithoutScript[name] && !hasScript(argv):
		return true
	}
	r := findInterpreter(program) // a script that is a REPL (ipython, irb), or a script in a debugger
	return r != nil && !ambiguousInterpreters[name] && r.prompt.MatchString(prompt)
}

// runsScript reports whether a program's arguments name a file to run: any argument that is no option. cmdline has the
// arguments separated by NULs.
func runsScript(cmdline []byte) bool {
	return hasScript(strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00"))
}

// hasScript reports what runsScript does, for split arguments.
func hasScript(argv []string) bool {
	for i, arg := range argv {
		if i > 0 && !strings.HasPrefix(arg, "-") {
			return true
		}
	}
	return false
}

var (
	// keyHelp matches a line about a key in a program that keeps running, such as a server or file watcher: a letter's
	// key, and neither yes nor no.
	keyHelp = pattern.Lazy(`(?i)^\W*(?:press|hit|type)\s+["'` + "`" + `]?[a-mo-xz?]["'` + "`" + `]?(?:\s*\+\s*(?:enter|return)|\s*,?\s*then\s+enter)?\s+(?:to|for)\s`)
	// keyQuestion matches a question about keys, which keyHelp is not.
	keyQuestion = pattern.Lazy(`(?i)\b(?:continue|proceed|confirm|accept|agree|cancel|abort|skip|install|retry|overwrite|keep)\b`)
)

// maxHelpRows bounds the rows above the cursor that are searched for key help.
const maxHelpRows = 6

// showsKeyHelp reports whether the rows above the cursor explain keys and prompt for none.
func showsKeyHelp(above []string) (found bool) {
	for _, l := range above[max(0, len(above)-maxHelpRows):] {
		if keyQuestion.MatchString(l) {
			return false
		}
		found = found || keyHelp.MatchString(l)
	}
	return found
}

// readsKeysInBackground reports whether a program keeps running while it reads keys, longterm's own viewers included.
func (s *evaluation) readsKeysInBackground(above []string) bool {
	if s.AltScreen || s.hidesInput || s.isRelay || s.isPrompt || !s.isBlank {
		return false
	}
	return s.Probe.Program == "longterm" || s.isRaw && showsKeyHelp(above)
}

// stdinPrograms read their standard input without a prompt.
var stdinPrograms = newSet("cat", "tac", "tee", "rev", "nl", "sort", "uniq", "wc", "head", "tail", "cut", "tr", "fold", "fmt", "paste", "sed", "grep",
	"awk", "gawk", "mawk", "xargs", "base64", "xxd", "od", "hexdump", "md5sum", "sha1sum", "sha256sum", "jq", "bc", "dc", "ed")

// requestEnd matches the end of a line that requests input on the next line.
var requestEnd = pattern.Lazy(`[:?：？]$`)

// isSilentFilter reports whether a program of stdinPrograms reads the terminal, and the line above the cursor does
// not request input.
func (s *evaluation) isSilentFilter() bool {
	if !stdinPrograms[s.Probe.Program] || s.Probe.State != Reading || s.isRaw || s.hidesInput || s.AltScreen || !s.isBlank || s.isPrompt {
		return false
	}
	return len(s.Above) == 0 || !requestEnd.MatchString(s.Above[len(s.Above)-1])
}
