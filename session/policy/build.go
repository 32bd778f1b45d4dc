package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// What the preset Build allows beyond reading. Who may build may run whatever the project's files say (make, go test,
// npm test), so a script or a program of the project is no more than that. What leaves the project's directory, and
// what is not known, is asked about.

// ofProjects are programs that projects bring themselves, by the names of those that they are.
var ofProjects = map[string]string{"configure": "configure", "gradlew": "gradle", "mvnw": "mvn"}

// builds reports whether a command is for building and names nothing outside of the project.
func (pr *presets) builds(x *invocation) bool {
	if pr.executed && (pr.part(x) || pr.gitHelper(x)) {
		return true
	}
	name, projects := x.name, pr.projects(x.argv[0])
	if dir := path.Base(path.Dir(x.argv[0])); projects && known(name) && (dir == "bin" || dir == ".bin") {
		// What the project has in its place may do what ./x may; it is allowed where the program of that name is, too.
		usual := *x
		usual.argv = append([]string{name}, x.argv[1:]...)
		return pr.builds(&usual)
	}
	if projects && ofProjects[name] != "" {
		name = ofProjects[name]
	} else if projects && !known(name) {
		return true
	} else if dir, _ := path.Split(x.argv[0]); !systemPlaces[dir] && !(pr.executed && pr.installed(dir)) {
		return false // it is perhaps meant to be taken for that
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun", "npx", "bunx":
		tool := pr.ofPackages(x)
		if tool == nil {
			return false
		}
		x, name = tool, tool.name
	case "mktemp": // a new file of a new name
		return !pr.noProject() && !slices.ContainsFunc(x.argv[1:], func(a string) bool { return pr.anyLeaves([]string{a}) })
	}
	program := building.Lookup(name)
	if program == nil {
		return x.children && (transparent.has(name) || pr.startsTool(x)) || pr.runsScript(x)
	}
	if pr.noProject() || inside.has(x.name) && !pr.staysInside(x) {
		return false
	}
	if program.Subs != "" && (len(x.argv) < 2 || !program.Sub(programs.Full(x.name, x.argv[1]))) {
		return false
	}
	args := x.argv[1:]
	if program.Option(args) != "" || building.Publishes(name, args) != "" && !onlySays(x) || !pr.builtHere(x) || pr.downloads(x) || pr.installsElsewhere(x) {
		return false
	}
	code := map[string]bool{}
	if x.name == "sed" {
		for _, text := range pr.sedCode(x) {
			code[text] = true
		}
	}
	for i, a := range args {
		if code[a] {
			continue
		}
		if before := x.argv[i]; program.IsText(before, a) || i > 0 && program.IsPlace(before+"="+a) {
			continue
		}
		if pr.leaves(x, program, a) || takenOver(x, a) {
			return false
		}
	}
	for _, o := range x.args.Options {
		if x.row != nil && (x.row.IsShell(o.Name) || x.row.IsCode(o.Name) && x.name != "sed") {
			return false
		}
	}
	return true
}

// someOfOurs stands for the names of files below the working directory.
const someOfOurs = "./" + notEmpty

// ownNames reports a word that stands for such names.
func (fs *files) ownNames(a string) bool {
	rest, is := strings.CutPrefix(a, someOfOurs)
	return is && !hasHole(rest) && !strings.Contains(rest, "..") && fs.project() != ""
}

// namesOurs reports a command that prints nothing but names of files below the working directory.
func namesOurs(x *invocation) bool {
	switch {
	case x.name == "git" && len(x.argv) > 1 && x.argv[1] == "ls-files", x.name == "git" && len(x.argv) > 2 && x.argv[1] == "diff" && slices.Contains(x.argv, "--name-only"):
		return !slices.ContainsFunc(x.argv[2:], func(a string) bool {
			return strings.Contains(a, "..") && strings.Contains(a, "/") || strings.HasPrefix(a, "/")
		})
	case x.name == "rg" && (x.args.Has("-l", "--files", "--files-with-matches")), x.name == "grep" && x.args.Has("-l", "-L") && x.args.Has("-r", "-R"):
		return !slices.ContainsFunc(x.args.Operands, func(o string) bool { return strings.ContainsAny(o, "/~") || strings.HasPrefix(o, "..") || hasHole(o) })
	}
	return false
}

