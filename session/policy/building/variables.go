package building

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Variables before a command. If the name does not decide, the value must: a plain word, or a path of the project.

var (
	// plainValue matches a word without paths or special characters.
	plainValue = pattern.Lazy(`^[A-Za-z0-9_.,:+%@]?[A-Za-z0-9_.,:+%@ -]*$`)
	// compilerFlag matches an option that changes how code is compiled, but not with which program.
	compilerFlag = pattern.Lazy(`^-(O[0-3sgz]?|g[0-9a-z-]*|W(no-)?[a-z0-9][a-z0-9+=-]*|std=[a-z0-9+]+|f[a-z][a-z0-9-]*(=[a-z0-9,-]+)?|[DU][A-Za-z0-9_]+(=[A-Za-z0-9_."]*)?|` +
		`m[a-z0-9=.-]+|l[a-z0-9_+-]+|pedantic|pipe|pthread|shared|static|s|v|race|trimpath|short|mod=[a-z]+|tags=[A-Za-z0-9_,]+|count=[0-9]+|p=[0-9]+|buildvcs=[a-z]+|timeout=[0-9a-z]+|` +
		`A[a-z_:]+|D|A|C|warnings|(C ?)?(target-cpu|opt-level|debuginfo|debug-assertions|lto|codegen-units|target-feature|panic)=[A-Za-z0-9+,._-]+)$`)
	// jobs matches make's parallelism; limits match settings of other tools' resources and output.
	jobs   = pattern.Lazy(`^-?[jksw]+[0-9]*( -[jksw]+[0-9]*)*$`)
	limits = pattern.Lazy(`^node:--(max[-_](old|semi)[-_]space[-_]size=[0-9]+|(no|trace)-warnings|trace-deprecation|enable-source-maps)$|` +
		`^java:(--enable-preview|-(X(m[nsx]|ss)[0-9]+[kKmMgG]?|XX:[+-]Use[A-Za-z0-9]+|XX:(Max|Min|Initial|Reserved|Active)[A-Za-z]+=[0-9.]+[kKmMgG]?|XX:TieredStopAtLevel=[0-4]|ea|esa|server|client|` +
		`D(file\.encoding|sun\.jnu\.encoding|user\.(timezone|language|country)|java\.awt\.headless|java\.net\.preferIPv[46]\w+|maven\.test\.[a-z.]+|` +
		`org\.gradle\.(daemon|parallel|caching|console|workers\.max|configureondemand|warning\.mode|logging\.level|vfs\.watch)|` +
		`skipTests|skipITs|style\.color|spring\.profiles\.active|org\.slf4j\.[A-Za-z.]+)(=[A-Za-z0-9_,.+-]*)?))$|` +
		`^pytest:(-(v+|q+|x|s|l|n([0-9]+|auto)|r[a-zA-Z]+|pno:[a-z]+)|--(tb|maxfail|durations|color|verbosity|numprocesses)=[a-z0-9]+|--(lf|ff|sw|nf|no-header|no-summary|` +
		`strict-markers|strict-config|quiet|verbose|exitfirst|showlocals|disable-warnings|last-failed|failed-first))$`)
)

// wordVariables are variables whose value is one word that selects among a program's actions.
const wordVariables = "GOOS GOARCH GOARM GOAMD64 GOMAXPROCS GOGC GOMEMLIMIT GO111MODULE GOEXPERIMENT GOTRACEBACK GOTOOLCHAIN CGO_ENABLED NODE_ENV NODE_DEBUG " +
	"CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS CARGO_NET_OFFLINE RUSTC_BOOTSTRAP RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE " +
	"PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 PYTHONFAULTHANDLER PYTHONOPTIMIZE GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_ADVICE CMAKE_BUILD_TYPE " +
	"CMAKE_BUILD_PARALLEL_LEVEL CMAKE_COLOR_DIAGNOSTICS npm_config_loglevel NPM_CONFIG_LOGLEVEL DOCKER_BUILDKIT DEB_BUILD_OPTIONS HISTSIZE MAKE_TERMOUT CCACHE_DISABLE " +
	"VIRTUAL_ENV_DISABLE_PROMPT PIP_DISABLE_PIP_VERSION_CHECK JAVA_VERSION"

