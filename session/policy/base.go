package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// base applies the preset to a command that neither the hard denials nor a rule decided.
func (w *walk) base(c *Command, x *invocation) {
	if c.Verdict != Allow {
		return
	}
	switch w.engine.preset {
	case Off, Hard:
		return
	}
	for _, name := range w.env {
		if name == "IFS" && x.name == "read" {
			continue
		}
		if changesMeaning(name) && (w.engine.preset != Build || name == "PATH" || strings.HasPrefix(name, "LD_")) {
			w.ask(c, "environment", name+" changes what the program does")
			c.Instead = "run it without " + name
			return
		}
	}
	if w.allowed(x) {
		return
	}
	if w.engine.preset == Listed {
		dir, _ := path.Split(x.argv[0])
		if !(x.children && systemPlaces[dir] && (x.name == "sh" || x.name == "bash")) {
			w.ask(c, "not listed", "no rule allows it")
		}
		return
	}
	why, ok := w.reads(x)
	if ok || w.engine.preset == Build && w.builds(x) {
		return
	}
	w.ask(c, "not reading", why)
}

// reads reports whether a command only reads, and else says why not.
func (w *walk) reads(x *invocation) (string, bool) {
	dir := path.Dir(x.argv[0])
	if strings.Contains(x.argv[0], "/") && !slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin",
		"/sbin", "/usr/sbin",
		"/opt/homebrew/bin"}, dir) {
		return "it is a program at a place of its own", false
	}
	if x.row == nil {
		return "it is not known to only read", false
	}
	if len(x.argv) == 2 && (x.argv[1] == "--version" || x.argv[1] == "-version" || x.argv[1] == "--help" ||
		x.row.Lang != "" && x.row.Lang != "sh" && (x.argv[1] == "-v" || x.argv[1] == "-V")) {
		return "", true
	}
	if x.name == "id" && !w.direct {
		return "it is not known to only read", false
	}
	if transparent[x.name] && x.children {
		return w.wrapperReads(x)
	}
	if why, ok, decided := shellReads(x); decided {
		return why, ok
	}
	if x.name == "command" && x.args.Has("-v", "-V") {
		return "", true
	}
	if whole := programs.Lookup(x.name); whole != nil && whole != x.row || x.name == "git" {
		// Options before the subcommand.
		for _, o := range x.argv[1:] {
			if !strings.HasPrefix(o, "-") {
				break
			}
			if name, _, _ := strings.Cut(o, "="); !whole.IsFlag(name) && o != "--version" && o != "--help" {
				return o + " changes what it runs", false
			}
		}
		if x.name == "git" && len(x.argv) > 1 && x.row.SubOnly {
			return "the subcommand is not known to only read", false
		}
	}
	ok, what := x.row.ReadsOnly(&x.args)
	if !ok {
		if what != "" {
			return what + " makes it do more than read", false
		}
		return "it is not known to only read", false
	}
	if why, ok := w.specialReads(x); !ok {
		return why, false
	}
	for _, a := range x.argv[1:] {
		if hasHole(a) && !x.args.Dashes && strings.IndexAny(a, holes) == 0 &&
			x.row.Unsafe+x.row.Writes+x.row.Argv != "" {
			return "what is not known may be an option", false
		}
		if searches[x.name] && !strings.HasPrefix(a, "-") && a != "." && w.secret(strings.TrimSuffix(a, "/")+"/x") {
			return a + " usually holds secrets", false
		}
		if lists[x.name] && !strings.HasPrefix(a, "--") {
			continue
		}
		if w.secret(a) || strings.Contains(a, "=") && w.secret(a[strings.IndexByte(a, '=')+1:]) {
			return a + " usually holds secrets", false
		}
	}
	return "", true
}

// lists are programs that look at names and sizes, not at what is in files.
var lists = fieldSet("ls dir vdir stat file test [ realpath readlink basename dirname lsblk blkid du df")

// shellReads judges commands of the shell that change only how it goes on. The last result says whether it did.
func shellReads(x *invocation) (string, bool, bool) {
	args := x.argv[1:]
	switch x.name {
	case "set":
		for i, a := range args {
			known := strings.Trim(a, "-+euoC") == "" && len(a) > 1 || i > 0 && a == "pipefail" ||
				i > 0 && (a == "errexit" || a == "nounset")
			if !known {
				return "", false, false
			}
		}
		return "", true, len(args) > 0 && args[len(args)-1] != "-o" && args[len(args)-1] != "+o"
	case "shopt":
		for i, a := range args {
			if i == 0 && (a == "-s" || a == "-u" || a == "-q") || i > 0 && strings.HasSuffix(a, "glob") || a == "globstar" {
				continue
			}
			return "", false, false
		}
		return "", true, len(args) > 0
	case "unset":
		for _, a := range args {
			if a == "-f" || a == "-n" || changesMeaning(a) || strings.Contains(a, "[") || hasHole(a) {
				return "", false, false
			}
		}
		return "", true, len(args) > 0
	case "trap":
		return "", true, len(args) > 1 && args[0] == "-"
	}
	return "", false, false
}