// onlySays reports make when it is only to say what it would do.
func onlySays(x *invocation) bool {
	return (x.name == "make" || x.name == "gmake") && slices.ContainsFunc(x.argv[1:], func(a string) bool {
		return a == "-n" || a == "--dry-run" || a == "--just-print" || a == "--recon"
	})
}

// selects are options of package managers that say of which packages of the project a command is.
const selects = words("-w --workspace -ws --workspaces -r --recursive --prefix -C --dir --cwd -F --filter --if-present --silent -s")

// ofNode are tools that projects have among their packages, by the same name.
const ofNode = words("tsc eslint prettier jest vitest vite webpack rollup esbuild mocha ava stylelint biome oxlint turbo tsup svelte-check vue-tsc next nuxt astro ng " +
	"playwright cypress tsx ts-node nodemon parcel swc knip cspell markdownlint")

// ofPackages is a command of a package manager without what only says of which packages it is, or the tool of the project that it runs
// by its name; nil: it is another one.
func (pr *presets) ofPackages(x *invocation) *invocation {
	rest := x.argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, joined := strings.Cut(rest[0], "=")
		if !selects.has(name) {
			break
		}
		flag := joined || name == "-ws" || name == "--workspaces" || name == "-r" || name == "--recursive" || name == "--if-present" || name == "--silent" || name == "-s"
		if rest = rest[1:]; !flag && len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		if pr.anyLeaves([]string{value}) {
			return nil
		}
	}
	switch {
	case len(rest) > 2 && x.name == "yarn" && rest[0] == "workspace" && plainPackage(rest[1]):
		rest = rest[2:]
	case len(rest) > 0 && (x.name == "npx" || x.name == "bunx"):
		for len(rest) > 1 && (rest[0] == "--no-install" || rest[0] == "--no" || rest[0] == "--") {
			rest = rest[1:]
		}
		return pr.tool(rest)
	case len(rest) > 1 && rest[0] == "exec" && x.name != "bun":
		if rest = rest[1:]; len(rest) > 1 && rest[0] == "--" {
			rest = rest[1:]
		}
		return pr.tool(rest)
	case len(rest) > 0 && (x.name == "pnpm" || x.name == "yarn") && ofNode.has(rest[0]):
		return pr.tool(rest)
	}
	if len(rest) == len(x.argv)-1 {
		return x
	}
	argv := append([]string{x.name}, rest...)
	row, words, args := resolve(x.name, argv)
	return &invocation{name: x.name, argv: argv, words: words, row: row, args: args, in: x.in}
}

// tool is a tool of the project with what it is told; nil: it is none that is known.
func (pr *presets) tool(argv []string) *invocation {
	if len(argv) == 0 || !ofNode.has(argv[0]) {
		return nil
	}
	row, words, args := resolve(argv[0], argv)
	return &invocation{name: argv[0], argv: argv, words: words, row: row, args: args}
}

// plainPackage reports the name of a package: neither an option nor a path that leads out.
func plainPackage(name string) bool {
	return name != "" && name[0] != '-' && !strings.Contains(name, "..") && !strings.HasPrefix(name, "/") && !hasHole(name)
}

// runsTools are programs that run a tool in the environment of the project; starts are those that look at a command while it runs,
// or let it go on.
const (
	runsTools = words("poetry pipenv uv pdm hatch rye bundle")
	starts    = words("nohup setsid valgrind strace ltrace hyperfine unbuffer")
)

// startsTool reports a program whose command was judged by itself, and that is told nothing else.
func (pr *presets) startsTool(x *invocation) bool {
	if starts.has(x.name) {
		own := x.argv[1 : len(x.argv)-min(len(x.args.Operands), len(x.argv)-1)]
		return x.row != nil && x.row.Stop && !pr.noProject() && !pr.anyLeaves(own)
	}
	return runsTools.has(x.name) && !pr.noProject() && len(x.argv) > 2 && (x.argv[1] == "run" || x.argv[1] == "exec") && !strings.HasPrefix(x.argv[2], "-")
}

