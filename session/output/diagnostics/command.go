package diagnostics

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session/pattern"
)

// maxCommandBytes bounds the command line that is parsed, maxCommandDepth the nesting of commands in commands (sh -c).
const (
	maxCommandBytes = 8 << 10
	maxCommandDepth = 4
)

// Command is the command of a command line that printed most of its output.
type Command struct {
	Name string   `json:"name"` // without directory, suffix or version: "gcc" of /usr/bin/gcc-12
	Args []string `json:"args,omitempty"`
}

// Subcommand returns the first argument that is not an option: the verb of git, go, cargo, npm.
func (c Command) Subcommand() string {
	withValue := valueOptions[c.Name]
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if withValue[a] {
			i++
			continue
		}
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			return a
		}
	}
	return ""
}

// HasOption reports whether an option is given, by itself or, for one letter, among others: -la has l.
func (c Command) HasOption(options ...string) bool {
	for _, a := range c.Args {
		if a == "--" {
			return false
		}
		for _, o := range options {
			if a == o || strings.HasPrefix(o, "--") && strings.HasPrefix(a, o+"=") {
				return true
			}
			if len(o) == 2 && len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a[1:], o[1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// valueOptions lists the options before a verb that take a value, by program.
var valueOptions = map[string]map[string]bool{
	"git":   set("-C", "-c", "--git-dir", "--work-tree", "--namespace"),
	"go":    set("-C"),
	"cargo": set("--color", "--config", "-Z", "-C"),
	"npm":   set("--prefix", "-w", "--workspace"),
	"pnpm":  set("-C", "--dir", "--filter", "-F"),
	"yarn":  set("--cwd"),
	"make":  set("-C", "-f", "-j", "-I", "-o", "-W"),
}

// wrapper is a command that runs another command.
type wrapper struct {
	valueOptions      map[string]bool // options that take a value
	skip              int             // arguments before the command
	allowsAssignments bool            // NAME=value may come before the command
	verb              string          // the command is a wrapper only with this verb
}

// wrappers lists the commands that run another command.
var wrappers = map[string]wrapper{
	"sudo":     {valueOptions: set("-u", "-g", "-h", "-p", "-C", "-D", "-r", "-t", "-T", "-U"), allowsAssignments: true},
	"doas":     {valueOptions: set("-u", "-C")},
	"env":      {valueOptions: set("-u", "-C", "-S"), allowsAssignments: true},
	"time":     {valueOptions: set("-f", "-o")},
	"nice":     {valueOptions: set("-n")},
	"ionice":   {valueOptions: set("-c", "-n")},
	"nohup":    {},
	"setsid":   {},
	"stdbuf":   {valueOptions: set("-i", "-o", "-e")},
	"timeout":  {valueOptions: set("-s", "-k"), skip: 1},
	"command":  {},
	"builtin":  {},
	"exec":     {valueOptions: set("-a")},
	"unbuffer": {}, "catchsegv": {}, "fakeroot": {}, "caffeinate": {}, "ccache": {}, "distcc": {},
	"taskset": {skip: 1},
	"chrt":    {skip: 1},
	"strace":  {valueOptions: set("-e", "-o", "-p", "-s")},
	"npx":     {valueOptions: set("-p", "--package", "-c")}, "bunx": {},
	"pnpm":   {verb: "exec"},
	"yarn":   {verb: "exec"},
	"bundle": {verb: "exec"},
	"uv":     {verb: "run", valueOptions: set("--with", "--python", "-p")},
	"poetry": {verb: "run"},
	"pipenv": {verb: "run"},
	"direnv": {verb: "exec", skip: 1},
}

// filters lists commands after which the output is still that of the command before them in a pipeline.
var filters = set("tee", "tail", "head", "grep", "egrep", "fgrep", "rg", "cat", "less", "more", "sort", "uniq", "ts", "bat", "column", "ccze", "grcat")

// minorCommands count only if a line has no other command.
var minorCommands = set("cd", "pushd", "popd", "echo", "printf", "export", "unset", "set", "shopt", "true", "false", "source", ".", "test", "[", "sleep",
	"wait", "exit", "return", "clear", "date", "pwd", ":", "umask", "ulimit", "alias", "mkdir", "touch", "stty", "trap")

// ParseCommand finds the command that printed most of a line's output: in a list the last one that is not minor, in a
// pipeline the last one that is no filter, and the wrapped command instead of a wrapper (sudo, env, time, sh -c).
func ParseCommand(line string) Command { return parseCommand(line, 0) }

func parseCommand(line string, depth int) Command {
	if len(line) > maxCommandBytes {
		line = line[:maxCommandBytes]
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || f == nil {
		return unwrap(strings.Fields(line), depth)
	}
	var c commandFinder
	for _, s := range f.Stmts {
		c.visitStmt(s, 0)
	}
	best := c.last
	for _, args := range c.found {
		if cmd := unwrap(args, depth); cmd.Name != "" && !minorCommands[cmd.Name] {
			best = args
		}
	}
	return unwrap(best, depth)
}

// commandFinder collects the simple commands that may have printed a line's output.
type commandFinder struct {
	found [][]string
	last  []string
}

// maxNesting bounds the recursion into nested blocks.
const maxNesting = 50

func (c *commandFinder) visitStmt(s *syntax.Stmt, depth int) {
	if s == nil || s.Cmd == nil || depth > maxNesting {
		return
	}
	stmts := func(list []*syntax.Stmt) {
		for _, s := range list {
			c.visitStmt(s, depth+1)
		}
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		c.visitCall(x)
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			c.visitPipe(x, depth+1)
			return
		}
		c.visitStmt(x.X, depth+1)
		c.visitStmt(x.Y, depth+1)
	case *syntax.Subshell:
		stmts(x.Stmts)
	case *syntax.Block:
		stmts(x.Stmts)
	case *syntax.TimeClause:
		c.visitStmt(x.Stmt, depth+1)
	case *syntax.IfClause:
		for i := 0; x != nil && i < maxNesting; x, i = x.Else, i+1 {
			stmts(x.Then)
		}
	case *syntax.ForClause:
		stmts(x.Do)
	case *syntax.WhileClause:
		stmts(x.Do)
	}
}

// visitPipe visits the last part of a pipeline that is no filter.
func (c *commandFinder) visitPipe(b *syntax.BinaryCmd, depth int) {
	var right commandFinder
	right.visitStmt(b.Y, depth)
	if len(right.last) > 0 && filters[baseName(right.last[0])] {
		c.visitStmt(b.X, depth)
		return
	}
	c.found = append(c.found, right.found...)
	c.last = right.last
}

func (c *commandFinder) visitCall(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return // only assignments
	}
	args := callWords(x)
	c.last = args
	c.found = append(c.found, args)
}

// callWords returns a command's name and arguments.
func callWords(x *syntax.CallExpr) []string {
	args := make([]string, len(x.Args))
	for i, w := range x.Args {
		var b strings.Builder
		appendWord(&b, w.Parts)
		args[i] = b.String()
	}
	return args
}

// appendWord appends a word without its quotes. It omits expansions.
func appendWord(b *strings.Builder, parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			appendWord(b, p.Parts)
		}
	}
}

// unescape removes backslashes.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unwrap returns the command that a wrapper runs.
func unwrap(args []string, depth int) Command {
	for len(args) > 0 {
		name := baseName(args[0])
		if assignment.MatchString(args[0]) { // of a line that could not be parsed
			args = args[1:]
			continue
		}
		if inner, ok := shellScript(name, args[1:]); ok && depth < maxCommandDepth {
			return parseCommand(inner, depth+1)
		}
		if mod, ok := pythonModule(name, args[1:]); ok {
			args = mod
			continue
		}
		w, ok := wrappers[name]
		if !ok {
			return Command{Name: name, Args: args[1:]}
		}
		rest := w.wrappedArgs(args[1:])
		if len(rest) == 0 {
			return Command{Name: name, Args: args[1:]}
		}
		args = rest
	}
	return Command{}
}

// wrappedArgs returns a wrapper's arguments from the wrapped command on.
func (w *wrapper) wrappedArgs(args []string) []string {
	if w.verb != "" {
		if len(args) == 0 || args[0] != w.verb {
			return nil
		}
		args = args[1:]
	}
	for len(args) > 0 {
		switch a := args[0]; {
		case a == "--":
			args = args[1:]
			return args[min(w.skip, len(args)):]
		case w.valueOptions[a] && len(args) > 1:
			args = args[2:]
		case len(a) > 1 && a[0] == '-', w.allowsAssignments && assignment.MatchString(a):
			args = args[1:]
		default:
			return args[min(w.skip, len(args)):]
		}
	}
	return nil
}

// assignment matches NAME=value.
var assignment = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*=`)

// shellScript returns the text of sh -c 'text'.
func shellScript(name string, args []string) (string, bool) {
	if !shells[name] {
		return "", false
	}
	for i, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c") && i+1 < len(args) {
			return args[i+1], true
		}
		if a == "" || a[0] != '-' {
			break
		}
	}
	return "", false
}

var shells = set("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "lksh", "rbash", "rzsh", "rksh", "ksh93", "ksh93u+m")

// pythonModule returns the module of python -m module, with its arguments, as a command.
func pythonModule(name string, args []string) ([]string, bool) {
	if name != "python" {
		return nil, false
	}
	for i, a := range args {
		if a == "-m" && i+1 < len(args) {
			return args[i+1:], true
		}
		if a == "" || a[0] != '-' {
			break
		}
	}
	return nil, false
}

// versionSuffix matches a program's name with a version that distributions add; targetPrefix matches a machine before it.
var (
	versionSuffix = pattern.Lazy(`^(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|python|pip|node|ruby|java|javac|go|php)-?\d+(?:\.\d+)*$`)
	targetPrefix  = pattern.Lazy(`^(?:\w+-){2,3}(gcc|g\+\+|clang|clang\+\+|ld|ar|as)$`)
)

// baseName returns a program's name without directory, suffix, version and machine.
func baseName(s string) string {
	s = path.Base(strings.ReplaceAll(s, `\`, "/"))
	if s == "." || s == "/" {
		return s
	}
	s = strings.TrimSuffix(s, ".exe")
	if m := versionSuffix.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	if m := targetPrefix.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return s
}