// searches are programs that read all files below a directory.
var searches = fieldSet("grep egrep fgrep rg ag ack find fd fdfind")

// wrapperReads judges a wrapper whose command was judged on its own.
func (w *walk) wrapperReads(x *invocation) (string, bool) {
	for _, o := range x.args.Options {
		if x.row.IsWrite(o.Name) || x.row.IsShell(o.Name) {
			return o.Name + " makes it do more than read", false
		}
		switch o.Name {
		case "--rcfile", "--init-file", "-a", "--arg-file", "-E", "-i":
			if x.name == "env" || x.name == "xargs" && o.Name == "-E" {
				continue
			}
			return o.Name + " makes it do more than read", false
		}
	}
	return "", true
}

// specialReads holds what options alone do not tell.
func (w *walk) specialReads(x *invocation) (string, bool) {
	ops := x.args.Operands
	switch x.name {
	case "ps":
		if len(ops) > 0 && strings.Contains(ops[0], "e") {
			return "e shows the environment of processes, with their secrets", false
		}
	case "date":
		if len(ops) > 0 && !strings.HasPrefix(ops[0], "+") {
			return "it sets the clock", false
		}
	case "sysctl":
		for _, o := range ops {
			if strings.Contains(o, "=") {
				return "it sets a value", false
			}
		}
	case "nm", "objdump", "readelf", "size", "addr2line", "c++filt", "strings":
		for _, o := range ops {
			if strings.HasPrefix(o, "@") {
				return "it takes its options from " + o[1:], false
			}
		}
	case "less", "more", "zless":
		for _, o := range ops {
			if strings.HasPrefix(o, "+") {
				return "it runs " + o, false
			}
		}
	case "printf":
		if len(x.argv) > 1 && strings.HasPrefix(x.argv[1], "-v") {
			return "it sets a variable", false
		}
	case "jq", "gojq", "jaq":
		for _, o := range ops {
			if strings.Contains(o, "import ") || strings.Contains(o, "include ") || strings.Contains(o,
				"$ENV") || strings.Contains(o, "env.") {
				return "it reads modules or the environment", false
			}
		}
	case "awk", "gawk", "mawk", "nawk", "sed", "gsed":
		for _, o := range x.args.Options {
			if x.row.IsCode(o.Name) && !codeReads(x.row.Lang, o.Value) {
				return "its code does more than read", false
			}
		}
		if !w.hasCode(x) && (len(ops) == 0 || !codeReads(x.row.Lang, ops[0])) {
			return "its code does more than read", false
		}
	case "yq":
		for _, o := range ops {
			if strings.Contains(o, "load") || strings.Contains(o, "env") {
				return "it reads other files or the environment", false
			}
		}
	case "bat", "batcat":
		return "it changes its own files", len(ops) == 0 || ops[0] != "cache"
	case "find":
		for _, o := range ops {
			if hasHole(o) {
				return "what is not known may be an option", false
			}
		}
	case "printenv", "export", "set":
		return "it shows the environment, with its secrets", false
	case "systemctl":
		return "", len(ops) > 0
	}
	return "", true
}

// builders are programs for building that the preset Build allows.
var builders = map[string]string{"go": "build test vet fmt run list mod generate version env doc tool " +
	"install clean get work",
	"cargo": "build test check clippy fmt run doc bench clean tree metadata", "npm": "test run ci ls start",
	"pnpm": "test run ls", "yarn": "test run",
	"make": "", "gmake": "", "cmake": "", "ninja": "", "meson": "", "ctest": "", "pytest": "", "tox": "",
	"mvn": "", "gradle": "", "bazel": "build test query",
	"tsc": "", "eslint": "", "prettier": "", "jest": "", "ruff": "", "black": "", "mypy": "", "gcc": "",
	"cc": "", "clang": "", "g++": "", "rustc": "",
	"mkdir": "", "touch": "", "git": "add commit stash fetch checkout switch restore branch tag",
	"configure": "", "just": "", "task": ""}