// leaves reports whether a word names something outside of the project, wherever it stands in it.
func (fs *files) leaves(x *invocation, program *building.Program, a string) bool {
	if fs.ownNames(a) {
		return false
	}
	if hasHole(a) {
		return !strings.HasPrefix(a, "-j") && !strings.HasPrefix(a, "--jobs=") && !(x.name == "go" && fs.stamps(a))
	}
	if fs.isLinkOut(a) && !program.IsPlace(a) {
		return true
	}
	if x.name == "bazel" && strings.HasPrefix(a, "//") || program.IsPlace(a) {
		return false
	}
	onlyRead := compilers.has(strings.TrimRight(strings.TrimRight(x.name, "0123456789."), "-")) &&
		hasPrefix([]string{"", a}, "-I", "-L", "-isystem", "-Wl,-rpath")
	return slices.ContainsFunc(building.Paths(a), func(p string) bool {
		return fs.outside(p) && !(onlyRead && fs.ofTheSystem(p))
	})
}

// outsider is a word of a building command that leads out of the project; empty: none is known to.
func (pr *presets) outsider(x *invocation) string {
	program := building.Lookup(x.name)
	if program == nil || pr.engine.preset != Build {
		return ""
	}
	for i, a := range x.argv[1:] {
		if !hasHole(a) && !program.IsText(x.argv[i], a) && pr.leaves(x, program, a) {
			return a
		}
	}
	return ""
}

// stamps reports settings of go's linker that are only values of variables, of which some are not known: "-s -X main.version=…".
func (fs *files) stamps(a string) bool {
	fields := strings.Fields(strings.TrimPrefix(a, "-ldflags="))
	for i, f := range fields {
		key, _, set := strings.Cut(strings.TrimPrefix(f, "-X="), "=")
		variable := set && !hasHole(key) && (i > 0 && fields[i-1] == "-X" || strings.HasPrefix(f, "-X="))
		if strings.Contains(f, hole) || !variable && f != "-X" && f != "-s" && f != "-w" && f != "-buildid=" {
			return false
		}
	}
	return len(fields) > 0
}

// ofTheSystem reports whether a path is where the system has headers and libraries.
func (fs *files) ofTheSystem(p string) bool {
	full, ok := fs.clean(p)
	return ok && slices.ContainsFunc(libraries, func(dir string) bool { return strings.HasPrefix(full, dir) }) || ok && strings.HasPrefix(full, "/usr/include/") ||
		ok && strings.HasPrefix(full, "/usr/local/include")
}

// builtHere judges what the words of some programs of building mean that no list tells: go's and cmake's commands, and
// variables of make, which are those of a command.
func (pr *presets) builtHere(x *invocation) bool {
	args := x.argv[1:]
	switch {
	case x.name == "cmake":
		if i := slices.Index(args, "-E"); i >= 0 {
			return i+1 < len(args) && harmlessOfCMake.has(args[i+1])
		}
		return !slices.ContainsFunc(args, func(a string) bool {
			key, value, set := strings.Cut(strings.TrimPrefix(a, "-D"), "=")
			key, _, _ = strings.Cut(key, ":")
			return set && strings.HasPrefix(a, "-D") && strings.HasSuffix(key, "_COMPILER") && !building.Variable("CC", value, true, pr.isInside) ||
				strings.HasPrefix(a, "-DCMAKE_TOOLCHAIN_FILE") && !pr.isInside(value)
		})
	case x.row != nil && x.row.Lang == "make" || x.name == "configure":
		return !slices.ContainsFunc(args, func(a string) bool {
			name, value, set := strings.Cut(a, "=")
			name = strings.TrimRight(name, ":+?")
			return set && !strings.HasPrefix(a, "-") && !(plainName(name) && building.Variable(name, value, pr.changesBuild(name), pr.isInside))
		})
	case x.name == "git":
		return !losesWork(x) && !otherStrategy(x)
	case x.name == "tar" || x.name == "bsdtar":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, ":") }) // on another machine
	case x.name == "sed":
		return !slices.ContainsFunc(pr.sedCode(x), func(text string) bool { return !codeReads("sed", text) })
	case x.name == "pytest": // plugins may be left out
		for i, a := range args {
			plugin, is := strings.CutPrefix(a, "-p")
			if is && plugin == "" && i+1 < len(args) {
				plugin = args[i+1]
			}
			if is && !strings.HasPrefix(plugin, "no:") {
				return false
			}
		}
	}
	return true
}

// sedCode is the code that sed is given on the line.
func (pr *presets) sedCode(x *invocation) (code []string) {
	for _, o := range x.args.Options {
		if x.row.IsCode(o.Name) {
			code = append(code, o.Value)
		}
	}
	if code == nil {
		code = append(code, x.args.Operands[:min(1, len(x.args.Operands))]...)
	}
	return code
}

