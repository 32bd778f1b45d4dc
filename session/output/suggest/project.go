package suggest

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Project holds facts about the working directory, for next steps after a successful command. Without them (nil) only
// the command and its output count.
type Project struct {
	Runs     []Run     // commands that ran in the directory, newest first
	Changed  time.Time // newest change of a source file; zero: unknown
	HasTests bool      // a source file is a test by its name
	Cloned   []string  // names in the directory of ClonedInto
}

// Run is a command that ran in the working directory.
type Run struct {
	Line  string
	Began time.Time
}

// maxNextSteps bounds the suggestions after a successful command.
const maxNextSteps = 3

// IsProject reports whether the names of a directory include the file of a build system.
func IsProject(files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return setups[f] != "" || slices.Contains(makefiles, f) })
}

// makefiles are the names of makefiles.
var makefiles = []string{"GNUmakefile", "makefile", "Makefile"}

// setups maps the files of build systems to the commands that install dependencies or build.
var setups = map[string]string{
	"package.json": "npm install", "pnpm-lock.yaml": "pnpm install", "yarn.lock": "yarn install", "bun.lock": "bun install", "bun.lockb": "bun install",
	"package-lock.json": "npm ci", "go.mod": "go build ./...", "Cargo.toml": "cargo build", "uv.lock": "uv sync", "poetry.lock": "poetry install",
	"requirements.txt": "pip install -r requirements.txt", "pom.xml": "mvn compile", "gradlew": "./gradlew build", "CMakeLists.txt": "cmake -B build",
}

// setupOrder lists the files of setups: the first one of a directory counts.
var setupOrder = []string{
	"pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "package-lock.json", "package.json", "go.mod", "Cargo.toml", "uv.lock", "poetry.lock",
	"requirements.txt", "pom.xml", "gradlew", "CMakeLists.txt",
}

// setupOf returns the command that prepares a directory with these files, and the file that it is for; "" if there is
// none, or npm's packages are installed.
func setupOf(files map[string]bool) (command, file string) {
	for _, f := range setupOrder {
		if !files[f] {
			continue
		}
		if isNode := slices.Index(setupOrder, f) <= slices.Index(setupOrder, "package.json"); isNode && (!files["package.json"] || files["node_modules"]) {
			continue
		}
		return setups[f], f
	}
	return "", ""
}

// packageManager returns the program that runs the scripts of a package.json.
func packageManager(files map[string]bool) string {
	for _, f := range setupOrder {
		if f == "package.json" {
			break
		}
		if files[f] {
			name, _, _ := strings.Cut(setups[f], " ")
			return name
		}
	}
	return "npm"
}

// runScript returns the command that runs a script of package.json. Only npm has short forms that all versions know.
func runScript(manager, name string) string {
	if manager == "npm" && (name == "test" || name == "start") {
		return "npm " + name
	}
	return manager + " run " + name
}

// cloneValues are the options of git clone with a value as the next argument.
var cloneValues = map[string]bool{
	"-b": true, "--branch": true, "--depth": true, "-o": true, "--origin": true, "-c": true, "--config": true, "-j": true, "--jobs": true,
	"--reference": true, "--filter": true, "--template": true, "-u": true, "--upload-pack": true, "--shallow-since": true, "--shallow-exclude": true,
}

// ClonedInto returns the directory that a command line cloned a repository into, as the line names it; "" if it cloned
// none, or without files.
func ClonedInto(line string) string {
	c := diagnostics.ParseCommand(line)
	args := c.Args
	switch {
	case c.Name == "git" && len(args) > 0 && args[0] == "clone":
		args = args[1:]
	case c.Name == "gh" && len(args) > 1 && args[0] == "repo" && args[1] == "clone":
		args = args[2:]
	default:
		return ""
	}
	var names []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--bare" || a == "--mirror" || a == "-n" || a == "--no-checkout":
			return ""
		case cloneValues[a]:
			i++
		case a == "--" || !strings.HasPrefix(a, "-"):
			if a != "--" {
				names = append(names, a)
			}
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > 1 && c.Name == "git" || len(names) > 1 && !strings.HasPrefix(names[1], "-"):
		return names[1]
	}
	url := strings.TrimSuffix(strings.TrimRight(names[0], "/"), "/.git")
	name := strings.TrimSuffix(url[strings.LastIndexAny(url, "/:")+1:], ".git")
	if name == "." || name == ".." {
		return ""
	}
	return name
}

