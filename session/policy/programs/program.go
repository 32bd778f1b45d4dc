// Package programs is a table of what common programs do with their arguments: one row per program.
//
// A row answers four questions about a known argument list:
//
//   - Which options take a value, so that a value is not mistaken for an operand.
//   - Which arguments are commands, shell text or code of another language.
//   - Which files are written or removed.
//   - Whether the program only reads, and which options change that.
//
// The table knows no rules or verdicts. Programs without a row are unknown: they may run any argument.
package programs

import (
	"strings"
	"sync"
)

// Run selects the operands of a program that are a command.
type Run uint8

// Which operands are a command.
const (
	RunNothing    Run = iota // operands are data
	RunArgv                  // the operands after Skip are a command and its arguments
	RunShell                 // the operands after Skip, joined by blanks, are shell text
	RunFirstShell            // the first operand is shell text
	RunScript                // the first operand is a file of shell commands
	RunFirstCode             // the first operand is code of Lang, unless a code option gave it
	RunPerhaps               // any argument may be, or contain, a command
)

// Program is one row. Lists are words separated by blanks.
type Program struct {
	Name   string // name and other names; "git log" for a subcommand
	Values string // options that take a value
	Flags  string // options without a value: for abbreviations, and for Strict

	OneDash bool // options are whole words after one dash: find, go, java
	Stop    bool // options end at the first operand
	Old     bool // its first word may be the letters of its options, without a dash: tar

	Reads   bool   // it only reads, unless an Unsafe option is given
	Unsafe  string // options that make it write, run programs, or talk to others
	Strict  bool   // options that are not in the row make it do more, too
	Need    string // it only reads when one of these is given
	NeedArg string // as Need, but only where operands are given
	Max     int    // it only reads with at most that many operands; 0: any number
	None    bool   // it only reads without operands

	Run         Run
	Skip        int    // operands before the command
	Assigns     bool   // NAME=VALUE operands before the command set its environment
	Shell       string // options whose value is shell text
	Argv        string // options followed by a command up to ";" or "+"
	Code        string // options whose value is code of Lang
	Script      string // options whose value is a file of commands
	Runs        string // options whose value is a program, perhaps with arguments, that is given data or files
	Loads       string // options whose value is code that is loaded: a library, or a directory of programs
	Lang        string // sh, awk, sed, python, perl, ruby, node, lua, php, vim, make, sql, powershell, console
	StdinAlways bool   // as StdinRun, also where operands are given

	StdinRun bool // without operands, standard input is run as Lang
	SubOnly  bool // a row of subcommands: an unknown one is not read-only

	Writes  string // options whose value is a file that is written
	WriteTo Targets
	Removes Targets

	set func() *sets // computed on first use
}

// Targets selects the operands that are changed files.
type Targets uint8

// Which operands are changed.
const (
	NoTargets Targets = iota
	AllOperands
	LastOperand
	OperandsAfterFirst
	FirstOperand
)

// sets holds a row's lists as sets.
type sets struct {
	values, flags, unsafe, need, needArg, shell, argv, code, script, writes, runs, loads map[string]bool

	long []string
}

var table = sync.OnceValue(func() map[string]*Program {
	byName := map[string]*Program{}
	for _, group := range groups() {
		for i := range group {
			p := &group[i]
			p.set = sync.OnceValue(p.compile)
			for _, name := range names(p.Name) {
				byName[name] = p
			}
		}
	}
	return byName
})

// groups returns the rows, grouped as in the files.
func groups() [][]Program {
	return [][]Program{wrappers, shells, readers, writers, languages, git, tools, network, system, consoles, windows}
}

// names splits a row's name at commas: "git log" is one name, "nawk,mawk" are two.
func names(s string) []string {
	out := strings.Split(s, ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// set splits a list at blanks.
func set(s string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		m[word] = true
	}
	return m
}

// compile computes a row's sets on first use, since most programs never need theirs.
func (p *Program) compile() *sets {
	s := &sets{
		values: set(p.Values), flags: set(p.Flags), unsafe: set(p.Unsafe), need: set(p.Need), needArg: set(p.NeedArg),
		shell: set(p.Shell), argv: set(p.Argv), code: set(p.Code), script: set(p.Script), writes: set(p.Writes),
		runs: set(p.Runs), loads: set(p.Loads),
	}
	for _, m := range []map[string]bool{s.shell, s.code, s.script, s.writes, s.runs, s.loads} {
		for o := range m {
			s.values[o] = true
		}
	}
	seen := map[string]bool{}
	for _, list := range []string{p.Values, p.Flags, p.Unsafe, p.Need, p.NeedArg, p.Shell, p.Code, p.Script,
		p.Writes, p.Runs, p.Loads} {
		for o := range strings.FieldsSeq(list) {
			if strings.HasPrefix(o, "--") && !seen[o] {
				seen[o] = true
				s.long = append(s.long, o)
			}
		}
	}
	return s
}

// Lookup finds a program's row by its name without a directory; nil if it is unknown.
func Lookup(name string) *Program {
	name = strings.TrimSuffix(name, ".exe")
	if p := table()[name]; p != nil {
		return p
	}
	switch {
	case strings.HasPrefix(name, "mkfs."):
		return table()["mkfs"]
	case strings.HasPrefix(name, "ld-linux"), strings.HasPrefix(name, "ld-musl"), strings.HasPrefix(name, "ld64"):
		return table()["ld.so"]
	}
	if base := strings.TrimRight(name, "0123456789."); base != name && base != "" {
		// python3.12, gcc-12, lua5.4: the same program in a version.
		if p := table()[strings.TrimSuffix(base, "-")]; p != nil && p.Lang != "" {
			return p
		}
	}
	return nil
}

// Unknown returns a row for programs that are not in the table: no option takes a value.
func Unknown() *Program {
	p := &Program{Name: "?"}
	p.set = sync.OnceValue(p.compile)
	return p
}

// Sub finds the row of a subcommand; path is "git remote", for example.
func Sub(path string) *Program { return table()[path] }

// All calls f for each row.
func All(f func(*Program)) {
	seen := map[*Program]bool{}
	for _, p := range table() {
		if !seen[p] {
			seen[p] = true
			f(p)
		}
	}
}

// IsUnsafe reports whether option name makes a reading program do more.
func (p *Program) IsUnsafe(name string) bool {
	return p.set().unsafe[name] || p.set().writes[name] || p.set().runs[name] || p.set().loads[name]
}

// IsFlag reports whether option name is known to take no value and to change nothing.
func (p *Program) IsFlag(name string) bool { return p.set().flags[name] }

// TakesProgram reports whether the value of option name is a program that is run.
func (p *Program) TakesProgram(name string) bool { return p.set().runs[name] }

// TakesLoadedCode reports whether the value of option name is code that is loaded.
func (p *Program) TakesLoadedCode(name string) bool { return p.set().loads[name] }

// TakesShellCode reports whether the value of option name is shell text.
func (p *Program) TakesShellCode(name string) bool { return p.set().shell[name] }

// TakesCommand reports whether option name is followed by a command.
func (p *Program) TakesCommand(name string) bool { return p.set().argv[name] }

// TakesCode reports whether the value of option name is code of Lang.
func (p *Program) TakesCode(name string) bool { return p.set().code[name] }

// TakesScript reports whether the value of option name is a file of commands.
func (p *Program) TakesScript(name string) bool { return p.set().script[name] }

// TakesOutputFile reports whether the value of option name is a file that is written.
func (p *Program) TakesOutputFile(name string) bool { return p.set().writes[name] }
