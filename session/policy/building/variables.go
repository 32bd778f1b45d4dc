package building

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Variables before a command. What a name does not tell its value has to: a plain word, or a path of the project.

var (
	plain = pattern.Lazy(`^[A-Za-z0-9_.,:+%@]?[A-Za-z0-9_.,:+%@ -]*$`)
	flag  = pattern.Lazy(`^-(O[0-3sgz]?|g[0-9a-z-]*|W(no-)?[a-z0-9][a-z0-9+=-]*|std=[a-z0-9+]+|f[a-z][a-z0-9-]*(=[a-z0-9,-]+)?|[DU][A-Za-z0-9_]+(=[A-Za-z0-9_."]*)?|` +
		`m[a-z0-9=.-]+|l[a-z0-9_+-]+|pedantic|pipe|pthread|shared|static|s|v|race|trimpath|short|mod=[a-z]+|tags=[A-Za-z0-9_,]+|count=[0-9]+|p=[0-9]+|buildvcs=[a-z]+|timeout=[0-9a-z]+|` +
		`A[a-z_:]+|D|A|C|warnings|(C ?)?(target-cpu|opt-level|debuginfo|debug-assertions|lto|codegen-units|target-feature|panic)=[A-Za-z0-9+,._-]+)$`)
	// jobs is how much make may do at once, limits are what others may be told to do and to tell.
	jobs   = pattern.Lazy(`^-?[jksw]+[0-9]*( -[jksw]+[0-9]*)*$`)
	limits = pattern.Lazy(`^node:--(max[-_](old|semi)[-_]space[-_]size=[0-9]+|(no|trace)-warnings|trace-deprecation|enable-source-maps)$|` +
		`^java:(--enable-preview|-(X(m[nsx]|ss)[0-9]+[kKmMgG]?|XX:[+-]Use[A-Za-z0-9]+|XX:(Max|Min|Initial|Reserved|Active)[A-Za-z]+=[0-9.]+[kKmMgG]?|XX:TieredStopAtLevel=[0-4]|ea|esa|server|client|` +
		`D(file\.encoding|sun\.jnu\.encoding|user\.(timezone|language|country)|java\.awt\.headless|java\.net\.preferIPv[46]\w+|maven\.test\.[a-z.]+|` +
		`org\.gradle\.(daemon|parallel|caching|console|workers\.max|configureondemand|warning\.mode|logging\.level|vfs\.watch)|` +
		`skipTests|skipITs|style\.color|spring\.profiles\.active|org\.slf4j\.[A-Za-z.]+)(=[A-Za-z0-9_,.+-]*)?))$|` +
		`^pytest:(-(v+|q+|x|s|l|n([0-9]+|auto)|r[a-zA-Z]+|pno:[a-z]+)|--(tb|maxfail|durations|color|verbosity|numprocesses)=[a-z0-9]+|--(lf|ff|sw|nf|no-header|no-summary|` +
		`strict-markers|strict-config|quiet|verbose|exitfirst|showlocals|disable-warnings|last-failed|failed-first))$`)
)

// words are variables that programs look at for a word: it chooses among what they do.
const words = "GOOS GOARCH GOARM GOAMD64 GOMAXPROCS GOGC GOMEMLIMIT GO111MODULE GOEXPERIMENT GOTRACEBACK GOTOOLCHAIN CGO_ENABLED NODE_ENV NODE_DEBUG " +
	"CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS CARGO_NET_OFFLINE RUSTC_BOOTSTRAP RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE " +
	"PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PYTHONFAULTHANDLER PYTHONOPTIMIZE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_ADVICE CMAKE_BUILD_TYPE " +
	"CMAKE_BUILD_PARALLEL_LEVEL CMAKE_COLOR_DIAGNOSTICS npm_config_loglevel NPM_CONFIG_LOGLEVEL DOCKER_BUILDKIT DEB_BUILD_OPTIONS HISTSIZE MAKE_TERMOUT CCACHE_DISABLE " +
	"VIRTUAL_ENV_DISABLE_PROMPT PIP_DISABLE_PIP_VERSION_CHECK JAVA_VERSION"

// Variable reports whether a variable leaves programs what they are. changes says that its name is one that changes what
// programs do; inside, whether a path is one of the project.
func Variable(name, value string, changes bool, inside func(path string) bool) bool {
	fields := strings.Fields(value)
	switch {
	case listed("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GH_PAGER", name):
		return value == "" || value == "cat"
	case listed("GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR", name):
		return value == "true" || value == ":" || value == "cat"
	case listed("GIT_AUTHOR_* GIT_COMMITTER_*", name), name == "NINJA_STATUS":
		return true
	case listed("DEBUG GODEBUG", name):
		return only(value, letters+"0123456789_.,:=* -")
	case name == "MAKEFLAGS":
		return jobs.MatchString(value)
	case name == "NODE_OPTIONS":
		return len(fields) > 0 && chooses("node", fields)
	case listed("JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS SBT_OPTS", name):
		return chooses("java", fields)
	case name == "PYTEST_ADDOPTS":
		return chooses("pytest", strings.Fields(strings.NewReplacer("-n ", "-n", "-p no:", "-pno:").Replace(value)))
	case listed("GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE", name): // other values are files that it writes
		return listed("0 1 2 true false", value)
	case name == "TMPDIR":
		return inside(value)
	case name == "LESS":
		return only(strings.TrimPrefix(value, "-"), "FRXSiMNr")
	case listed("CC CXX HOSTCC", name):
		return len(fields) > 0 && isCompiler(fields[0]) && harmless(fields[1:], inside)
	case listed("CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CGO_CFLAGS CGO_CXXFLAGS CGO_CPPFLAGS CGO_LDFLAGS RUSTFLAGS RUSTDOCFLAGS GOFLAGS", name):
		return harmless(fields, inside)
	case listed("PYTHONPATH NODE_PATH LD_LIBRARY_PATH", name):
		return !slices.ContainsFunc(strings.Split(value, ":"), func(p string) bool { return p != "" && !inside(p) })
	case listed("ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS MSAN_OPTIONS", name):
		return strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789_=:,") == ""
	case listed(words, name):
		return plain.MatchString(value)
	case changes:
		return false
	case strings.ContainsAny(value, "/~") || strings.Contains(value, ".."):
		return !strings.HasPrefix(value, "-") && !strings.ContainsAny(value, " \t\n=;|&$`'\"") && inside(value)
	}
	return plain.MatchString(value)
}

// chooses reports options of which each only chooses among what a program does.
func chooses(program string, options []string) bool {
	return !slices.ContainsFunc(options, func(o string) bool { return !limits.MatchString(program + ":" + o) })
}

// isCompiler reports whether a word is the name of a compiler.
func isCompiler(word string) bool {
	p := Lookup(strings.TrimRight(strings.TrimRight(word, "0123456789."), "-"))
	return !strings.Contains(word, "/") && p != nil && p.Asks == compiling
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// only reports whether a text has none but these characters.
func only(text, of string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(of, r) })
}

// harmless reports whether all of the words are options that change how code is compiled, and not by what.
func harmless(options []string, inside func(string) bool) bool {
	return !slices.ContainsFunc(options, func(o string) bool {
		if strings.HasPrefix(o, "-fplugin") || strings.HasPrefix(o, "-fuse-ld") || strings.HasPrefix(o, "-fpass-plugin") {
			return true
		}
		if path, is := strings.CutPrefix(o, "-I"); is {
			return !inside(path)
		}
		if path, is := strings.CutPrefix(o, "-L"); is {
			return !inside(path)
		}
		return !flag.MatchString(o) && !flag.MatchString("-"+o)
	})
}