// suggestAfterClone suggests to enter a clone, to prepare it, and to read its README.
func suggestAfterClone(s *preparedContext) []Suggestion {
	if s.Project == nil || len(s.Project.Cloned) == 0 {
		return nil
	}
	dir := ClonedInto(s.Line)
	word, ok := quote(dir)
	if !ok {
		return nil
	}
	all := single("cd "+word, "the repository was cloned there")
	files := setOf(s.Project.Cloned)
	if command, file := setupOf(files); command != "" {
		all = append(all, Suggestion{Command: "cd " + word + " && " + command, Reason: "the clone has " + file})
	} else if m := findMakefile(files); m != "" {
		all = append(all, Suggestion{Command: "cd " + word + " && make", Reason: "the clone has " + m})
	}
	if readme := s.findReadme(s.Project.Cloned); readme != "" {
		if file, ok := quote(path.Join(dir, readme)); ok {
			all = append(all, Suggestion{Command: "less " + file, Reason: "this is meant to be read first"})
		}
	}
	return all
}

// installVerbs are the subcommands that install packages, by program.
var installVerbs = map[string][]string{
	"npm": {"install", "i", "ci", "add"}, "pnpm": {"install", "i", "add"}, "yarn": {"", "install", "add"}, "bun": {"install", "i", "add"},
}

// startScripts are the scripts that start a project while it is developed.
var startScripts = []string{"dev", "start", "serve"}

// suggestAfterInstall suggests to start a project after its packages were installed.
func suggestAfterInstall(s *preparedContext) []Suggestion {
	c := s.Result.Command
	if verbs, ok := installVerbs[c.Name]; !ok || !slices.Contains(verbs, c.Subcommand()) || s.Project == nil {
		return nil
	}
	return s.startScript(c.Name)
}

// startScript suggests the first start script of package.json.
func (s *preparedContext) startScript(manager string) []Suggestion {
	if !s.files["package.json"] || s.Targets == nil {
		return nil
	}
	for _, name := range startScripts {
		if slices.Contains(s.Targets.NPM, name) {
			return single(runScript(manager, name), "package.json has the script "+name)
		}
	}
	return nil
}

// testPrograms are programs that only run tests.
var testPrograms = []string{"pytest", "py.test", "gotestsum", "jest", "vitest", "ctest", "tox", "nox"}

// runsTests reports whether a command line runs tests.
func runsTests(line string) bool {
	c := diagnostics.ParseCommand(line)
	switch c.Name {
	case "go", "cargo", "mvn", "gradle", "gradlew":
		return slices.Contains(c.Args, "test") || c.Subcommand() == "nextest"
	case "npm", "pnpm", "yarn", "bun":
		return slices.ContainsFunc(c.Args, func(a string) bool { return a == "t" || a == "test" || strings.HasPrefix(a, "test:") })
	case "make", "gmake":
		return slices.ContainsFunc(c.Args, func(a string) bool { return a == "check" || strings.HasPrefix(a, "test") })
	}
	return slices.Contains(testPrograms, c.Name)
}

// repeatable matches lines that may be suggested again as they were typed: without characters that are special to a shell.
var repeatable = pattern.Lazy(`^[A-Za-z0-9@%+=:,./_ -]{1,200}$`)

