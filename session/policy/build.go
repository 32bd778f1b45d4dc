package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// The preset Build allows more than reading. A caller that may build may run anything in the project's files (make, go
// test, npm test), so a script or program of the project adds nothing. Commands that leave the project's directory, and
// unknown ones, need approval.

// projectWrappers maps programs that projects ship themselves to the programs that they wrap.
var projectWrappers = map[string]string{"configure": "configure", "gradlew": "gradle", "mvnw": "mvn"}

// isBuild reports whether a command builds the project and names nothing outside of it.
func (pr *presets) isBuild(x *invocation) bool {
	if pr.executed && (pr.isBuildStep(x) || pr.isGitHelper(x)) {
		return true
	}
	name, projects := x.name, pr.isProjectFile(x.argv[0])
	if dir := path.Base(path.Dir(x.argv[0])); projects && isUsualProgram(name) && (dir == "bin" || dir == ".bin") {
		// A program in the project may do what ./x may, and also what the allowed program of that name may.
		usual := *x
		usual.argv = append([]string{name}, x.argv[1:]...)
		return pr.isBuild(&usual)
	}
	if projects && projectWrappers[name] != "" {
		name = projectWrappers[name]
	} else if projects && !isUsualProgram(name) {
		return true
	} else if dir, _ := path.Split(x.argv[0]); !systemProgramDirs[dir] && !(pr.executed && pr.isVersionDir(dir)) {
		return false // it is perhaps meant to be taken for that
	}
	switch name {
	case "npm", "pnpm", "yarn", "bun", "npx", "bunx":
		tool := pr.packageTool(x)
		if tool == nil {
			return false
		}
		x, name = tool, tool.name
	case "mktemp": // a new file of a new name
		return !pr.isOutsideProject() && !slices.ContainsFunc(x.argv[1:], func(a string) bool { return pr.anyLeaves([]string{a}) })
	}
	program := building.Lookup(name)
	if program == nil {
		return x.hasJudgedChildren && (transparentWrappers.has(name) || pr.startsTool(x)) || pr.runsScript(x)
	}
	if pr.isOutsideProject() || insideBuilders.has(x.name) && !pr.staysInside(x) {
		return false
	}
	if program.Subs != "" && (len(x.argv) < 2 || !program.AllowsSubcommand(programs.Full(x.name, x.argv[1]))) {
		return false
	}
	args := x.argv[1:]
	if program.Option(args) != "" || building.PublishOperand(name, args) != "" && !isDryRun(x) || !pr.isBuildSubcommand(x) || pr.downloads(x) || pr.installsElsewhere(x) {
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
		if pr.leavesProject(x, program, a) || isDirenvFile(x, a) {
			return false
		}
	}
	for _, o := range x.args.Options {
		if x.row != nil && (x.row.TakesShellCode(o.Name) || x.row.TakesCode(o.Name) && x.name != "sed") {
			return false
		}
	}
	return true
}

// projectNames is a placeholder for names of files below the working directory.
const projectNames = "./" + notEmpty

// isProjectNames reports whether a word has the meaning of projectNames.
func (fs *files) isProjectNames(a string) bool {
	rest, is := strings.CutPrefix(a, projectNames)
	return is && !hasHole(rest) && !strings.Contains(rest, "..") && fs.projectDir() != ""
}

