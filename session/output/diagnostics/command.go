package diagnostics

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session/pattern"
)

// maxCommandBytes bounds the command line that is parsed, maxCommandDepth how often a
// command in a command (sh -c) is.
const (
	maxCommandBytes = 8 << 10
	maxCommandDepth = 4
)

// Command is the command of a command line that its output is mostly from.
type Command struct {
	Name string   `json:"name"` // without directory, suffix or version: "gcc" of /usr/bin/gcc-12
	Args []string `json:"args,omitempty"`
}

// Sub returns the first argument that is not an option: the verb of git, go, cargo, npm.
func (c Command) Sub() string {
	takes := valueOptions[c.Name]
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		if takes[a] {
			i++
			continue
		}
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			return a
		}
	}
	return ""
}

// Has reports if an option is given, by itself or, for one letter, among others: -la has l.
func (c Command) Has(options ...string) bool {
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

// valueOptions are options before a verb that take a value.
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
	takes       map[string]bool // options with a value
	skip        int             // arguments before the command
	assignments bool            // NAME=value may come before the command
	verb        string          // it is one only with this verb
}

var wrappers = map[string]wrapper{
	"sudo":     {takes: set("-u", "-g", "-h", "-p", "-C", "-D", "-r", "-t", "-T", "-U"), assignments: true},
	"doas":     {takes: set("-u", "-C")},
	"env":      {takes: set("-u", "-C", "-S"), assignments: true},
	"time":     {takes: set("-f", "-o")},
	"nice":     {takes: set("-n")},
	"ionice":   {takes: set("-c", "-n")},
	"nohup":    {},
	"setsid":   {},
	"stdbuf":   {takes: set("-i", "-o", "-e")},
	"timeout":  {takes: set("-s", "-k"), skip: 1},
	"command":  {},
	"builtin":  {},
	"exec":     {takes: set("-a")},
	"unbuffer": {}, "catchsegv": {}, "fakeroot": {}, "caffeinate": {}, "ccache": {}, "distcc": {},
	"taskset": {skip: 1},
	"chrt":    {skip: 1},
	"strace":  {takes: set("-e", "-o", "-p", "-s")},
	"npx":     {takes: set("-p", "--package", "-c")}, "bunx": {},
	"pnpm":   {verb: "exec"},
	"yarn":   {verb: "exec"},
	"bundle": {verb: "exec"},
	"uv":     {verb: "run", takes: set("--with", "--python", "-p")},
	"poetry": {verb: "run"},
	"pipenv": {verb: "run"},
	"direnv": {verb: "exec", skip: 1},
}

// passes are filters after which the output is still the command's before them.
var passes = set("tee", "tail", "head", "grep", "egrep", "fgrep", "rg", "cat", "less", "more", "sort", "uniq", "ts", "bat", "column", "ccze", "grcat")

// minor are commands that matter only if nothing else is there.
var minor = set("cd", "pushd", "popd", "echo", "printf", "export", "unset", "set", "shopt", "true", "false", "source", ".", "test", "[", "sleep",
	"wait", "exit", "return", "clear", "date", "pwd", ":", "umask", "ulimit", "alias", "mkdir", "touch", "stty", "trap")

// ParseCommand finds the command that the output of a line is mostly from: of a list
// the last that is not a minor one, of a pipeline the last that is no filter, and what
// a wrapper (sudo, env, time, sh -c) runs instead of the wrapper.
func ParseCommand(line string) Command { return parseCommand(line, 0) }

func parseCommand(line string, depth int) Command {
	if len(line) > maxCommandBytes {
		line = line[:maxCommandBytes]
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || f == nil {
		return unwrap(strings.Fields(line), depth)
	}
	var c chooser
	for _, s := range f.Stmts {
		c.stmt(s, 0)
	}
	best := c.last
	for _, args := range c.found {
		if cmd := unwrap(args, depth); cmd.Name != "" && !minor[cmd.Name] {
			best = args
		}
	}
	return unwrap(best, depth)
}

// chooser collects the simple commands that a line's output can be from.
type chooser struct {
	found [][]string
	last  []string
}

// maxNesting bounds the recursion: blocks in blocks.
const maxNesting = 50

func (c *chooser) stmt(s *syntax.Stmt, depth int) {
	if s == nil || s.Cmd == nil || depth > maxNesting {
		return
	}
	stmts := func(list []*syntax.Stmt) {
		for _, s := range list {
			c.stmt(s, depth+1)
		}
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		c.call(x)
	case *syntax.BinaryCmd:
		if x.Op == syntax.Pipe || x.Op == syntax.PipeAll {
			c.pipe(x, depth+1)
			return
		}
		c.stmt(x.X, depth+1)
		c.stmt(x.Y, depth+1)
	case *syntax.Subshell:
		stmts(x.Stmts)
	case *syntax.Block:
		stmts(x.Stmts)
	case *syntax.TimeClause:
		c.stmt(x.Stmt, depth+1)
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

// pipe takes the last part of a pipeline that is no filter.
func (c *chooser) pipe(b *syntax.BinaryCmd, depth int) {
	var right chooser
	right.stmt(b.Y, depth)
	if len(right.last) > 0 && passes[baseName(right.last[0])] {
		c.stmt(b.X, depth)
		return
	}
	c.found = append(c.found, right.found...)
	c.last = right.last
}

func (c *chooser) call(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return // only assignments
	}
	args := words(x)
	c.last = args
	c.found = append(c.found, args)
}

// words returns a command's name and arguments.
func words(x *syntax.CallExpr) []string {
	args := make([]string, len(x.Args))
	for i, w := range x.Args {
		var b strings.Builder
		wordText(&b, w.Parts)
		args[i] = b.String()
	}
	return args
}

// wordText appends a word without its quotes. It leaves out expansions.
func wordText(b *strings.Builder, parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			wordText(b, p.Parts)
		}
	}
}

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

// unwrap finds what a wrapper runs.
func unwrap(args []string, depth int) Command {
	for len(args) > 0 {
		name := baseName(args[0])
		if assignment.MatchString(args[0]) { // of a line that could not be parsed
			args = args[1:]
			continue
		}
		if inner, ok := script(name, args[1:]); ok && depth < maxCommandDepth {
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
		case w.takes[a] && len(args) > 1:
			args = args[2:]
		case len(a) > 1 && a[0] == '-', w.assignments && assignment.MatchString(a):
			args = args[1:]
		default:
			return args[min(w.skip, len(args)):]
		}
	}
	return nil
}

var assignment = pattern.Lazy(`^[A-Za-z_][A-Za-z0-9_]*=`)

// script returns the text of sh -c 'text'.
func script(name string, args []string) (string, bool) {
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

// version is what distributions add to a compiler's name; target is the machine before it.
var (
	version = pattern.Lazy(`^(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|python|pip|node|ruby|java|javac|go|php)-?\d+(?:\.\d+)*$`)
	target  = pattern.Lazy(`^(?:\w+-){2,3}(gcc|g\+\+|clang|clang\+\+|ld|ar|as)$`)
)

func baseName(s string) string {
	s = path.Base(strings.ReplaceAll(s, `\`, "/"))
	if s == "." || s == "/" {
		return s
	}
	s = strings.TrimSuffix(s, ".exe")
	if m := version.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	if m := target.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return s
}
