package diagnostics

import (
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/shell"
)

// FEATURES: R28
func TestParseCommand(t *testing.T) {
	for line, want := range map[string]string{
		"ls":                               "ls",
		"lsof -i":                          "lsof -i",
		"/bin/ls -la":                      "ls -la",
		"LC_ALL=C ls":                      "ls",
		"sudo -u root ls":                  "ls",
		"sudo VAR=1 make -j8":              "make -j8",
		"env -i A=1 B=2 make":              "make",
		"time make":                        "make",
		"time -p make":                     "make",
		"/usr/bin/time -f %e make":         "make",
		"nice -n 5 make":                   "make",
		"nice nohup make all &":            "make all",
		"timeout -k 5 60 go test ./...":    "go test ./...",
		"stdbuf -oL python3 -m pytest -q":  "pytest -q",
		"cd x && make":                     "make",
		"cd x; make; echo done":            "make",
		"make || echo failed":              "make",
		"make 2>&1 | tee log":              "make",
		"go test ./... 2>&1 | tail -20":    "go test ./...",
		"make 2>&1 | grep error | head":    "make",
		"cat x | wc -l":                    "wc -l",
		"ls | wc -l":                       "wc -l",
		"(cd a && cargo build)":            "cargo build",
		"{ make; }":                        "make",
		"if true; then make; fi":           "make",
		"for i in 1 2; do gcc $i.c; done":  "gcc .c",
		"while read x; do ls $x; done":     "ls ",
		"! make":                           "make",
		"bash -c 'cd x && go build'":       "go build",
		`sh -ec "make -C 'a b'"`:           "make -C a b",
		"npx jest --ci":                    "jest --ci",
		"pnpm exec vitest run":             "vitest run",
		"npm test":                         "npm test",
		"uv run pytest":                    "pytest",
		"bundle exec rake":                 "rake",
		"bundle install":                   "bundle install",
		"gcc-12 -c a.c":                    "gcc -c a.c",
		"x86_64-linux-gnu-gcc -c a.c":      "gcc -c a.c",
		"clang++-15 a.cc":                  "clang++ a.cc",
		"python3.11 -m unittest":           "unittest",
		"python3 x.py":                     "python x.py",
		`C:\tools\cl.exe a.c`:              "C:toolscl a.c", // the shell removes backslashes
		"echo hi":                          "echo hi",
		"cd /tmp":                          "cd /tmp",
		"sudo":                             "sudo",
		"env":                              "env",
		"":                                 "",
		"A=1":                              "",
		"ls 'a b":                          "ls 'a b", // an invalid line is split into words
		"VAR=1 ls (":                       "ls (",
		"exec make":                        "make",
		"sudo -- ls -l":                    "ls -l",
		"taskset 3 make":                   "make",
		"a=$(ls) make":                     "make",
		"git -C dir status":                "git -C dir status",
		"function f { make; }; ls":         "ls",
		"make <<EOF\nls\nEOF":              "make",
		"bash -c \"bash -c 'make'\"":       "make",
		"yes | apt-get install x":          "apt-get install x",
		strings.Repeat("(", 9000) + "make": strings.Repeat("(", maxCommandBytes),
	} {
		c := ParseCommand(line)
		if got := strings.Join(append([]string{c.Name}, c.Args...), " "); got != want {
			t.Errorf("%.80s: %.80q, want %.80q", line, got, want)
		}
	}
}

// FEATURES: R28
func TestCommandOptions(t *testing.T) {
	if c := ParseCommand("git -C dir -c a=b status -s"); c.Subcommand() != "status" {
		t.Errorf("verb %q", c.Subcommand())
	}
	if c := ParseCommand("cargo +nightly --color always test"); c.Subcommand() != "test" {
		t.Errorf("verb %q", c.Subcommand())
	}
	c := ParseCommand("ls -la --format=long x -- -R")
	for option, want := range map[string]bool{"-l": true, "-a": true, "-R": false, "--format": true, "--format=long": true, "-f": false} {
		if c.HasOption(option) != want {
			t.Errorf("%s: %v", option, !want)
		}
	}
	if !slices.Equal(ParseCommand(`a 'b c' "d $x" e\ f`).Args, []string{"b c", "d ", "e f"}) {
		t.Error("quotes")
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"sudo env A=1 nice -n 5 bash -c 'cd x && make 2>&1 | tee log'", "a $(b `c` ${d[1]}) <<E\nx\nE", "python3 -m -m -m", "timeout", "sh -c", "if a; then b; elif c; then d; fi", "yarn exec"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := ParseCommand(line)
		c.Subcommand()
		c.HasOption("-l", "--long")
		if len(c.Name) > len(line) {
			t.Errorf("%q of %q", c.Name, line)
		}
	})
}

// TestShells_IncludeScriptShells checks that the text that a known shell gets by -c is parsed as a command. PowerShell
// has another language.
func TestShells_IncludeScriptShells(t *testing.T) {
	for _, k := range shell.Kinds() {
		for _, name := range shell.Executables(k) {
			if k != shell.Pwsh && !shells[name] {
				t.Errorf("%s is missing", name)
			}
		}
	}
}