// losesWork reports what of git's throws changes away that are nowhere else.
func losesWork(x *invocation) bool {
	sub, args := programs.Full(x.name, x.argv[1]), x.argv[2:]
	staged := sub == "restore" && x.args.Has("-S", "--staged") && !x.args.Has("-W", "--worktree")
	return slices.ContainsFunc(args, func(a string) bool {
		switch sub {
		case "checkout", "switch", "restore":
			all := sub != "switch" && (strings.Trim(a, "./") == "" && a != "" || a == ":/") && !staged
			return all || sub != "restore" && (a == "-f" || len(a) > 4 && strings.HasPrefix("--force", a)) || len(a) > 4 && strings.HasPrefix("--discard-changes", a)
		case "stash":
			return a == "clear" || a == "drop"
		case "rm":
			return !x.args.Has("--cached") || a == "-f" || a == "--force"
		case "reset": // git takes abbreviations
			return len(a) > 2 && strings.HasPrefix("--hard", a) || len(a) > 3 && strings.HasPrefix("--merge", a)
		}
		return false
	})
}

// otherStrategy reports letters by which git merges with a program of that name, or runs commands between: -sx, -qs x, -xls.
func otherStrategy(x *invocation) bool {
	sub := programs.Full(x.name, x.argv[1])
	return (sub == "merge" || sub == "pull" || sub == "rebase") && slices.ContainsFunc(x.argv[2:], func(a string) bool {
		if len(a) < 2 || a[0] != '-' || a[1] == '-' {
			return false
		}
		if value := strings.IndexAny(a, "mFXSCj"); value >= 0 {
			a = a[:value] // of an option that takes the rest
		}
		return strings.ContainsAny(a, "sx")
	})
}

// harmlessOfCMake are cmake's own tools that only tell, or make directories.
var harmlessOfCMake = words("echo echo_append capabilities compare_files make_directory md5sum sha1sum sha256sum true false")

// changesBuild reports whether a variable changes what programs of building do.
func (fs *files) changesBuild(name string) bool {
	return changesMeaning(name) || codeVariable(name) || strings.HasSuffix(name, "FLAGS") || strings.HasPrefix(name, ".")
}

// downloads reports whether go or maven are told to get code of others and run it.
func (pr *presets) downloads(x *invocation) bool {
	if x.name != "go" {
		return false
	}
	sub := x.argv[1]
	if sub == "tool" {
		return len(x.argv) > 2 && !toolsOfGo.has(x.argv[2])
	}
	return (sub == "run" || sub == "install") && slices.ContainsFunc(x.argv[2:], func(a string) bool { return strings.Contains(a, "@") })
}

// toolsOfGo are those that read and write files of the project, and run nothing.
var toolsOfGo = words("vet cover pprof nm objdump trace addr2line buildid doc covdata compile asm link pack")

// inside are builders that have to stay in the working directory with all that they are given: they have no
// project's file that says what they do.
var inside = words("cp mv chmod tee ln tar bsdtar zip unzip gunzip gzip bzip2 bunzip2 xz unxz zstd patch sed")

// staysInside reports whether all that a command is given is below the working directory or /tmp, and nothing of it
// is what decides what other commands do or holds secrets.
func (fs *files) staysInside(x *invocation) bool {
	if fs.cwd == "/" || fs.cwd == fs.home {
		return false // start files of shells are there
	}
	ops := x.args.Operands
	if x.name == "chmod" && len(ops) > 0 && !x.args.Has("--reference", "-r", "-w", "-x", "-X") {
		mode := strings.TrimLeft(ops[0], "0")
		if strings.Contains(mode, "s") || len(mode) > 3 && strings.Trim(mode, "01234567") == "" {
			return false // as another user
		}
		ops = ops[1:]
	}
	if x.name == "sed" && !slices.ContainsFunc(x.args.Options, func(o option) bool { return x.row.IsCode(o.Name) }) {
		ops = ops[min(1, len(ops)):] // its code
	}
	ops = slices.Clone(ops)
	for _, o := range x.args.Options {
		if o.Has && !(x.name == "sed" && x.row.IsCode(o.Name)) {
			ops = append(ops, o.Value)
		}
	}
	return !slices.ContainsFunc(ops, func(p string) bool {
		if full, _ := fs.clean(p); x.name == "mv" && full == fs.project() {
			return true // all of it, with its .git
		}
		return p == "" || p[0] == '~' || hasHole(p) || fs.outside(p) || fs.secret(p)
	})
}