// printsProjectNames reports whether a command prints only names of files below the working directory.
func printsProjectNames(x *invocation) bool {
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

// isDryRun reports whether make only prints its commands.
func isDryRun(x *invocation) bool {
	return (x.name == "make" || x.name == "gmake") && slices.ContainsFunc(x.argv[1:], func(a string) bool {
		return a == "-n" || a == "--dry-run" || a == "--just-print" || a == "--recon"
	})
}

// selectOptions are options of package managers that choose packages of the project.
const selectOptions = words("-w --workspace -ws --workspaces -r --recursive --prefix -C --dir --cwd -F --filter --if-present --silent -s")

// nodeTools are tools that projects have among their packages, under the same name.
const nodeTools = words("tsc eslint prettier jest vitest vite webpack rollup esbuild mocha ava stylelint biome oxlint turbo tsup svelte-check vue-tsc next nuxt astro ng " +
	"playwright cypress tsx ts-node nodemon parcel swc knip cspell markdownlint")

// packageTool returns a package manager's command without options that only choose packages, or the project tool that
// it runs; nil for other commands.
func (pr *presets) packageTool(x *invocation) *invocation {
	rest := x.argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		name, value, joined := strings.Cut(rest[0], "=")
		if !selectOptions.has(name) {
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
	case len(rest) > 2 && x.name == "yarn" && rest[0] == "workspace" && isPlainPackage(rest[1]):
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
	case len(rest) > 0 && (x.name == "pnpm" || x.name == "yarn") && nodeTools.has(rest[0]):
		return pr.tool(rest)
	}
	if len(rest) == len(x.argv)-1 {
		return x
	}
	argv := append([]string{x.name}, rest...)
	row, words, args := resolve(x.name, argv)
	return &invocation{name: x.name, argv: argv, words: words, row: row, args: args, in: x.in}
}

// tool returns a known tool of the project with its arguments, or nil.
func (pr *presets) tool(argv []string) *invocation {
	if len(argv) == 0 || !nodeTools.has(argv[0]) {
		return nil
	}
	row, words, args := resolve(argv[0], argv)
	return &invocation{name: argv[0], argv: argv, words: words, row: row, args: args}
}

// isPlainPackage reports whether a word is a package's name: neither an option nor a path that leads out of the
// project.
func isPlainPackage(name string) bool {
	return name != "" && name[0] != '-' && !strings.Contains(name, "..") && !strings.HasPrefix(name, "/") && !hasHole(name)
}

// runsTools are programs that run a tool in the project's environment; launchers are those that observe a command or
// detach it.
const (
	runsTools = words("poetry pipenv uv pdm hatch rye bundle")
	launchers = words("nohup setsid valgrind strace ltrace hyperfine unbuffer")
)

// startsTool reports whether a program only starts a command, which was judged separately.
func (pr *presets) startsTool(x *invocation) bool {
	if launchers.has(x.name) {
		own := x.argv[1 : len(x.argv)-min(len(x.args.Operands), len(x.argv)-1)]
		return x.row != nil && x.row.Stop && !pr.isOutsideProject() && !pr.anyLeaves(own)
	}
	return runsTools.has(x.name) && !pr.isOutsideProject() && len(x.argv) > 2 && (x.argv[1] == "run" || x.argv[1] == "exec") && !strings.HasPrefix(x.argv[2], "-")
}

// leavesProject reports whether any part of a word names something outside of the project.
func (fs *files) leavesProject(x *invocation, program *building.Program, a string) bool {
	if fs.isProjectNames(a) {
		return false
	}
	if hasHole(a) {
		return !strings.HasPrefix(a, "-j") && !strings.HasPrefix(a, "--jobs=") && !(x.name == "go" && fs.setsOnlyVariables(a))
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
		return fs.isOutside(p) && !(onlyRead && fs.isSystemLibrary(p))
	})
}

// outsideWord returns a word of a build command that names something outside of the project, or "".
func (pr *presets) outsideWord(x *invocation) string {
	program := building.Lookup(x.name)
	if program == nil || pr.engine.preset != Build {
		return ""
	}
	for i, a := range x.argv[1:] {
		if !hasHole(a) && !program.IsText(x.argv[i], a) && pr.leavesProject(x, program, a) {
			return a
		}
	}
	return ""
}

// setsOnlyVariables reports whether go's linker settings only set variables, possibly to unknown values: "-s -X
// main.version=…".
func (fs *files) setsOnlyVariables(a string) bool {
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

// isSystemLibrary reports whether a path is in a system directory of headers and libraries.
func (fs *files) isSystemLibrary(p string) bool {
	full, ok := fs.clean(p)
	return ok && slices.ContainsFunc(libraryDirs, func(dir string) bool { return strings.HasPrefix(full, dir) }) || ok && strings.HasPrefix(full, "/usr/include/") ||
		ok && strings.HasPrefix(full, "/usr/local/include")
}

// isBuildSubcommand judges words of some build programs that no list covers: commands of go and cmake, and make
// variables, which belong to a command.
func (pr *presets) isBuildSubcommand(x *invocation) bool {
	args := x.argv[1:]
	switch {
	case x.name == "cmake":
		if i := slices.Index(args, "-E"); i >= 0 {
			return i+1 < len(args) && harmlessCMakeTools.has(args[i+1])
		}
		return !slices.ContainsFunc(args, func(a string) bool {
			key, value, set := strings.Cut(strings.TrimPrefix(a, "-D"), "=")
			key, _, _ = strings.Cut(key, ":")
			return set && strings.HasPrefix(a, "-D") && strings.HasSuffix(key, "_COMPILER") && !building.IsHarmlessVariable("CC", value, true, pr.isInside) ||
				strings.HasPrefix(a, "-DCMAKE_TOOLCHAIN_FILE") && !pr.isInside(value)
		})
	case x.row != nil && x.row.Lang == "make" || x.name == "configure":
		return !slices.ContainsFunc(args, func(a string) bool {
			name, value, set := strings.Cut(a, "=")
			name = strings.TrimRight(name, ":+?")
			return set && !strings.HasPrefix(a, "-") && !(isVariableName(name) && building.IsHarmlessVariable(name, value, pr.changesBuild(name), pr.isInside))
		})
	case x.name == "git":
		return !losesWork(x) && !runsMergeProgram(x)
	case x.name == "tar" || x.name == "bsdtar":
		return !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, ":") }) // on another machine
	case x.name == "sed":
		return !slices.ContainsFunc(pr.sedCode(x), func(text string) bool { return !codeReads("sed", text) })
	case x.name == "pytest": // plugins may be omitted
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

