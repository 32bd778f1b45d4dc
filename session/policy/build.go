package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// What the preset Build allows beyond reading. Who may build may run whatever the project's files say (make, go test,
// npm test), so a script or a program of the project is no more than that. What leaves the project's directory, and
// what is not known, is asked about.

// builders are programs for building that the preset Build allows.
var builders = map[string]string{"go": "build test vet fmt run list mod generate version env doc tool " +
	"install clean get work",
	"cargo": "build test check clippy fmt run doc bench clean tree metadata", "npm": "test run ci ls start",
	"pnpm": "test run ls", "yarn": "test run",
	"make": "", "gmake": "", "cmake": "", "ninja": "", "meson": "", "ctest": "", "pytest": "", "tox": "",
	"mvn": "", "gradle": "", "bazel": "build test query",
	"tsc": "", "eslint": "", "prettier": "", "jest": "", "ruff": "", "black": "", "mypy": "", "gcc": "",
	"cc": "", "clang": "", "g++": "", "rustc": "",
	"mkdir": "", "touch": "", "cp": "", "mv": "", "chmod": "", "git": "init add commit stash fetch checkout switch restore branch tag",
	"configure": "", "just": "", "task": ""}

// builds reports whether a command is for building and names nothing outside of the working directory.
func (w *walk) builds(x *invocation) bool {
	if w.executed && (w.part(x) || w.gitHelper(x)) || w.projects(x.argv[0]) && !known(x.name) {
		return true
	}
	subs, ok := builders[x.name]
	if dir, _ := path.Split(x.argv[0]); !systemPlaces[dir] && !(w.executed && w.installed(dir)) {
		return false
	} else if !ok {
		return x.children && transparent[x.name] || w.runsScript(x)
	}
	if inside.has(x.name) && !w.staysInside(x) {
		return false
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

// inside are builders that have to stay in the working directory with all that they are given: they have no
// project's file that says what they do.
var inside = words("cp mv chmod")

// staysInside reports whether all that a command is given is below the working directory or /tmp, and nothing of it
// is what decides what other commands do or holds secrets.
func (w *walk) staysInside(x *invocation) bool {
	if w.cwd == "/" || w.cwd == w.home {
		return false // start files of shells are there
	}
	ops := x.args.Operands
	if x.name == "chmod" && len(ops) > 0 && !x.args.Has("--reference") {
		mode := strings.TrimLeft(ops[0], "0")
		if strings.Contains(mode, "s") || len(mode) > 3 && strings.Trim(mode, "01234567") == "" {
			return false // as another user
		}
		ops = ops[1:]
	}
	for _, o := range x.args.Options {
		if o.Has {
			ops = append(ops[:len(ops):len(ops)], o.Value)
		}
	}
	return !slices.ContainsFunc(ops, func(p string) bool {
		return p == "" || p[0] == '~' || hasHole(p) || w.outside(p) || w.secret(p) || ofGit(p)
	})
}

// ofGit reports whether a path leads into git's own directory: hooks there are run, and settings name programs.
func ofGit(p string) bool { return strings.Contains("/"+p+"/", "/.git/") }

// projects reports whether a file is one of the project that the line is for: below the directory that it was given
// in, where that is neither a home nor the system's.
func (w *walk) projects(p string) bool {
	if !strings.Contains(p, "/") || hasHole(p) || hasGlob(p) || p[0] == '~' {
		return false
	}
	full, ok := w.clean(p)
	if !ok || w.root == "" || w.root == "/" || w.root == "/tmp" || strings.HasPrefix(w.home+"/", w.root+"/") {
		return false
	}
	return strings.HasPrefix(full, w.root+"/") && !ofGit(full) && !w.ownPlace(full) &&
		!slices.ContainsFunc(notProjects, func(dir string) bool { return strings.HasPrefix(full, dir) })
}

// known reports whether a name is that of a usual program: a file of a project that has it is perhaps meant to be
// taken for that.
func known(name string) bool {
	if name == "configure" { // each project has its own
		return false
	}
	_, builds := builders[name]
	return builds || parts[name] || runsOthers[name] || programs.Lookup(name) != nil
}

// runsScript reports whether an interpreter is given a file of the project, or a program of the system that is a
// script and builds: node /usr/bin/npm test is npm test.
func (w *walk) runsScript(x *invocation) bool {
	name := strings.TrimRight(x.name, "0123456789.") // python3.12
	if x.row == nil || name == "" || !ofScripts.has(name) || len(x.args.Operands) == 0 || w.hasCode(x) {
		return false
	}
	for _, o := range x.args.Options {
		if !harmlessOfInterpreters.has(o.Name) {
			return false
		}
	}
	file, rest := x.args.Operands[0], x.args.Operands
	if dir, base := path.Split(file); dir != "" && systemPlaces[dir] {
		row, words, args := resolve(base, rest)
		_, ok := builders[base]
		return ok && w.builds(&invocation{name: base, argv: rest, words: words, row: row, args: args})
	}
	if !strings.Contains(file, "/") {
		file = "./" + file
	}
	return w.projects(file) && !slices.ContainsFunc(rest[1:], func(a string) bool {
		return hasHole(a) || strings.HasPrefix(a, "/") && w.outside(a) || strings.HasPrefix(a, "..")
	})
}

// ofScripts are interpreters whose first operand is a file of code, and never a subcommand.
var ofScripts = words("python pypy node nodejs ruby perl php lua luajit Rscript")

// harmlessOfInterpreters change nothing of what an interpreter runs.
var harmlessOfInterpreters = words("-u -B -O -OO -w -W -q -E -s -I")

// gitPlaces are where git has its subcommands as programs; byGit are those that it executes by itself.
var (
	gitPlaces = map[string]bool{"/usr/lib/git-core/": true, "/usr/libexec/git-core/": true, "/usr/local/libexec/git-core/": true,
		"/opt/homebrew/opt/git/libexec/git-core/": true}
	byGit = words("maintenance gc repack pack-objects pack-refs prune prune-packed reflog commit-graph multi-pack-index index-pack " +
		"unpack-objects rev-list rerere worktree update-index upload-pack fetch-pack submodule--helper checkout--worker merge-recursive " +
		"merge-ort merge-one-file remote-http remote-https remote-ftp remote-ftps")
)

// gitHelper reports whether an execution is a step of git's own work, by the file that git keeps for it.
func (w *walk) gitHelper(x *invocation) bool {
	dir, base := path.Split(x.argv[0])
	if !gitPlaces[dir] {
		return false
	}
	if sub, ok := strings.CutPrefix(base, "git-"); ok {
		return byGit.has(sub)
	}
	return base == "git" && len(x.argv) > 1 && byGit.has(x.argv[1])
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

// installed reports whether a directory is one of a manager of versions: in the home directory, or where root has
// put it.
func (w *walk) installed(dir string) bool {
	return slices.ContainsFunc(managers, func(m string) bool {
		return strings.HasPrefix(dir, w.home+m) || w.account != "" && strings.HasPrefix(dir, w.account+m) || w.placed && strings.Contains(dir, m)
	})
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