// IsHarmlessVariable reports whether a variable leaves programs unchanged. changes states that its name changes programs; inside
// reports whether a path is in the project.
func IsHarmlessVariable(name, value string, changes bool, inside func(path string) bool) bool {
	fields := strings.Fields(value)
	switch {
	case listHas("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GH_PAGER", name):
		return value == "" || value == "cat"
	case listHas("GIT_EDITOR EDITOR VISUAL GIT_SEQUENCE_EDITOR", name):
		return value == "true" || value == ":" || value == "cat"
	case listHas("GIT_AUTHOR_* GIT_COMMITTER_*", name), name == "NINJA_STATUS":
		return true
	case listHas("DEBUG GODEBUG", name):
		return consistsOf(value, letters+"0123456789_.,:=* -")
	case name == "MAKEFLAGS":
		return jobs.MatchString(value)
	case name == "NODE_OPTIONS":
		return len(fields) > 0 && onlySelects("node", fields)
	case listHas("JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS SBT_OPTS", name):
		return onlySelects("java", fields)
	case name == "PYTEST_ADDOPTS":
		return onlySelects("pytest", strings.Fields(strings.NewReplacer("-n ", "-n", "-p no:", "-pno:").Replace(value)))
	case listHas("GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE", name): // other values are files that it writes
		return listHas("0 1 2 true false", value)
	case name == "TMPDIR":
		return inside(value)
	case name == "LESS":
		return consistsOf(strings.TrimPrefix(value, "-"), "FRXSiMNr")
	case listHas("CC CXX HOSTCC", name):
		return len(fields) > 0 && isCompiler(fields[0]) && isHarmless(fields[1:], inside)
	case listHas("CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CGO_CFLAGS CGO_CXXFLAGS CGO_CPPFLAGS CGO_LDFLAGS RUSTFLAGS RUSTDOCFLAGS GOFLAGS", name):
		return isHarmless(fields, inside)
	case listHas("PYTHONPATH NODE_PATH LD_LIBRARY_PATH", name):
		return !slices.ContainsFunc(strings.Split(value, ":"), func(p string) bool { return p != "" && !inside(p) })
	case listHas("ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS MSAN_OPTIONS", name):
		return strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789_=:,") == ""
	case listHas(wordVariables, name):
		return plainValue.MatchString(value)
	case changes:
		return false
	case strings.ContainsAny(value, "/~") || strings.Contains(value, ".."):
		return !strings.HasPrefix(value, "-") && !strings.ContainsAny(value, " \t\n=;|&$`'\"") && inside(value)
	}
	return plainValue.MatchString(value)
}

// onlySelects reports whether each option only selects among a program's actions, as pytest -k TEST does, and adds no command.
func onlySelects(program string, options []string) bool {
	return !slices.ContainsFunc(options, func(o string) bool { return !limits.MatchString(program + ":" + o) })
}

// isCompiler reports whether a word is the name of a compiler.
func isCompiler(word string) bool {
	p := Lookup(strings.TrimRight(strings.TrimRight(word, "0123456789."), "-"))
	return !strings.Contains(word, "/") && p != nil && p.Asks == compilerAsks
}

// letters are the letters of options.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// consistsOf reports whether a text has only the characters in of.
func consistsOf(text, of string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(of, r) })
}

// isHarmless reports whether all words are options that change how code is compiled, but not with which program.
func isHarmless(options []string, inside func(string) bool) bool {
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
		return !compilerFlag.MatchString(o) && !compilerFlag.MatchString("-"+o)
	})
}