// sedCode returns the sed code on the line.
func (pr *presets) sedCode(x *invocation) (code []string) {
	for _, o := range x.args.Options {
		if x.row.TakesCode(o.Name) {
			code = append(code, o.Value)
		}
	}
	if code == nil {
		code = append(code, x.args.Operands[:min(1, len(x.args.Operands))]...)
	}
	return code
}

// losesWork reports whether a git command discards changes that exist nowhere else.
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

// runsMergeProgram reports whether letters make git merge with an external program, or run commands between commits:
// -sx, -qs x, -xls.
func runsMergeProgram(x *invocation) bool {
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

// harmlessCMakeTools are tools of cmake -E that only print or create directories.
var harmlessCMakeTools = words("echo echo_append capabilities compare_files make_directory md5sum sha1sum sha256sum true false")

// changesBuild reports whether a variable changes what build programs do.
func (fs *files) changesBuild(name string) bool {
	return changesMeaning(name) || isCodeVariable(name) || strings.HasSuffix(name, "FLAGS") || strings.HasPrefix(name, ".")
}

// downloads reports whether go or maven fetch and run foreign code.
func (pr *presets) downloads(x *invocation) bool {
	if x.name != "go" {
		return false
	}
	sub := x.argv[1]
	if sub == "tool" {
		return len(x.argv) > 2 && !goFileTools.has(x.argv[2])
	}
	return (sub == "run" || sub == "install") && slices.ContainsFunc(x.argv[2:], func(a string) bool { return strings.Contains(a, "@") })
}

// goFileTools lists tools of go that read and write files of the project, and run nothing.
var goFileTools = words("vet cover pprof nm objdump trace addr2line buildid doc covdata compile asm link pack")

// insideBuilders must stay in the working directory with all arguments: no project file defines their work.
var insideBuilders = words("cp mv chmod tee ln tar bsdtar zip unzip gunzip gzip bzip2 bunzip2 xz unxz zstd patch sed")

// staysInside reports whether all arguments of a command are below the working directory or /tmp, and none of them
// configures other commands or holds secrets.
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
	if x.name == "sed" && !slices.ContainsFunc(x.args.Options, func(o option) bool { return x.row.TakesCode(o.Name) }) {
		ops = ops[min(1, len(ops)):] // its code
	}
	ops = slices.Clone(ops)
	for _, o := range x.args.Options {
		if o.HasValue && !(x.name == "sed" && x.row.TakesCode(o.Name)) {
			ops = append(ops, o.Value)
		}
	}
	return !slices.ContainsFunc(ops, func(p string) bool {
		if full, _ := fs.clean(p); x.name == "mv" && full == fs.projectDir() {
			return true // all of it, with its .git
		}
		return p == "" || p[0] == '~' || hasHole(p) || fs.isOutside(p) || fs.isSecret(p)
	})
}

// isDirenv reports whether direnv runs a file in the user's shell in the file's directory.
func isDirenv(file string) bool { return path.Base(file) == ".envrc" }

// isDirenvFile reports whether a word names a direnv file of the project that git does not track.
func isDirenvFile(x *invocation, word string) bool {
	return x.name != "git" && isDirenv(word[strings.LastIndexByte(word, '=')+1:])
}