// builds reports whether a command is for building and names nothing outside of the working directory.
func (w *walk) builds(x *invocation) bool {
	if w.executed && w.part(x) {
		return true
	}
	subs, ok := builders[x.name]
	if dir, _ := path.Split(x.argv[0]); !systemPlaces[dir] && !(w.executed && w.installed(dir)) {
		return false
	} else if !ok {
		return x.children && transparent[x.name]
	}
	if subs != "" && (len(x.argv) < 2 || !slices.Contains(strings.Fields(subs), programs.Full(x.name, x.argv[1]))) {
		return false
	}
	for _, a := range x.argv[1:] {
		if hasHole(a) || strings.HasPrefix(a, "/") && w.outside(a) || strings.HasPrefix(a, "..") {
			return false
		}
	}
	for _, o := range x.args.Options {
		if x.row.IsShell(o.Name) || x.row.IsCode(o.Name) {
			return false
		}
	}
	return true
}

// parts are programs that compilers and build tools execute by themselves, and that do nothing but build.
var parts = fieldSet("cc1 cc1plus cc1obj cc1objplus f951 gnat1 go1 d21 lto1 lto-wrapper collect2 as ld ld.bfd ld.gold ld.lld lld mold gold " +
	"cpp gcc g++ cc c++ clang clang++ ar ranlib strip objcopy nm rustc rustdoc gcc-ar gcc-nm gcc-ranlib llvm-ar " +
	"compile link asm cgo vet cover buildid pack covdata test2json fix")

// partPlaces begin the directories of the system in which such parts are.
var partPlaces = []string{"/usr/lib/gcc", "/usr/libexec/gcc", "/usr/lib/llvm", "/usr/lib64/gcc", "/usr/lib/go", "/usr/local/go/", "/usr/local/lib/",
	"/opt/homebrew/", "/usr/local/Cellar/", "/Library/Developer/", "/nix/store/"}

// managers keep versions of languages' tools in the person's directory, and put a shim in front of each.
var managers = []string{"/.pyenv/", "/.rbenv/", "/.nodenv/", "/.goenv/", "/.jenv/", "/.asdf/", "/.local/share/mise/", "/.local/share/rtx/",
	"/.volta/", "/.nvm/", "/.rustup/", "/.cargo/bin/", "/.sdkman/", "/sdk/go", "/go/pkg/mod/golang.org/toolchain@"}

// goTools is where a distribution of Go has its tools; built is what go and cargo made to run it at once: tests,
// go run, build scripts.
var (
	goTools = pattern.Lazy(`/pkg/tool/[a-z0-9]+_[a-z0-9]+/$`)
	justNow = pattern.Lazy(`/go-build[0-9]+/b[0-9]+/|/target/(?:debug|release)/(?:build|deps)/`)
	version = pattern.Lazy(`-[0-9]+(?:\.[0-9]+)*$`)
	ofTheir = pattern.Lazy(`^(?:pyenv|rbenv|nodenv|goenv|jenv|asdf|mise|volta|python-build)\b`)
)

// installed reports whether a directory is one of a manager of versions, in the person's own directory.
func (w *walk) installed(dir string) bool {
	rest, ok := strings.CutPrefix(dir, w.home)
	if !ok {
		return false
	}
	for _, m := range managers {
		if strings.HasPrefix(rest, m) {
			return true
		}
	}
	return false
}

// partOf returns which part of a compiler a file is: x86_64-linux-gnu-gcc-12 is gcc.
func partOf(base string) string {
	base = strings.TrimSuffix(base, version.FindString(base))
	if parts[base] {
		return base
	}
	if i := strings.LastIndexByte(base, '-'); i > 0 && strings.Count(base, "-") > 1 && parts[base[i+1:]] {
		return base[i+1:]
	}
	return ""
}

// part reports whether an execution is a step of building: a part of a compiler in its place, what go and cargo
// have just built, a manager's shim. Who may build may have such steps, whose arguments lie in the caches and
// directories of the tools. What a part writes has to be in the working directory, in /tmp or in a cache.
func (w *walk) part(x *invocation) bool {
	dir, base := path.Split(x.argv[0])
	if justNow.MatchString(x.argv[0]) && (strings.HasPrefix(x.argv[0], "/tmp/") || strings.HasPrefix(x.argv[0], "/var/folders/") ||
		!w.outside(x.argv[0])) {
		return true
	}
	if w.installed(dir) && ofTheir.MatchString(base) {
		return true
	}
	if partOf(base) == "" {
		return false
	}
	known := systemPlaces[dir] || goTools.MatchString(dir) || w.installed(dir)
	for _, place := range partPlaces {
		known = known || strings.HasPrefix(dir, place)
	}
	if !known {
		return false
	}
	for i, a := range x.argv[1:] {
		out, joined := strings.CutPrefix(a, "-o")
		if a == "-o" && i+2 < len(x.argv) {
			out = x.argv[i+2]
		}
		if joined && out != "" && !strings.HasPrefix(out, "=") && w.outside(out) && !strings.HasPrefix(out, w.home+"/.cache/") &&
			strings.Contains(out, "/") {
			return false
		}
	}
	return true
}
