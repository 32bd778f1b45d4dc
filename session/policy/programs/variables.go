package programs

import (
	"strings"
	"sync"
)

// Use is how programs use the value of a variable.
type Use uint8

// Uses of variables.
const (
	AsText    Use = iota // a shell, or the program itself, runs it as a command
	AsProgram            // it names one program, which is started with files or data of others
	AsOptions            // options of the program Of, added to its command line
	AsCode               // libraries, or directories of programs, that are loaded into others or found before their own
	AsOutput             // a file that is written
)

// variable is one row. Names are blank-separated words; "X*" matches a prefix, "*X" a suffix.
type variable struct {
	Names string
	Use   Use
	Of    string
}

// variables has a row for each use.
var variables = []variable{
	{Names: "PROMPT_COMMAND PS0 PS1 PS2 PS4 LESSOPEN LESSCLOSE LESSEDIT FCEDIT GIT_EXTERNAL_DIFF SPELL BORG_PASSCOMMAND CC CXX LD AR AS CPP MAKE SHELL " +
		"MAKESHELL RUSTC RUSTDOC PKG_CONFIG HGMERGE CLOUDSDK_PYTHON CARGO_TARGET_*_RUNNER CARGO_TARGET_*_LINKER CARGO_BUILD_RUSTC CARGO_BUILD_RUSTDOC " +
		"BASH_FUNC_* *EDITOR *PAGER *BROWSER *ASKPASS *WRAPPER *_COMMAND *_CMD *_PROGRAM *_RSH *_HOOK *_SSH *OPENER *_PROG *_EXTERNAL_DIFF", Use: AsText},
	{Names: "*EDITOR VISUAL *PAGER *BROWSER *ASKPASS *WRAPPER HGMERGE YARN_SCRIPT_SHELL npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL", Use: AsProgram},
	{Names: "VISUAL", Use: AsText},

	{Names: "NODE_OPTIONS npm_config_node_options", Use: AsOptions, Of: "node"},
	{Names: "PERL5OPT", Use: AsOptions, Of: "perl"},
	{Names: "RUBYOPT", Use: AsOptions, Of: "ruby"},
	{Names: "MANOPT", Use: AsOptions, Of: "man"},
	{Names: "LESS", Use: AsOptions, Of: "less"},
	{Names: "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS SBT_OPTS", Use: AsOptions, Of: "java"},
	{Names: "GOFLAGS", Use: AsOptions, Of: "go build"},
	{Names: "FZF_DEFAULT_OPTS", Use: AsOptions, Of: "fzf"},
	{Names: "MAKEFLAGS MFLAGS GNUMAKEFLAGS", Use: AsOptions, Of: "make"},
	{Names: "TAR_OPTIONS", Use: AsOptions, Of: "tar"},
	{Names: "RUSTFLAGS RUSTDOCFLAGS CARGO_BUILD_RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_TARGET_*_RUSTFLAGS", Use: AsOptions, Of: "rustc"},
	{Names: "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CGO_CFLAGS CGO_CXXFLAGS CGO_CPPFLAGS CGO_LDFLAGS", Use: AsOptions, Of: "gcc"},
	{Names: "ERL_FLAGS ERL_AFLAGS ERL_ZFLAGS ELIXIR_ERL_OPTIONS", Use: AsOptions, Of: "erl"},
	{Names: "PYTEST_ADDOPTS", Use: AsOptions, Of: "pytest"},
	{Names: "ZIPOPT", Use: AsOptions, Of: "zip"},
	{Names: "CLOUDSDK_PYTHON_ARGS", Use: AsOptions, Of: "python3"},

	{Names: "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GIT_EXEC_PATH GCONV_PATH GIT_TEMPLATE_DIR OPENSSL_ENGINES OPENSSL_MODULES COMPILER_PATH " +
		"GCC_EXEC_PREFIX GTK_MODULES GTK3_MODULES GTK_PATH GIO_EXTRA_MODULES GIO_MODULE_DIR QT_PLUGIN_PATH GST_PLUGIN_PATH SSH_SK_PROVIDER SSH_SK_HELPER " +
		"AWKLIBPATH CAML_LD_LIBRARY_PATH GEGL_PATH LADSPA_PATH", Use: AsCode},

	{Names: "HISTFILE LESSHISTFILE SQLITE_HISTORY GDBHISTFILE PSQL_HISTORY MYSQL_HISTFILE NODE_REPL_HISTORY PYTHON_HISTORY REDISCLI_HISTFILE " +
		"MALLOC_TRACE LD_DEBUG_OUTPUT LD_PROFILE_OUTPUT LLVM_PROFILE_FILE SSLKEYLOGFILE COVERAGE_FILE GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT " +
		"GIT_TRACE_PACKET GIT_TRACE_SETUP", Use: AsOutput},
}

// index finds rows by name; each assignment of a line looks one up.
var index struct {
	once  sync.Once
	exact map[string][]*variable
	open  []wildcardName
}

// wildcardName is a name with a star, and its row.
type wildcardName struct {
	begin, end string
	row        *variable
}

// makeIndex fills index.
func makeIndex() {
	index.exact = map[string][]*variable{}
	for i := range variables {
		for one := range strings.FieldsSeq(variables[i].Names) {
			if begin, end, open := strings.Cut(one, "*"); open {
				index.open = append(index.open, wildcardName{begin, end, &variables[i]})
			} else {
				index.exact[one] = append(index.exact[one], &variables[i])
			}
		}
	}
}

// VariableFor reports whether a variable has a use, and of AsOptions the program whose options it holds.
func VariableFor(name string, use Use) (of string, is bool) {
	index.once.Do(makeIndex)
	for _, v := range index.exact[name] {
		if v.Use == use {
			return v.Of, true
		}
	}
	for i := range index.open {
		o := &index.open[i]
		if o.row.Use == use && len(name) >= len(o.begin)+len(o.end) && strings.HasPrefix(name, o.begin) && strings.HasSuffix(name, o.end) {
			return o.row.Of, true
		}
	}
	return "", false
}

// VariableNames returns the names of all variables with a use.
func VariableNames(use Use) string {
	var names []string
	for _, v := range variables {
		if v.Use == use {
			names = append(names, v.Names)
		}
	}
	return strings.Join(names, " ")
}