// direnvs reports the file that direnv runs in a person's shell, in the directory where it is.
func direnvs(file string) bool { return path.Base(file) == ".envrc" }

// takenOver reports a file that decides what is run in a person's shell in the project: direnv's. Where git has it, it is one
// of the project's.
func takenOver(x *invocation, word string) bool {
	return x.name != "git" && direnvs(word[strings.LastIndexByte(word, '=')+1:])
}

// outside reports whether a path may be outside of the project and of /tmp, or what decides what others do in it.
func (fs *files) outside(p string) bool {
	if harmlessTarget(p) {
		return false
	}
	full, ok := fs.clean(p)
	switch {
	case strings.HasPrefix(p, "~"), hasHole(full):
		return true
	case ofGit(full):
		return true
	case !ok:
		return strings.HasPrefix(full, "..") || strings.HasPrefix(full, "/")
	case fs.leavesByLink(full):
		return true
	case fs.isTemporary(full):
		return false
	}
	base := fs.project()
	rest, below := strings.CutPrefix(full+"/", strings.TrimSuffix(base, "/")+"/")
	return base == "" || !below || base == fs.home && strings.HasPrefix(rest, ".") && rest != ""
}

// isTemporary reports whether a path is below /tmp and in no home: a home may be there, too.
func (fs *files) isTemporary(full string) bool {
	if below, is := strings.CutPrefix(full, fs.home+"/"); is && fs.cwd == fs.home && strings.HasPrefix(full, "/tmp/") {
		return below[0] != '.' || strings.HasPrefix(below, "...")
	}
	return strings.HasPrefix(full, "/tmp/") && !isBelow(full, fs.home) && (fs.account == "" || !isBelow(full, fs.account))
}

// isInside is the opposite of outside, for paths that are not known to be such.
func (fs *files) isInside(p string) bool { return p != "" && !fs.outside(p) }

// project is the directory that a command has to stay in: the one that the line was given in, where that is a project, else
// the one below it that the command is run in. Empty: there is none, or the command is run outside of it.
func (fs *files) project() string {
	if fs.cwd != fs.root && !strings.HasPrefix(fs.cwd, strings.TrimSuffix(fs.root, "/")+"/") || hasHole(fs.cwd) {
		return ""
	}
	if fs.real != nil && fs.cwd != fs.root && fs.root != "." && !isBelow(fs.real(fs.cwd), fs.real(fs.root)) {
		return "" // a link leads out of it
	}
	if fs.isProject(fs.root) {
		return fs.root
	}
	rest, _ := strings.CutPrefix(fs.cwd, fs.home+"/")
	if fs.cwd == "/" || rest == "" || rest[0] == '.' || slices.ContainsFunc(notProjects, func(dir string) bool { return strings.HasPrefix(fs.cwd+"/", dir) }) {
		return "" // settings of programs, or the system
	}
	return fs.cwd
}

// noProject reports whether a command is run outside of the project, or nobody knows where. Where a line's own directory is not known
// it is taken for one.
func (fs *files) noProject() bool {
	return ofGit(fs.cwd) || fs.project() == "" && (fs.root != "." || fs.lost || fs.cwd != "")
}

// isProject reports whether a directory is a place for a project: neither a home or above one, nor the system's.
func (fs *files) isProject(dir string) bool {
	return dir != "" && dir != "." && dir != "/" && dir != "/tmp" && !strings.HasPrefix(fs.home+"/", dir+"/")
}

// harmlessVariable reports whether a variable that is set before a command leaves programs what they are.
func (fs *files) harmlessVariable(name, value string) bool {
	if hasHole(value) {
		return !fs.changesBuild(name)
	}
	return building.Variable(name, value, fs.changesBuild(name), fs.isInside)
}

// ofGit reports whether a path leads into git's own directory, where hooks are run and settings name programs, or into
// that of a project's rules.
func ofGit(p string) bool {
	return strings.Contains("/"+p+"/", "/.git/") || strings.Contains("/"+p+"/", "/.longterm/")
}

