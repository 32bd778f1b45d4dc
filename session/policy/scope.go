package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// value is what is known of a variable. The zero value is a variable that is not set on the line.
type value struct {
	text  string // with marks
	set   bool
	fixed bool // readonly, or another name of a variable: what is assigned does not count as it is written
}

// change is one entry of the log that undoes assignments.
type change struct {
	name string
	old  value
	had  bool

	array bool     // it is the list of an array that changed
	list  []string // as it was; nil: there was none
}

// scope holds the variables, functions and place of the shell at one point of the line.
//
// Assignments are logged. A subshell is left by undoing its part of the log; a branch by making unknown
// what it changed: both cost what was assigned, not what is set, so that a line takes linear time.
type scope struct {
	vars  map[string]value
	lists map[string][]string // the elements of arrays; no list is nil
	log   []change
}

func (s *scope) get(name string) value { return s.vars[name] }

func (s *scope) put(name, text string) {
	old, had := s.vars[name]
	s.log = append(s.log, change{name: name, old: old, had: had})
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

// putList sets the elements of an array; nil: they are those of none any more.
func (s *scope) putList(name string, list []string) {
	s.log = append(s.log, change{name: name, array: true, list: s.lists[name]})
	s.setList(name, list)
}

func (s *scope) setList(name string, list []string) {
	if list == nil {
		delete(s.lists, name)
		return
	}
	s.lists[name] = list
}

// fix says that later assignments to a variable do something else, or nothing.
func (s *scope) fix(name string) {
	v := s.vars[name]
	s.log = append(s.log, change{name: name, old: v, had: v.set})
	v.set, v.fixed = true, true
	s.vars[name] = v
}

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

// takeBack sets what was assigned between two marks to what it was before, and keeps what was assigned since.
func (s *scope) takeBack(from, to int) {
	for i := to - 1; i >= from; i-- {
		switch c := s.log[i]; {
		case c.array:
			s.putList(c.name, c.list)
		default:
			now, had := s.vars[c.name]
			s.log = append(s.log, change{name: c.name, old: now, had: had})
			if s.vars[c.name] = c.old; !c.had {
				delete(s.vars, c.name)
			}
		}
	}
}

// blur makes unknown what was assigned since mark: it may or may not have happened.
func (s *scope) blur(mark int) {
	for _, c := range s.log[mark:] {
		if c.array {
			s.setList(c.name, []string{hole})
			continue
		}
		if now := s.vars[c.name]; now.text != c.old.text || !c.had {
			s.vars[c.name] = value{text: hole, set: true, fixed: now.fixed}
		}
	}
}

// shellState is what the shell knows where the walk is, and what the walk knows of it.
type shellState struct {
	files
	scope   scope
	funcs   map[string]*function
	aliases map[string][]string
	args    []string // of the function or shell text that is followed; nil if not known
	env     []string // names of variables that are set for the command alone
	stdin   stream   // that exec gave the shell
	shell   string
	parsed  string // the text that is followed, for what the parser reads otherwise than shells do
	whole   bool   // that text is the line itself, and a shell reads it

	unsure   int // what is followed may not be run, or not in this shell
	nested   int
	steps    int
	heard    int  // words of all commands
	direct   bool // the command stands on the line itself, not in a wrapper, function or substitution
	executed bool // what is judged is an execution: the program is the file that it is
	parent   bool // it names the process that started its shell, which is a keeper
	wrote    bool // the shell has opened a file for writing
	sources  bool // it runs a file in its own shell, which may set anything
}

func newShell(e *Engine, l Line) shellState {
	s := shellState{shell: l.Shell, direct: true,
		files: files{engine: e, cwd: l.Cwd, root: path.Clean(l.Cwd), home: path.Clean("/" + l.Home), account: l.Account, real: l.Real,
			placed: l.Installed, made: map[string]made{}, pipes: map[string]string{}},
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

// meaning are variables that change which programs run or what they do, by their beginnings.
var meaning = []string{"PATH", "LD_", "DYLD_", "GIT_", "BASH_", "ENV", "IFS", "PS1", "PS2", "PS4", "PS0",
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
	for _, m := range meaning {
		if strings.HasPrefix(name, m) {
			return true
		}
	}
	return strings.HasSuffix(name, "PAGER") || strings.HasSuffix(name, "EDITOR") || strings.HasSuffix(name,
		"_OPTIONS") ||
		strings.HasSuffix(name, "OPTS") || strings.HasSuffix(name, "_COMMAND") || strings.HasSuffix(name,
		"_PRELOAD")
}

// codeVariable reports whether the value of a variable is a command, or options that may name one.
func codeVariable(name string) bool {
	_, text := programs.VariableFor(name, programs.AsText)
	_, options := programs.VariableFor(name, programs.AsOptions)
	return text || options
}

// standsIn reports variables that name one program which is then started with files or data of others.
func standsIn(name string) bool {
	_, is := programs.VariableFor(name, programs.AsProgram)
	return is
}

// optionText is the line that a variable of options makes; of less, what follows + is one word.
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