// suggestPendingTests suggests to run the tests if source files changed after they ran last.
func suggestPendingTests(s *preparedContext) []Suggestion {
	p := s.Project
	if p == nil || p.Changed.IsZero() {
		return nil
	}
	for _, r := range p.Runs {
		switch {
		case !runsTests(r.Line):
		case !r.Began.Before(p.Changed):
			return nil
		case repeatable.MatchString(r.Line):
			return single(strings.TrimSpace(r.Line), "files changed since these tests ran")
		}
	}
	if command := s.testCommand(); command != "" {
		return single(command, "the tests have not run here since files changed")
	}
	return nil
}

// testCommand returns the command that runs the tests of the directory, or "".
func (s *preparedContext) testCommand() string {
	hasTarget := func(name string) bool { return s.Targets != nil && slices.Contains(s.Targets.Make, name) }
	switch f := s.files; {
	case hasTarget("test"):
		return "make test"
	case hasTarget("check"):
		return "make check"
	case f["go.mod"] && s.Project.HasTests:
		return "go test ./..."
	case f["Cargo.toml"]:
		return "cargo test"
	case f["package.json"] && s.Targets != nil && slices.Contains(s.Targets.NPM, "test"):
		return runScript(packageManager(f), "test")
	case f["pom.xml"]:
		return "mvn test"
	case f["gradlew"]:
		return "./gradlew test"
	case s.Project.HasTests && (f["pyproject.toml"] || f["requirements.txt"] || f["setup.py"]):
		return "pytest"
	}
	return ""
}

// ranSinceChange reports whether a command ran in the directory and no source file changed after its start.
func (p *Project) ranSinceChange(isSame func(line string) bool) bool {
	return slices.ContainsFunc(p.Runs, func(r Run) bool { return !r.Began.Before(p.Changed) && isSame(strings.TrimSpace(r.Line)) })
}

// suggestSetup suggests to prepare or start the project of the directory, unless that was done since the newest change.
func suggestSetup(s *preparedContext) []Suggestion {
	if s.Project == nil {
		return nil
	}
	command, file := setupOf(s.files)
	all := single(command, "there is "+file)
	if command == "" {
		all = s.startScript(packageManager(s.files))
	}
	return slices.DeleteFunc(all, func(x Suggestion) bool {
		c := diagnostics.ParseCommand(x.Command)
		return s.Project.ranSinceChange(func(line string) bool {
			same := diagnostics.ParseCommand(line)
			return line == x.Command || c.Subcommand() != "run" && same.Name == c.Name && same.Subcommand() == c.Subcommand()
		})
	})
}

// Targets of makefiles: the usual ones come first, and those with a risky word are never suggested.
var (
	usualTargets = []string{"build", "test", "check", "run", "dev", "serve", "lint"}
	riskyWords   = []string{"clean", "install", "deploy", "release", "publish", "push", "upload", "reset", "destroy", "drop", "purge", "delete", "remove", "undo", "kill"}
)

// suggestMakeTargets suggests targets of the makefile that were not made since the newest change.
func suggestMakeTargets(s *preparedContext) []Suggestion {
	m := findMakefile(s.files)
	if s.Project == nil || s.Targets == nil || m == "" {
		return nil
	}
	var targets []string
	for _, t := range append(slices.Clone(usualTargets), s.Targets.Make...) {
		isRisky := slices.ContainsFunc(riskyWords, func(w string) bool { return strings.Contains(strings.ToLower(t), w) })
		if !isRisky && slices.Contains(s.Targets.Make, t) && !slices.Contains(targets, t) && !strings.ContainsAny(t, "./") {
			targets = append(targets, t)
		}
	}
	var all []Suggestion
	for _, t := range targets {
		command := "make " + t
		if !s.Project.ranSinceChange(func(line string) bool { return line == command }) {
			all = append(all, Suggestion{Command: command, Reason: "a target of " + m})
		}
	}
	return all
}

// findMakefile returns the makefile that make reads, or "".
func findMakefile(files map[string]bool) string {
	for _, name := range makefiles {
		if files[name] {
			return name
		}
	}
	return ""
}

// setOf returns names as a set.
func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return set
}