// projects reports whether a file is one of the project that the line is for: below the directory that it was given
// in, where that is neither a home nor the system's.
func (fs *files) projects(p string) bool {
	if !strings.Contains(p, "/") || hasHole(p) || hasGlob(p) || p[0] == '~' {
		return false
	}
	full, ok := fs.clean(p)
	if !ok || !fs.isProject(fs.root) || fs.real != nil && !isBelow(fs.real(full), fs.real(fs.root)) {
		return false
	}
	return strings.HasPrefix(full, fs.root+"/") && !ofGit(full) && !fs.ownPlace(full) &&
		!slices.ContainsFunc(notProjects, func(dir string) bool { return strings.HasPrefix(full, dir) })
}

// known reports whether a name is that of a usual program: a file of a project that has it is perhaps meant to be
// taken for that.
func known(name string) bool {
	if name == "configure" { // each project has its own
		return false
	}
	return building.Lookup(name) != nil || parts.has(name) || runsOthers.has(name) || programs.Lookup(name) != nil
}

// runsScript reports whether an interpreter is given a file of the project, or a program of the system that is a
// script and builds: node /usr/bin/npm test is npm test.
func (pr *presets) runsScript(x *invocation) bool {
	name := strings.TrimRight(x.name, "0123456789.") // python3.12
	if x.row == nil || name == "" || !ofScripts.has(name) {
		return false
	}
	if pr.hasCode(x) {
		return pr.prints(x, name)
	}
	if module, rest, is := pythonModule(x, name); is {
		return pr.runsModule(module, rest)
	}
	tests := strings.HasPrefix(name, "node") && x.args.Has("--test")
	if len(x.args.Operands) == 0 {
		return tests && !pr.noProject() && pr.harmlessOptions(x, harmlessOfNode)
	}
	if !pr.harmlessOptions(x, harmlessOfInterpreters) && !(strings.HasPrefix(name, "node") && pr.harmlessOptions(x, harmlessOfNode)) {
		return false
	}
	file, rest := x.args.Operands[0], x.args.Operands
	if dir, base := path.Split(file); dir != "" && systemPlaces[dir] {
		row, words, args := resolve(base, rest)
		if len(rest) == 2 && (rest[1] == "--version" || rest[1] == "--help") {
			return building.Lookup(base) != nil
		}
		return building.Lookup(base) != nil && pr.builds(&invocation{name: base, argv: rest, words: words, row: row, args: args})
	}
	if !strings.Contains(file, "/") {
		file = "./" + file
	}
	return pr.projects(file) && building.Publishes(path.Base(file), rest[1:]) == "" && !pr.anyLeaves(rest[1:])
}

// prints reports code on the line that only computes and prints.
func (pr *presets) prints(x *invocation, name string) bool {
	lang := map[string]string{"python": "python", "node": "node", "nodejs": "node"}[name]
	if len(x.args.Options) != 1 || len(x.args.Operands) > 0 || !x.row.IsCode(x.args.Options[0].Name) || hasHole(x.args.Options[0].Value) {
		return false
	}
	return building.Pure(lang, x.args.Options[0].Value)
}

// harmlessOptions reports whether all options are of a list, and none names what is not the project's.
func (pr *presets) harmlessOptions(x *invocation, list words) bool {
	return !slices.ContainsFunc(x.args.Options, func(o option) bool { return !list.has(o.Name) || o.Has && pr.anyLeaves([]string{o.Value}) })
}

func (fs *files) anyLeaves(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return hasHole(a) || fs.isLinkOut(a) || slices.ContainsFunc(building.Paths(a), fs.outside)
	})
}

// pythonModule is the module that python3 -m names, and what it is given.
func pythonModule(x *invocation, name string) (module string, rest []string, is bool) {
	if name != "python" && name != "pypy" {
		return "", nil, false
	}
	for i, a := range x.argv[1:] {
		switch {
		case (a == "-m" || a == "-Im") && i+2 < len(x.argv):
			return x.argv[i+2], x.argv[i+3:], true
		case !harmlessOfInterpreters.has(a):
			return "", nil, false
		}
	}
	return "", nil, false
}

