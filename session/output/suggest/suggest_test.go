package suggest

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// FAULT: J
// FEATURES: R29
func TestSuggest(t *testing.T) {
	programs := strings.Fields("git gitk gist ls make cmake python3 cargo go x;y")
	verbs := &Targets{Make: []string{"all", "test"}, NPM: []string{"build", "start", "test"}}
	for _, c := range []struct {
		name, line string
		exit       int
		out        string
		files      string
		want       string // commands, joined
	}{
		{"unknown in bash", "gti status -s", 127, "bash: gti: command not found\n", "", "git status -s"},
		{"unknown in dash", "sudo mkae -j8", 127, "dash: 1: mkae: not found\n", "", "sudo make -j8"},
		{"unknown in zsh", "gti", 127, "zsh:1: command not found: gti\n", "", "git"},
		{"unknown in fish", "pyhton3 x", 127, "fish: Unknown command: pyhton3\n", "", "python3 x"},
		{"several alike", "gits", 127, "gits: command not found\n", "", "git | gitk | gist"},
		{"nothing alike", "frobnicate", 127, "bash: frobnicate: command not found\n", "", ""},
		{"another exit status", "gti", 1, "bash: gti: command not found\n", "", ""},
		{"not the line's word", "./run", 127, "run: gti: command not found\n", "", ""},
		{"git verb", "git stauts -s", 1, "git: 'stauts' is not a git command. See 'git --help'.\n\nThe most similar command is\n\tstatus\n", "", "git status -s"},
		{"git verbs", "git st", 1, "git: 'st' is not a git command. See 'git --help'.\n\nThe most similar commands are\n\tstatus\n\tstage\n\tstash\n", "", "git status | git stage | git stash"},
		{"upstream", "git push", 128, "fatal: The current branch main has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream origin main\n\n", "", "git push --set-upstream origin main"},
		{"hostile branch", "git push", 128, "fatal: The current branch x has no upstream branch.\n    git push --set-upstream origin $(rm -rf ~)\n", "", ""},
		{"behind", "git push", 1, " ! [rejected]        main -> main (fetch first)\n", "", "git pull --rebase"},
		{"no repository", "git log", 128, "fatal: not a git repository (or any of the parent directories): .git\n", "", "git init"},
		{"cargo verb", "cargo biuld", 101, "error: no such command: `biuld`\n\nhelp: a command with a similar name exists: `build`\n", "", "cargo build"},
		{"not executable", "./run.sh", 126, "bash: ./run.sh: Permission denied\n", "", "chmod +x ./run.sh"},
		{"hostile file", "./a;b", 126, "bash: ./a;b: Permission denied\n", "", "chmod +x './a;b'"},
		{"denied otherwise", "cat x", 1, "cat: ./x: Permission denied\n", "", ""},
		{"node module", "node a.js", 1, "Error: Cannot find module 'left-pad/lib'\n", "", "npm install left-pad"},
		{"scoped module, nothing installed", "node a.js", 1, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b/c' imported from x\n", "package.json", "npm install | npm install @a/b"},
		{"own file", "node a.js", 1, "Error: Cannot find module './lib'\n", "", ""},
		{"python module", "python3 a.py", 1, "ModuleNotFoundError: No module named 'yaml.nodes'\n", "requirements.txt", "pip install -r requirements.txt | pip install PyYAML"},
		{"go module", "go build", 1, "a.go:2:8: no required module provides package github.com/a/b; to add it:\n\tgo get github.com/a/b\n", "go.mod", "go get github.com/a/b"},
		{"go.sum", "go build", 1, "missing go.sum entry for module providing package x\n", "go.mod", "go mod tidy"},
		{"crate", "cargo build", 101, "error[E0432]: unresolved import `serde`\n", "Cargo.toml", "cargo add serde"},
		{"port", "npm start", 1, "Error: listen EADDRINUSE: address already in use :::3000\n", "", "lsof -i :3000"},
		{"failed test", "go test ./p", 1, goFailOutput, "go.mod", "go test -run '^TestBad$' example.org/x/p"},
		{"failed subtest", "go test ./p", 1, "--- FAIL: TestA (0s)\n    --- FAIL: TestA/b.c (0s)\nFAIL\tx/p\t0s\n", "", `go test -run '^TestA$/^b\.c$' x/p`},
		{"failed pytest", "pytest", 1, "FAILED tests/a.py::test_x - no\n1 failed in 0.1s\n", "", "pytest tests/a.py::test_x"},
		{"built with go", "go build ./...", 0, "", "go.mod Makefile", "go test ./... | go run ."},
		{"built with cargo", "cargo build --release", 0, "", "Cargo.toml", "cargo test | cargo run"},
		{"built with npm", "npm run build", 0, "", "package.json", "npm test | npm start"},
		{"built with make", "make", 0, "", "Makefile", "make test"},
		{"not built", "make clean", 0, "", "Makefile", ""},
		{"listing", "ls", 0, "a.txt  README.md  sub\n", "", "less README.md | file a.txt"},
		{"long listing", "ls -l x y", 0, "x:\n-rw-r--r-- 1 a a 1 Nov 21 21:23 -n\ndrwxr-xr-x 1 a a 1 Nov 21 21:23 a b\n", "", "ls -l 'x/a b' | file x/-n"},
		{"hostile listing", "ls -1", 0, "$(reboot)\n", "", "file '$(reboot)'"},
		{"option as a name", "ls -1", 0, "-rf\n", "", "file ./-rf"},
		{"failed make", "make", 2, "cc -c main.c\nmain.c:3:5: error: expected ';'\nmake: *** [Makefile:2: main.o] Error 1\n", "Makefile main.c", "longterm errors --open"},
		{"failed without a place", "make", 2, "make: *** [Makefile:2: main.o] Error 1\n", "Makefile", ""},
		{"well", "true", 0, "bash: gti: command not found\n", "go.mod", ""},
	} {
		exit := c.exit
		var got []string
		for _, s := range Suggest(Context{Line: c.line, Output: c.out, Result: diagnostics.Parse(c.line, &exit, c.out), Programs: programs, Files: strings.Fields(c.files), Targets: verbs}) {
			got = append(got, s.Command)
			if s.Rule == "" || s.Reason == "" {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if strings.Join(got, " | ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, strings.Join(got, " | "), c.want)
		}
	}
	if s := Suggest(Context{Line: "make", Result: diagnostics.Parse("make", nil, ""), Files: []string{"Makefile"}}); s != nil {
		t.Errorf("for a command that may still run: %+v", s)
	}
}

// goFailOutput is the output of go test -v for a failing test.
const goFailOutput = `=== RUN   TestGood
--- PASS: TestGood (0.00s)
=== RUN   TestBad
    p_test.go:4: got 1
        want 2
--- FAIL: TestBad (0.00s)
FAIL
FAIL	example.org/x/p	0.056s
FAIL
`

// FuzzSuggest checks that suggestions are valid shell lines for any output.
func FuzzSuggest(f *testing.F) {
	one, missing := 1, 127
	for _, line := range []string{"make", "npm run lint", "git psuh", "go test ./p", "./run", "sudo apt install x", "\x00(psuh"} {
		for _, out := range []string{goFailOutput, "bash: gti: command not found\n", "make: *** No rule to make target 'lnit'.  Stop.\n",
			"git: 'psuh' is not a git command. See 'git --help'.\n\nThe most similar command is\n\tpush\n", "Error: listen EADDRINUSE: address already in use :::3000\n"} {
			f.Add(line, out)
		}
	}
	f.Fuzz(func(t *testing.T, line, out string) {
		for _, exit := range []*int{nil, &one, &missing} {
			c := Context{Line: line, Output: out, Result: diagnostics.Parse(line, exit, out), Programs: []string{"git", "ls", "make"},
				Files: []string{"go.mod", "a b"}, Targets: &Targets{Make: []string{"lint"}, NPM: []string{"lint"}}}
			for _, s := range Suggest(c) {
				if s.Command == "" || s.Reason == "" || s.Rule == "" || strings.ContainsAny(s.Command, "\x00\n") && !strings.Contains(line, "\n") {
					t.Errorf("%q, %q: %+v", line, out, s)
				}
			}
		}
	})
}