// isOutside reports whether a path may be outside of the project and of /tmp, or configures other commands.
func (fs *files) isOutside(p string) bool {
	if isHarmlessTarget(p) {
		return false
	}
	full, ok := fs.clean(p)
	switch {
	case strings.HasPrefix(p, "~"), hasHole(full):
		return true
	case isGitInternal(full):
		return true
	case !ok:
		return strings.HasPrefix(full, "..") || strings.HasPrefix(full, "/")
	case fs.leavesByLink(full):
		return true
	case fs.isTemporary(full):
		return false
	}
	base := fs.projectDir()
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

// isInside reports whether a path is known to be inside.
func (fs *files) isInside(p string) bool { return p != "" && !fs.isOutside(p) }

// projectDir returns the directory that a command must stay in: the line's own directory if it is a project, otherwise
// the project below it that the command runs in. It returns "" if none applies.
func (fs *files) projectDir() string {
	if fs.cwd != fs.root && !strings.HasPrefix(fs.cwd, strings.TrimSuffix(fs.root, "/")+"/") || hasHole(fs.cwd) {
		return ""
	}
	if fs.disk != nil && fs.cwd != fs.root && fs.root != "." && !isBelow(fs.disk.Resolve(fs.cwd), fs.disk.Resolve(fs.root)) {
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

// isOutsideProject reports whether a command runs outside of the project, or in an unknown place. An unknown directory of the
// line itself counts as a project.
func (fs *files) isOutsideProject() bool {
	return isGitInternal(fs.cwd) || fs.projectDir() == "" && (fs.root != "." || fs.unknownDir || fs.cwd != "")
}

// isProject reports whether a directory is a place for a project: neither a home or above one, nor the system's.
func (fs *files) isProject(dir string) bool {
	return dir != "" && dir != "." && dir != "/" && dir != "/tmp" && !strings.HasPrefix(fs.home+"/", dir+"/")
}

// isHarmlessVariable reports whether a variable that is set before a command does not change which programs run.
func (fs *files) isHarmlessVariable(name, value string) bool {
	if hasHole(value) {
		return !fs.changesBuild(name)
	}
	return building.IsHarmlessVariable(name, value, fs.changesBuild(name), fs.isInside)
}

// isGitInternal reports whether a path leads into git's own directory, where hooks and settings run programs, or into
// that of a project's rules.
func isGitInternal(p string) bool {
	return strings.Contains("/"+p+"/", "/.git/") || strings.Contains("/"+p+"/", "/.longterm/")
}

// isProjectFile reports whether a file belongs to the line's project: below the directory in which the line was given,
// unless that is a home or the system's.
func (fs *files) isProjectFile(p string) bool {
	if !strings.Contains(p, "/") || hasHole(p) || hasGlob(p) || p[0] == '~' {
		return false
	}
	full, ok := fs.clean(p)
	if !ok || !fs.isProject(fs.root) || fs.disk != nil && !isBelow(fs.disk.Resolve(full), fs.disk.Resolve(fs.root)) {
		return false
	}
	return strings.HasPrefix(full, fs.root+"/") && !isGitInternal(full) && !fs.isOwnFile(full) &&
		!slices.ContainsFunc(notProjects, func(dir string) bool { return strings.HasPrefix(full, dir) })
}

// isUsualProgram reports whether a name is that of a usual program. A project file with such a name may be meant to
// replace it.
func isUsualProgram(name string) bool {
	if name == "configure" { // each project has its own
		return false
	}
	return building.Lookup(name) != nil || toolParts.has(name) || runsOthers.has(name) || programs.Lookup(name) != nil
}

// runsScript reports whether an interpreter is given a file of the project, or a program of the system that is a
// script and builds: node /usr/bin/npm test is npm test.
func (pr *presets) runsScript(x *invocation) bool {
	name := strings.TrimRight(x.name, "0123456789.") // python3.12
	if x.row == nil || name == "" || !scriptInterpreters.has(name) {
		return false
	}
	if pr.hasCode(x) {
		return pr.codeOnlyPrints(x, name)
	}
	if module, rest, is := pythonModule(x, name); is {
		return pr.runsModule(module, rest)
	}
	tests := strings.HasPrefix(name, "node") && x.args.Has("--test")
	if len(x.args.Operands) == 0 {
		return tests && !pr.isOutsideProject() && pr.hasOnlyHarmlessOptions(x, harmlessNodeOptions)
	}
	if !pr.hasOnlyHarmlessOptions(x, harmlessInterpreterOptions) && !(strings.HasPrefix(name, "node") && pr.hasOnlyHarmlessOptions(x, harmlessNodeOptions)) {
		return false
	}
	file, rest := x.args.Operands[0], x.args.Operands
	if dir, base := path.Split(file); dir != "" && systemProgramDirs[dir] {
		row, words, args := resolve(base, rest)
		if len(rest) == 2 && (rest[1] == "--version" || rest[1] == "--help") {
			return building.Lookup(base) != nil
		}
		return building.Lookup(base) != nil && pr.isBuild(&invocation{name: base, argv: rest, words: words, row: row, args: args})
	}
	if !strings.Contains(file, "/") {
		file = "./" + file
	}
	return pr.isProjectFile(file) && building.PublishOperand(path.Base(file), rest[1:]) == "" && !pr.anyLeaves(rest[1:])
}

// codeOnlyPrints reports whether code on the line only computes and prints.
func (pr *presets) codeOnlyPrints(x *invocation, name string) bool {
	lang := map[string]string{"python": "python", "node": "node", "nodejs": "node"}[name]
	if len(x.args.Options) != 1 || len(x.args.Operands) > 0 || !x.row.TakesCode(x.args.Options[0].Name) || hasHole(x.args.Options[0].Value) {
		return false
	}
	return building.IsPure(lang, x.args.Options[0].Value)
}

// hasOnlyHarmlessOptions reports whether all options are in a list, and none names something outside of the project.
func (pr *presets) hasOnlyHarmlessOptions(x *invocation, list words) bool {
	return !slices.ContainsFunc(x.args.Options, func(o option) bool { return !list.has(o.Name) || o.HasValue && pr.anyLeaves([]string{o.Value}) })
}

// anyLeaves reports whether an argument names something outside of the project.
func (fs *files) anyLeaves(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return hasHole(a) || fs.isLinkOut(a) || slices.ContainsFunc(building.Paths(a), fs.isOutside)
	})
}

// pythonModule returns the module of python3 -m and its arguments.
func pythonModule(x *invocation, name string) (module string, rest []string, is bool) {
	if name != "python" && name != "pypy" {
		return "", nil, false
	}
	for i, a := range x.argv[1:] {
		switch {
		case (a == "-m" || a == "-Im") && i+2 < len(x.argv):
			return x.argv[i+2], x.argv[i+3:], true
		case !harmlessInterpreterOptions.has(a):
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
	if !buildModules.has(module) {
		return false
	}
	argv := append([]string{module}, rest...)
	row, words, args := resolve(module, argv)
	if row == nil {
		row = unknownProgram
	}
	return pr.isBuild(&invocation{name: module, argv: argv, words: words, row: row, args: args})
}

// buildModules are build programs that are python modules, too.
var buildModules = words("pytest mypy black flake8 isort ruff tox")

// scriptInterpreters take a file of code as first operand, and never a subcommand.
var scriptInterpreters = words("python pypy node nodejs ruby perl php lua luajit Rscript")

// harmlessInterpreterOptions do not change what an interpreter runs.
var harmlessInterpreterOptions = words("-u -B -O -OO -w -W -q -E -s -I")

// harmlessNodeOptions change how node runs a project's files and its tests, and load no other code.
var harmlessNodeOptions = words("--test --test-only --test-name-pattern --test-skip-pattern --test-concurrency --test-timeout --test-force-exit --test-shard " +
	"--test-update-snapshots --experimental-test-coverage --enable-source-maps --no-warnings --trace-warnings --trace-deprecation --watch --check -c " +
	"--env-file --env-file-if-exists --experimental-strip-types --experimental-vm-modules --max-old-space-size --expose-gc --unhandled-rejections --throw-deprecation")

// gitPlaces are the directories of git's subcommands as programs; gitSelfCommands are the subcommands that git executes
// by itself.
var (
	gitPlaces = map[string]bool{"/usr/lib/git-core/": true, "/usr/libexec/git-core/": true, "/usr/local/libexec/git-core/": true,
		"/opt/homebrew/opt/git/libexec/git-core/": true}
	gitSelfCommands = words("maintenance gc repack pack-objects pack-refs prune prune-packed reflog commit-graph multi-pack-index index-pack " +
		"unpack-objects rev-list rerere worktree update-index upload-pack fetch-pack submodule--helper checkout--worker merge-recursive " +
		"merge-ort merge-one-file remote-http remote-https remote-ftp remote-ftps")
)

// isGitHelper reports whether an execution is a step of git's own work, by the file that git keeps for it.
func (pr *presets) isGitHelper(x *invocation) bool {
	dir, base := path.Split(x.argv[0])
	if !gitPlaces[dir] {
		return false
	}
	if sub, ok := strings.CutPrefix(base, "git-"); ok {
		return gitSelfCommands.has(sub)
	}
	return base == "git" && len(x.argv) > 1 && gitSelfCommands.has(x.argv[1])
}

// toolParts are programs that compilers and build tools execute by themselves, and that only build.
var toolParts = fieldSet("cc1 cc1plus cc1obj cc1objplus f951 gnat1 go1 d21 lto1 lto-wrapper collect2 as ld ld.bfd ld.gold ld.lld lld mold gold " +
	"cpp gcc g++ cc c++ clang clang++ ar ranlib strip objcopy nm rustc rustdoc gcc-ar gcc-nm gcc-ranlib llvm-ar " +
	"compile link asm cgo vet cover buildid pack covdata test2json fix")

// partPlaces are prefixes of the system directories that contain such parts.
var partPlaces = []string{"/usr/lib/gcc", "/usr/libexec/gcc", "/usr/lib/llvm", "/usr/lib64/gcc", "/usr/lib/go", "/usr/local/go/", "/usr/local/lib/",
	"/opt/homebrew/", "/usr/local/Cellar/", "/Library/Developer/", "/nix/store/"}

// versionManagers are directories of version managers, which keep versions of languages' tools in a home and put a shim
// in front of each.
var versionManagers = []string{"/.pyenv/", "/.rbenv/", "/.nodenv/", "/.goenv/", "/.jenv/", "/.asdf/", "/.local/share/mise/", "/.local/share/rtx/",
	"/.volta/", "/.nvm/", "/.rustup/", "/.cargo/bin/", "/.sdkman/", "/sdk/go", "/go/pkg/mod/golang.org/toolchain@"}

// goToolDir matches the directory of a Go distribution's tools; justBuilt matches what go and cargo just built to run:
// tests, go run, build scripts.
var (
	goToolDir = pattern.Lazy(`/pkg/tool/[a-z0-9]+_[a-z0-9]+/$`)
	justBuilt = pattern.Lazy(`/go-build[0-9]+/b[0-9]+/|/target/(?:debug|release)/(?:build|deps)/`)
	// versionSuffix matches the version at the end of a directory's name.
	versionSuffix = pattern.Lazy(`-[0-9]+(?:\.[0-9]+)*$`)
	// managerTool matches the programs of version managers.
	managerTool = pattern.Lazy(`^(?:pyenv|rbenv|nodenv|goenv|jenv|asdf|mise|volta|python-build)\b`)
)

// isVersionDir reports whether a directory is one of a manager of versions: in the home directory, or where root has
// put it.
func (fs *files) isVersionDir(dir string) bool {
	return slices.ContainsFunc(versionManagers, func(m string) bool {
		return strings.HasPrefix(dir, fs.home+m) || fs.account != "" && strings.HasPrefix(dir, fs.account+m) || fs.installed && strings.Contains(dir, m)
	})
}

// partName returns the name of a compiler part without target and version: x86_64-linux-gnu-gcc-12 is gcc.
func partName(base string) string {
	base = strings.TrimSuffix(base, versionSuffix.FindString(base))
	if toolParts.has(base) {
		return base
	}
	if i := strings.LastIndexByte(base, '-'); i > 0 && strings.Count(base, "-") > 1 && toolParts.has(base[i+1:]) {
		return base[i+1:]
	}
	return ""
}

// isBuildStep reports whether an execution is a build step: a compiler part in its directory, a program that go or cargo
// just built, a version manager's shim. A caller that may build may run such steps, whose arguments are in the tools'
// caches and directories. A step may write only to the working directory, /tmp or a cache.
func (fs *files) isBuildStep(x *invocation) bool {
	dir, base := path.Split(x.argv[0])
	if justBuilt.MatchString(x.argv[0]) && (strings.HasPrefix(x.argv[0], "/tmp/") || strings.HasPrefix(x.argv[0], "/var/folders/") ||
		!fs.isOutside(x.argv[0])) {
		return true
	}
	if fs.isVersionDir(dir) && managerTool.MatchString(base) {
		return true
	}
	telemetry := base == "go" && len(x.argv) == 2 && x.argv[1] == "** telemetry **" // go starts itself to count
	if partName(base) == "" && !telemetry {
		return false
	}
	known := systemProgramDirs[dir] || goToolDir.MatchString(dir) || fs.isVersionDir(dir)
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
		if joined && out != "" && !strings.HasPrefix(out, "=") && fs.isOutside(out) && !strings.HasPrefix(out, fs.home+"/.cache/") &&
			strings.Contains(out, "/") {
			return false
		}
	}
	return true
}
