package suggest

import (
	"regexp"
	"strings"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Letters that names of packages, branches and tests are made of. What the output has
// of others is not taken up.
const (
	packageName = `[A-Za-z0-9@_][A-Za-z0-9@/._-]*`
	branchName  = `[A-Za-z0-9_][A-Za-z0-9/._-]*`
)

var (
	notFound = pattern.Lazy(`(?m)(?:^|: )command not found: ([\w.+-]+)$|: ([\w.+-]+): (?:command )?not found$|^([\w.+-]+): (?:command )?not found$|[Uu]nknown command:? '?([\w.+-]+)'?$|^'([\w.+-]+)' is not recognized`)
	upstream = pattern.Lazy(`(?m)^\s*git push --set-upstream (` + branchName + ` ` + branchName + `)\s*$`)
	gitVerb  = pattern.Lazy(`git: '([\w-]+)' is not a git command`)
	similar  = pattern.Lazy(`(?m)most similar commands? (?:is|are)\n((?:\s+[\w-]+\n?)+)`)
	cargoCmd = pattern.Lazy("no such (?:sub)?command: `([\\w-]+)`(?s:.*?)similar name exists: `([\\w-]+)`")
	notExec  = pattern.Lazy(`(?m): (\.{0,2}/[^\s:]+): Permission denied$|permission denied: (\.{0,2}/[^\s:]+)$`)
	nodeMod  = pattern.Lazy(`Cannot find (?:module|package) '(` + packageName + `)'`)
	pyMod    = pattern.Lazy(`No module named '?([A-Za-z_]\w*)`)
	goGet    = pattern.Lazy(`(?m)^\s*go get (` + packageName + `)\s*$`)
	rustMod  = pattern.Lazy("(?:can't find crate for|undeclared crate or module|unlinked crate|unresolved import) `([A-Za-z_]\\w*)")
	portUsed = pattern.Lazy(`(?i)(?:EADDRINUSE|address already in use)[^\n]*?:(\d{2,5})\b`)
	testName = pattern.Lazy(`^` + packageName + `$`)
)

// rules in the order in which their suggestions come.
var rules = []rule{
	{"unknown-command", failed, suggestNearest},
	{"missing-file", failed, suggestFile},
	{"npm-script", failed, suggestScript},
	{"make-target", failed, suggestTarget},
	{"git-verb", failed, func(s *situation) []Suggestion {
		verb, block := s.find(gitVerb), s.find(similar)
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
	{"git-upstream", failed, func(s *situation) []Suggestion {
		if to := s.find(upstream); to != "" && s.outputContains("has no upstream branch") {
			return one("git push --set-upstream "+to, "the branch has no upstream yet")
		}
		return nil
	}},
	{"git-behind", failed, func(s *situation) []Suggestion {
		if s.outputContains("[rejected]") && (s.outputContains("fetch first") || s.outputContains("non-fast-forward")) {
			return one("git pull --rebase", "the remote branch has commits that are not here")
		}
		return nil
	}},
	{"git-no-repository", failed, func(s *situation) []Suggestion {
		if s.outputContains("not a git repository") {
			return one("git init", "no repository here")
		}
		return nil
	}},
	{"cargo-verb", failed, func(s *situation) []Suggestion {
		if m := cargoCmd.FindStringSubmatch(s.out); m != nil {
			if line := replaceWord(s.Line, m[1], m[2]); line != "" {
				return one(line, "cargo knows "+m[2])
			}
		}
		return nil
	}},
	{"not-executable", failed, func(s *situation) []Suggestion {
		file, ok := quote(s.find(notExec))
		if !ok || *s.Result.Exit != 126 {
			return nil
		}
		return []Suggestion{{Command: "chmod +x " + file, Reason: "the file may not be executed"}}
	}},
	{"missing-module", failed, suggestModule},
	{"port-used", failed, func(s *situation) []Suggestion {
		if port := s.find(portUsed); port != "" {
			return one("lsof -i :"+port, "another program has the port")
		}
		return nil
	}},
	{"failed-test", failed, suggestTest},
	{"built", succeeded, suggestAfterBuild},
	{"listing", succeeded, suggestOpen},
}

// pipNames are modules whose package has another name.
var pipNames = map[string]string{
	"cv2": "opencv-python", "PIL": "Pillow", "yaml": "PyYAML", "sklearn": "scikit-learn", "bs4": "beautifulsoup4",
	"dateutil": "python-dateutil", "dotenv": "python-dotenv", "serial": "pyserial", "usb": "pyusb", "git": "GitPython", "jwt": "PyJWT",
}

func suggestModule(s *situation) []Suggestion {
	if m := s.find(nodeMod); m != "" {
		all := []Suggestion{}
		if s.files["package.json"] && !s.files["node_modules"] {
			all = append(all, Suggestion{Command: "npm install", Reason: "the packages of package.json are not installed"})
		}
		return append(all, Suggestion{Command: "npm install " + npmPackage(m), Reason: "the module is missing"})
	}
	if m := s.find(pyMod); m != "" {
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
	if m := s.find(goGet); m != "" && s.outputContains("no required module provides package") {
		return one("go get "+m, "no module provides the package")
	}
	if s.outputContains("missing go.sum entry") || s.outputContains("updates to go.mod needed") || s.outputContains("go mod tidy") {
		return one("go mod tidy", "go.mod and go.sum are not up to date")
	}
	if m := s.find(rustMod); m != "" && s.files["Cargo.toml"] {
		return one("cargo add "+m, "the crate is missing")
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

// suggestTest runs the first test that failed by itself.
func suggestTest(s *situation) []Suggestion {
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
			return one("go test -run '^"+strings.ReplaceAll(regexp.QuoteMeta(f.Name), "/", "$/^")+"$' "+f.Suite, reason)
		}
	case "pytest":
		if f.Name != f.Suite {
			return one("pytest "+f.Suite+"::"+f.Name, reason)
		}
	case "cargo":
		return one("cargo test "+f.Name, reason)
	}
	return nil
}

// buildSystem is what one can do with a directory that has a file.
type buildSystem struct {
	file     string
	programs []string // that build it
	verbs    []string // nil: any
	next     []string
}

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

func suggestAfterBuild(s *situation) []Suggestion {
	var all []Suggestion
	for _, b := range buildSystems {
		if !s.files[b.file] || !contains(b.programs, s.Result.Command.Name) || b.verbs != nil && !contains(b.verbs, s.Result.Command.Sub()) {
			continue
		}
		for _, next := range b.next {
			if !s.has(next) {
				continue
			}
			all = append(all, Suggestion{Command: next, Reason: "built; there is " + b.file})
		}
	}
	return all
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// suggestOpen opens what a listing has: what should be read first, a directory, a file.
func suggestOpen(s *situation) []Suggestion {
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
	if n, ok := quote(s.readFirst(names)); ok {
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
