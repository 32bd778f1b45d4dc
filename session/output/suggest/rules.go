package suggest

import (
	"regexp"
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Characters of package and branch names. Names with other characters in the output are ignored.
const (
	packageName = `[A-Za-z0-9@_][A-Za-z0-9@/._-]*`
	branchName  = `[A-Za-z0-9_][A-Za-z0-9/._-]*`
)

// Patterns of messages, mostly of failures, whose first group has the name to suggest.
var (
	notFound        = pattern.Lazy(`(?m)(?:^|: )command not found: ([\w.+-]+)$|: ([\w.+-]+): (?:command )?not found$|^([\w.+-]+): (?:command )?not found$|[Uu]nknown command:? '?([\w.+-]+)'?$|^'([\w.+-]+)' is not recognized`)
	upstream        = pattern.Lazy(`(?m)^\s*git push --set-upstream (` + branchName + ` ` + branchName + `)\s*$`)
	gitVerb         = pattern.Lazy(`git: '([\w-]+)' is not a git command`)
	similarCommands = pattern.Lazy(`(?m)most similar commands? (?:is|are)\n((?:\s+[\w-]+\n?)+)`)
	cargoCmd        = pattern.Lazy("no such (?:sub)?command: `([\\w-]+)`(?s:.*?)similar name exists: `([\\w-]+)`")
	notExec         = pattern.Lazy(`(?m): (\.{0,2}/[^\s:]+): Permission denied$|permission denied: (\.{0,2}/[^\s:]+)$`)
	nodeMod         = pattern.Lazy(`Cannot find (?:module|package) '(` + packageName + `)'`)
	pyMod           = pattern.Lazy(`No module named '?([A-Za-z_]\w*)`)
	goGet           = pattern.Lazy(`(?m)^\s*go get (` + packageName + `)\s*$`)
	rustMod         = pattern.Lazy("(?:can't find crate for|undeclared crate or module|unlinked crate|unresolved import) `([A-Za-z_]\\w*)")
	portUsed        = pattern.Lazy(`(?i)(?:EADDRINUSE|address already in use)[^\n]*?:(\d{2,5})\b`)
	testName        = pattern.Lazy(`^` + packageName + `$`)
)

// rules are in the order of their suggestions.
var rules = []rule{
	{"unknown-command", failed, suggestNearest},
	{"missing-file", failed, suggestFile},
	{"npm-script", failed, suggestScript},
	{"make-target", failed, suggestTarget},
	{"git-verb", failed, func(s *preparedContext) []Suggestion {
		verb, block := s.firstMatch(gitVerb), s.firstMatch(similarCommands)
		if verb == "" {
			return nil
		}
		var all []Suggestion
		for _, v := range strings.Fields(block) {
			if line := replaceWord(s.Line, verb, v); line != "" {
				all = append(all, Suggestion{Command: line, Reason: "git knows " + v})
			}
		}
		return all
	}},
	{"git-upstream", failed, func(s *preparedContext) []Suggestion {
		if to := s.firstMatch(upstream); to != "" && s.outputContains("has no upstream branch") {
			return single("git push --set-upstream "+to, "the branch has no upstream yet")
		}
		return nil
	}},
	{"git-behind", failed, func(s *preparedContext) []Suggestion {
		if s.outputContains("[rejected]") && (s.outputContains("fetch first") || s.outputContains("non-fast-forward")) {
			return single("git pull --rebase", "the remote branch has commits that are not here")
		}
		return nil
	}},
	{"git-no-repository", failed, func(s *preparedContext) []Suggestion {
		if s.outputContains("not a git repository") {
			return single("git init", "no repository here")
		}
		return nil
	}},
	{"cargo-verb", failed, func(s *preparedContext) []Suggestion {
		if m := cargoCmd.FindStringSubmatch(s.out); m != nil {
			if line := replaceWord(s.Line, m[1], m[2]); line != "" {
				return single(line, "cargo knows "+m[2])
			}
		}
		return nil
	}},
	{"not-executable", failed, func(s *preparedContext) []Suggestion {
		file, ok := quote(s.firstMatch(notExec))
		if !ok || *s.Result.Exit != 126 {
			return nil
		}
		return []Suggestion{{Command: "chmod +x " + file, Reason: "the file may not be executed"}}
	}},
	{"missing-module", failed, suggestModule},
	{"port-used", failed, func(s *preparedContext) []Suggestion {
		if port := s.firstMatch(portUsed); port != "" {
			return single("lsof -i :"+port, "another program has the port")
		}
		return nil
	}},
	{"failed-test", failed, suggestTest},
	{"cloned", succeeded, suggestAfterClone},
	{"installed", succeeded, suggestAfterInstall},
	{"built", succeeded, suggestAfterBuild},
	{"listing", succeeded, suggestOpen},
	{"tests-pending", succeeded, suggestPendingTests},
	{"project", succeeded, suggestSetup},
	{"make-targets", succeeded, suggestMakeTargets},
}

// pipNames maps modules to their packages where the names differ.
var pipNames = map[string]string{
	"cv2": "opencv-python", "PIL": "Pillow", "yaml": "PyYAML", "sklearn": "scikit-learn", "bs4": "beautifulsoup4",
	"dateutil": "python-dateutil", "dotenv": "python-dotenv", "serial": "pyserial", "usb": "pyusb", "git": "GitPython", "jwt": "PyJWT",
}

// suggestModule suggests to install a module that the output reports as missing.
func suggestModule(s *preparedContext) []Suggestion {
	if m := s.firstMatch(nodeMod); m != "" {
		all := []Suggestion{}
		if s.files["package.json"] && !s.files["node_modules"] {
			all = append(all, Suggestion{Command: "npm install", Reason: "the packages of package.json are not installed"})
		}
		return append(all, Suggestion{Command: "npm install " + npmPackage(m), Reason: "the module is missing"})
	}
	if m := s.firstMatch(pyMod); m != "" {
		name := m
		if n := pipNames[m]; n != "" {
			name = n
		}
		var all []Suggestion
		if s.files["requirements.txt"] {
			all = append(all, Suggestion{Command: "pip install -r requirements.txt", Reason: "the module may be among the requirements"})
		}
		return append(all, Suggestion{Command: "pip install " + name, Reason: "the module is missing"})
	}
	if m := s.firstMatch(goGet); m != "" && s.outputContains("no required module provides package") {
		return single("go get "+m, "no module provides the package")
	}
	if s.outputContains("missing go.sum entry") || s.outputContains("updates to go.mod needed") || s.outputContains("go mod tidy") {
		return single("go mod tidy", "go.mod and go.sum are not up to date")
	}
	if m := s.firstMatch(rustMod); m != "" && s.files["Cargo.toml"] {
		return single("cargo add "+m, "the crate is missing")
	}
	return nil
}

// npmPackage returns the package of a module path: its first part, or two with a scope.
func npmPackage(module string) string {
	parts := strings.SplitN(module, "/", 3)
	if strings.HasPrefix(module, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// suggestTest suggests to run the first failed test alone.
func suggestTest(s *preparedContext) []Suggestion {
	t := s.Result.Tests
	if t == nil || len(t.Failures) == 0 {
		return nil
	}
	f := t.Failures[0]
	if !testName.MatchString(f.Name) || f.Suite != "" && !testName.MatchString(f.Suite) {
		return nil
	}
	const reason = "only the first test that failed"
	switch t.Framework {
	case "go":
		if f.Name != f.Suite && f.Suite != "" {
			return single("go test -run '^"+strings.ReplaceAll(regexp.QuoteMeta(f.Name), "/", "$/^")+"$' "+f.Suite, reason)
		}
	case "pytest":
		if f.Name != f.Suite {
			return single("pytest "+f.Suite+"::"+f.Name, reason)
		}
	case "cargo":
		return single("cargo test "+f.Name, reason)
	}
	return nil
}

// buildSystem lists the commands to suggest after a build in a directory that contains a file.
type buildSystem struct {
	file        string
	programs    []string // build programs
	subcommands []string // subcommands that build; nil: any
	commands    []string // suggested commands
}

// buildSystems lists the known build systems.
var buildSystems = []buildSystem{
	{"go.mod", []string{"go"}, []string{"build", "install", "vet"}, []string{"go test ./...", "go run ."}},
	{"Cargo.toml", []string{"cargo"}, []string{"build", "check", "b", "c"}, []string{"cargo test", "cargo run"}},
	{"package.json", []string{"npm", "yarn", "pnpm", "bun", "tsc", "vite", "webpack"}, []string{"run", "build", "install", "ci", "i", ""}, []string{"npm test", "npm start"}},
	{"pom.xml", []string{"mvn"}, []string{"compile", "package", "install"}, []string{"mvn test"}},
	{"build.gradle", []string{"gradle", "gradlew"}, []string{"build", "assemble"}, []string{"./gradlew test", "./gradlew run"}},
	{"build.gradle.kts", []string{"gradle", "gradlew"}, []string{"build", "assemble"}, []string{"./gradlew test", "./gradlew run"}},
	{"CMakeLists.txt", []string{"cmake"}, nil, []string{"ctest --test-dir build"}},
	{"Makefile", []string{"make", "gmake"}, []string{"", "all", "build"}, []string{"make test"}},
	{"pyproject.toml", []string{"pip", "poetry", "uv", "build"}, []string{"install", "build", "sync"}, []string{"pytest"}},
}

// suggestAfterBuild suggests the next commands after a successful build.
func suggestAfterBuild(s *preparedContext) []Suggestion {
	var all []Suggestion
	for _, b := range buildSystems {
		if !s.files[b.file] || !contains(b.programs, s.Result.Command.Name) || b.subcommands != nil && !contains(b.subcommands, s.Result.Command.Subcommand()) {
			continue
		}
		for _, next := range b.commands {
			if !s.isAvailable(next) {
				continue
			}
			if verb, ok := strings.CutPrefix(next, "npm "); ok {
				next = runScript(packageManager(s.files), verb)
			}
			all = append(all, Suggestion{Command: next, Reason: "built; there is " + b.file})
		}
	}
	return all
}

// contains reports whether list contains s.
func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// suggestOpen suggests commands for the entries of a listing: a README, a directory, a file.
func suggestOpen(s *preparedContext) []Suggestion {
	if s.Result.Kind != diagnostics.Listing {
		return nil
	}
	var names []string
	dir, file := "", ""
	for _, e := range s.Result.Listing {
		name := e.Name
		if name == "." || name == ".." {
			continue
		}
		if e.Dir != "" && e.Dir != "." {
			name = e.Dir + "/" + name
		}
		names = append(names, name)
		switch {
		case e.Type == "dir" && dir == "":
			dir = name
		case (e.Type == "file" || e.Type == "") && file == "":
			file = name
		}
	}
	var all []Suggestion
	if n, ok := quote(s.findReadme(names)); ok {
		all = append(all, Suggestion{Command: "less " + n, Reason: "this is meant to be read first"})
	}
	if n, ok := quote(dir); ok {
		all = append(all, Suggestion{Command: "ls -l " + n, Reason: "a directory"})
	}
	if n, ok := quote(file); ok && len(all) < 2 {
		all = append(all, Suggestion{Command: "file " + n, Reason: "the first file"})
	}
	return all
}
