package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// value is the known value of a variable. The zero value is a variable that is not set on the line.
type value struct {
	text  string // with marks
	set   bool
	fixed bool // readonly, or a reference to another variable: assigned text does not count as written
}

// loggedAssignment is an entry of the log by which assignments are undone.
type loggedAssignment struct {
	name string
	old  value
	had  bool // the variable had a value

	array bool     // the array's list changed
	list  []string // previous value; nil: none
}

// scope holds the variables, functions and place of the shell at one point of the line.
//
// Assignments are logged. Leaving a subshell undoes its part of the log; leaving a branch invalidates what it changed.
// Both cost as much as was assigned, not as much as is set, so that a line takes linear time.
type scope struct {
	vars  map[string]value
	lists map[string][]string // the elements of arrays; no list is nil
	log   []loggedAssignment
}

// get returns the known value of a variable.
func (s *scope) get(name string) value { return s.vars[name] }

// put sets a variable.
func (s *scope) put(name, text string) {
	old, had := s.vars[name]
	s.log = append(s.log, loggedAssignment{name: name, old: old, had: had})
	if len(text) > 64<<10 {
		text = hole
	}
	if old.fixed {
		text = hole
	}
	s.vars[name] = value{text: text, set: true, fixed: old.fixed}
	if _, is := s.lists[name]; is { // it is its first element
		s.putList(name, []string{hole})
	}
}

// putList sets the elements of an array; nil: it is no longer an array.
func (s *scope) putList(name string, list []string) {
	s.log = append(s.log, loggedAssignment{name: name, array: true, list: s.lists[name]})
	s.setList(name, list)
}

// setList sets the elements of an array without a log entry.
func (s *scope) setList(name string, list []string) {
	if list == nil {
		delete(s.lists, name)
		return
	}
	s.lists[name] = list
}

// fix records that later assignments to a variable may have another effect or none.
func (s *scope) fix(name string) {
	v := s.vars[name]
	s.log = append(s.log, loggedAssignment{name: name, old: v, had: v.set})
	v.set, v.fixed = true, true
	s.vars[name] = v
}

// mark returns the current end of the log.
func (s *scope) mark() int { return len(s.log) }

// undo takes back all assignments since mark.
func (s *scope) undo(mark int) {
	for i := len(s.log) - 1; i >= mark; i-- {
		c := s.log[i]
		if c.array {
			s.setList(c.name, c.list)
		} else if c.had {
			s.vars[c.name] = c.old
		} else {
			delete(s.vars, c.name)
		}
	}
	s.log = s.log[:mark]
}

// undoRange resets variables that were assigned between two marks to their earlier values, and keeps later assignments.
func (s *scope) undoRange(from, to int) {
	for i := to - 1; i >= from; i-- {
		switch c := s.log[i]; {
		case c.array:
			s.putList(c.name, c.list)
		default:
			now, had := s.vars[c.name]
			s.log = append(s.log, loggedAssignment{name: c.name, old: now, had: had})
			if s.vars[c.name] = c.old; !c.had {
				delete(s.vars, c.name)
			}
		}
	}
}

// invalidate makes unknown what was assigned since mark: it may or may not have happened.
func (s *scope) invalidate(mark int) {
	for _, c := range s.log[mark:] {
		if c.array {
			s.setList(c.name, []string{hole})
			continue
		}
		if now := s.vars[c.name]; now.text != c.old.text || !c.had {
			text := hole
			if strings.HasSuffix(now.text, anyBelow) { // the names of a walk stay: in some shells, the end of a pipe runs in the shell itself
				text = now.text
			}
			s.vars[c.name] = value{text: text, set: true, fixed: now.fixed}
		}
	}
}

// shellState is the known state of the shell at the current point of the walk.
type shellState struct {
	files
	scope       scope
	funcs       map[string]*function
	aliases     map[string][]string
	args        []string // positional parameters of the current function or shell text; nil if unknown
	zeroth      string   // $0 of the current shell text; empty if unknown
	env         []string // names of variables that are set for the command alone
	stdin       stream   // input of the shell, as set by exec
	shell       string
	parsed      string // text that is being followed
	isWholeLine bool   // parsed is the whole submitted line, not a script in it

	unsure    int  // >0: the code may not run, or not in this shell
	nested    int  // depth of nested shell text
	steps     int  // commands followed so far
	wordCount int  // words of all commands so far
	direct    bool // the command is on the line itself, not in a wrapper, function or substitution
	executed  bool // the command is an execution: the program is its file
	parent    bool // it names the parent process of its shell, which is a keeper
	wrote     bool // the shell opened a file for writing
	sources   bool // it sources a file, which may set anything
}