// runsModule reports whether a module of python is one of building: a program that build allows by its name, or one of
// those that every python has.
func (pr *presets) runsModule(module string, rest []string) bool {
	switch module {
	case "pip":
		return len(rest) > 0 && (rest[0] == "list" || rest[0] == "freeze" || rest[0] == "show" || rest[0] == "check") && !pr.anyLeaves(rest)
	case "unittest", "py_compile", "compileall", "json.tool", "doctest", "timeit", "tabnanny", "pylint", "coverage", "build", "venv", "ensurepip":
		return !pr.anyLeaves(rest) && !slices.ContainsFunc(rest, func(a string) bool {
			return module == "venv" && a == "--system-site-packages" || module == "coverage" && (a == "-m" || a == "--rcfile")
		})
	}
	if !modules.has(module) {
		return false
	}
	argv := append([]string{module}, rest...)
	row, words, args := resolve(module, argv)
	if row == nil {
		row = plain
	}
	return pr.builds(&invocation{name: module, argv: argv, words: words, row: row, args: args})
}

// modules are programs of building that are modules of python, too.
var modules = words("pytest mypy black flake8 isort ruff tox")

// ofScripts are interpreters whose first operand is a file of code, and never a subcommand.
var ofScripts = words("python pypy node nodejs ruby perl php lua luajit Rscript")

// harmlessOfInterpreters change nothing of what an interpreter runs.
var harmlessOfInterpreters = words("-u -B -O -OO -w -W -q -E -s -I")

// harmlessOfNode change how node runs a project's files and its tests, and add no code of others.
var harmlessOfNode = words("--test --test-only --test-name-pattern --test-skip-pattern --test-concurrency --test-timeout --test-force-exit --test-shard " +
	"--test-update-snapshots --experimental-test-coverage --enable-source-maps --no-warnings --trace-warnings --trace-deprecation --watch --check -c " +
	"--env-file --env-file-if-exists --experimental-strip-types --experimental-vm-modules --max-old-space-size --expose-gc --unhandled-rejections --throw-deprecation")

// gitPlaces are where git has its subcommands as programs; byGit are those that it executes by itself.
var (
	gitPlaces = map[string]bool{"/usr/lib/git-core/": true, "/usr/libexec/git-core/": true, "/usr/local/libexec/git-core/": true,
		"/opt/homebrew/opt/git/libexec/git-core/": true}
	byGit = words("maintenance gc repack pack-objects pack-refs prune prune-packed reflog commit-graph multi-pack-index index-pack " +
		"unpack-objects rev-list rerere worktree update-index upload-pack fetch-pack submodule--helper checkout--worker merge-recursive " +
		"merge-ort merge-one-file remote-http remote-https remote-ftp remote-ftps")
)

// gitHelper reports whether an execution is a step of git's own work, by the file that git keeps for it.
func (pr *presets) gitHelper(x *invocation) bool {
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
func (fs *files) installed(dir string) bool {
	return slices.ContainsFunc(managers, func(m string) bool {
		return strings.HasPrefix(dir, fs.home+m) || fs.account != "" && strings.HasPrefix(dir, fs.account+m) || fs.placed && strings.Contains(dir, m)
	})
}

// partOf returns which part of a compiler a file is: x86_64-linux-gnu-gcc-12 is gcc.
func partOf(base string) string {
	base = strings.TrimSuffix(base, version.FindString(base))
	if parts.has(base) {
		return base
	}
	if i := strings.LastIndexByte(base, '-'); i > 0 && strings.Count(base, "-") > 1 && parts.has(base[i+1:]) {
		return base[i+1:]
	}
	return ""
}

// part reports whether an execution is a step of building: a part of a compiler in its place, what go and cargo
// have just built, a manager's shim. Who may build may have such steps, whose arguments lie in the caches and
// directories of the tools. What a part writes has to be in the working directory, in /tmp or in a cache.
func (fs *files) part(x *invocation) bool {
	dir, base := path.Split(x.argv[0])
	if justNow.MatchString(x.argv[0]) && (strings.HasPrefix(x.argv[0], "/tmp/") || strings.HasPrefix(x.argv[0], "/var/folders/") ||
		!fs.outside(x.argv[0])) {
		return true
	}
	if fs.installed(dir) && ofTheir.MatchString(base) {
		return true
	}
	telemetry := base == "go" && len(x.argv) == 2 && x.argv[1] == "** telemetry **" // go starts itself to count
	if partOf(base) == "" && !telemetry {
		return false
	}
	known := systemPlaces[dir] || goTools.MatchString(dir) || fs.installed(dir)
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
		if joined && out != "" && !strings.HasPrefix(out, "=") && fs.outside(out) && !strings.HasPrefix(out, fs.home+"/.cache/") &&
			strings.Contains(out, "/") {
			return false
		}
	}
	return true
}