func newShell(e *Engine, l Line) shellState {
	s := shellState{shell: l.Shell, direct: true,
		files: files{engine: e, cwd: l.Cwd, root: path.Clean(l.Cwd), home: path.Clean("/" + l.Home), account: l.Account, disk: l.Disk,
			installed: l.Installed, created: map[string]createdFile{}, pipes: map[string]string{}},
		scope: scope{vars: map[string]value{}, lists: map[string][]string{}},
		funcs: map[string]*function{}, aliases: map[string][]string{}}
	if l.Home == "" {
		s.home = "/home/user"
	}
	return s
}

// split splits an unquoted expansion into words at blanks.
func split(text, ifs string) []string {
	if ifs == "" {
		return []string{text}
	}
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(ifs, r) })
}

// meaningPrefixes are prefixes of variables that change which programs run or what they do.
var meaningPrefixes = []string{"PATH", "LD_", "DYLD_", "GIT_", "BASH_", "ENV", "IFS", "PS1", "PS2", "PS4", "PS0",
	"PROMPT", "NODE_", "PYTHON", "RUBY",
	"PERL", "JAVA", "_JAVA", "JDK_", "TERMINFO", "TERMCAP", "HOME", "LESS", "MAN", "SHELL", "CDPATH",
	"GLOBIGNORE", "HIST", "XDG_", "TMPDIR",
	"GREP_", "RIPGREP_", "LOCPATH", "GCONV_PATH", "NLSPATH", "HOSTALIASES", "RES_OPTIONS", "OPENSSL",
	"SSL_", "CURL_", "RUSTC", "CARGO", "GO",
	"CC", "CXX", "MAKE", "npm_", "NPM_", "SSH_", "SUDO_", "AWK", "GAWK", "ZDOTDIR", "FPATH", "fpath",
	"INPUTRC", "http_proxy", "https_proxy",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "BROWSER", "VISUAL", "EDITOR", "PAGER", "FZF_", "TAR_",
	"RSYNC_", "GZIP", "UNZIP", "ZIP",
	"MALLOC_", "GLIBC_", "FIGNORE", "EXECIGNORE", "POSIXLY", "DOCKER_", "KUBE", "AWS_", "LUA_", "PHP",
	"GEM_", "BUNDLE_", "PIP_", "VIM",
	"FCEDIT", "LONGTERM", "WINEPREFIX", "BAT_", "DELTA_", "JQ", "TEXMF", "GTK_", "QT_", "DISPLAY_",
	"SYSTEMD_", "DEB", "R_", "JULIA_", "GROFF_", "DPKG_", "NULLCMD", "READNULLCMD", "GDB", "CMAKE_", "NINJA_", "APT_", "RPM_", "DENO_",
	"RUSTFLAGS", "CGO_", "PKG_CONFIG", "COMPILER_PATH", "GCC_", "CCACHE_", "DEPENDENCIES_OUTPUT", "SUNPRO_", "CONFIG_SHELL", "CPATH",
	"C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "MAVEN_", "GRADLE_", "PYTEST", "TOX_", "COVERAGE_", "DISTCC", "LESSKEY", "OBJC", "CLANG",
	"ACK_", "ACKRC", "GH_", "GLAB_", "BUN_", "PNPM_", "YARN_", "COREPACK_", "UV_", "POETRY_", "MISE_", "ASDF_"}

// changesMeaning reports whether a variable changes what programs run or do.
func changesMeaning(name string) bool {
	for _, m := range meaningPrefixes {
		if strings.HasPrefix(name, m) {
			return true
		}
	}
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name,
		"_OPTIONS") ||
		strings.HasSuffix(name, "OPTS") || strings.HasSuffix(name, "_COMMAND") || strings.HasSuffix(name,
		"_PRELOAD")
}

// isCodeVariable reports whether the value of a variable is a command, or options that may name one.
func isCodeVariable(name string) bool {
	_, text := programs.VariableFor(name, programs.AsText)
	_, options := programs.VariableFor(name, programs.AsOptions)
	return text || options
}

// namesReplacement reports whether a variable names a program that replaces another and gets the files or data of it.
func namesReplacement(name string) bool {
	_, is := programs.VariableFor(name, programs.AsProgram)
	return is
}

// optionText returns the line that a variable of options stands for; for less, the text after + is one word.
func optionText(name, text string) string {
	program, is := programs.VariableFor(name, programs.AsOptions)
	if !is {
		return text
	}
	if before, command, has := strings.Cut(text, "+"); has && program == "less" {
		return program + " " + before + " " + shellquote.Word("+"+command)
	}
	return program + " " + text
}
