//go:build unix

package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// situation is a line and its expected record.
type situation struct {
	name string
	line string
	fish string // the same for fish, if it differs; "-": not there
	not  []string
	exit int
	cwd  string // below the home directory; empty: the home directory
	out  string // expected output, "*": anything
}

// skipFish marks a situation that fish does not support.
const skipFish = "-"

// situations run one after the other in each shell, each from the home directory.
var situations = []situation{
	{name: "true", line: "true"},
	{name: "false", line: "false", exit: 1},
	{name: "output", line: "echo hello", out: "hello"},
	{name: "no newline at the end", line: "printf foo", out: "foo"},
	{name: "status of a program", line: "sh -c 'exit 7'", exit: 7},
	// Bash 3.2 has no PS0, and its DEBUG trap does not run for a line that is only a subshell.
	{name: "subshell", line: "(exit 3)", fish: "sh -c 'exit 3'", exit: 3, not: []string{"bash-3.2"}},
	{name: "pipeline", line: "false | true", exit: 0},
	{name: "pipeline fails", line: "true | false", exit: 1},
	{name: "not found", line: "nosuchcommand-xyz", exit: 127, out: "*"},
	{name: "not executable", line: "./plain", exit: 126, out: "*"},
	{name: "interrupted child", line: "sh -c 'kill -INT $$'", exit: 130, not: []string{"ksh"}, out: "*"},
	{name: "killed child", line: "sh -c 'kill -9 $$'", exit: 137, not: []string{"ksh"}, out: "*"},
	{name: "and", line: "true && false", exit: 1},
	{name: "or", line: "false || true"},
	{name: "negated", line: "! true", exit: 1},
	{name: "status of the one before", line: "sh -c 'exit 9'; echo $?", fish: "sh -c 'exit 9'; echo $status", out: "9"},
	{name: "function", line: "f() { return 5; }; f", fish: "function f; return 5; end; f", exit: 5},
	{name: "alias", line: "alias five='sh -c \"exit 5\"'"},
	{name: "alias used", line: "five", exit: 5},
	{name: "loop", line: "for i in 1 2 3; do echo $i; done", fish: "for i in 1 2 3; echo $i; end", out: "1\n2\n3"},
	{name: "lines", line: "for i in 1 2\ndo echo n$i\ndone", fish: "for i in 1 2\necho n$i\nend", out: "n1\nn2"},
	{name: "here-document", line: "cat <<EOF\none $HOME_NOT\ntwo\nEOF", fish: skipFish, out: "one\ntwo", not: []string{"bash-3.2"}},
	{name: "quoted lines", line: "printf '%s\\n' 'a\nb'", out: "a\nb"},
	{name: "continued line", line: "echo a \\\nb", out: "a b"},
	{name: "comment", line: "echo x # not y", out: "x", not: []string{"zsh"}},
	{name: "percent and semicolon", line: "echo '100%'; echo '%41;x'", out: "100%\n%41;x"},
	{name: "not ASCII", line: "echo 'žluťoučký 日本'", out: "žluťoučký 日本", not: []string{"mksh", "ksh"}},
	{name: "variable", line: "x=1; echo $x", fish: "set x 1; echo $x", out: "1"},
	{name: "background job", line: "sleep 0 & wait", out: "*"},
	{name: "cd", line: "cd a", cwd: "a"},
	{name: "cd to two levels", line: "cd a/b", cwd: "a/b"},
	{name: "cd back", line: "cd a; cd ../a/b; cd -", cwd: "a", out: "*"},
	{name: "cd alone", line: "cd a; cd"},
	{name: "cd through a link", line: "cd link", cwd: "link"},
	{name: "cd through a link, physically", line: "cd -P link", fish: "cd (realpath link)", cwd: "a/b"},
	{name: "cd with spaces and the like", line: "cd 's p%;é'", cwd: "s p%;é", not: []string{"mksh", "ksh"}},
	{name: "failed cd", line: "cd nosuchdir", exit: 1, out: "*"},
	{name: "failed and cd", line: "false && cd a", exit: 1},
	{name: "and cd", line: "true && cd a", cwd: "a"},
	{name: "cd in a subshell", line: "(cd a; pwd)", fish: skipFish, out: "*", not: []string{"bash-3.2"}},
	{name: "cd in a pipeline", line: "cd a | cat", fish: skipFish, not: []string{"zsh", "ksh"}},
	{name: "pushd", line: "pushd a >/dev/null", cwd: "a", not: []string{"mksh", "dash", "ksh"}},
	{name: "popd", line: "pushd a >/dev/null; popd >/dev/null", not: []string{"mksh", "dash", "ksh"}},
	{name: "cd in a function", line: "g() { cd a/b; }; g", fish: "function g; cd a/b; end; g", cwd: "a/b"},
	{name: "deleted directory", line: "mkdir gone; cd gone; rmdir ../gone", cwd: "gone", out: "*"},
	{name: "long line", line: "echo " + longLine + " | wc -c", out: "1201"},
	{name: "eval", line: "eval 'false'", exit: 1},
	{name: "test", line: "test 1 = 2", exit: 1},
	{name: "nested shell runs and ends", line: "sh -c 'echo in; exit 4'", exit: 4, out: "in"},
	{name: "forged marks", line: `printf '\033]133;D;9;lt=abc\007\033]133;A\007'`},
	{name: "output without end", line: "printf 'a\\nb'", out: "a\nb"},
	{name: "empty output and status 255", line: "sh -c 'exit 255'", exit: 255},
}

var longLine = func() string {
	b := make([]byte, 1200)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}()

// lineFor returns the line in the syntax of a shell.
func (s *situation) lineFor(shell string) string {
	switch {
	case slices.Contains(s.not, shell), shell == "fish" && s.fish == skipFish:
		return ""
	case shell == "fish" && s.fish != "":
		return s.fish
	}
	return s.line
}

// FEATURES: R6 R7 R8 R9 R45 R48
func TestTracker_Situations(t *testing.T) {
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			testSituations(t, sh.name, append([]string{shellPath(t, sh.name)}, sh.argv[1:]...))
		})
	}
}

// TestTracker_Situations_OtherVersions runs the situations in older and newer versions of shells, if they are installed
// under such names.
func TestTracker_Situations_OtherVersions(t *testing.T) {
	for _, name := range []string{"bash-3.2", "bash-4.4", "bash-5.0", "bash-5.3", "fish-4.0"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // rarely installed
		}
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, "-")
			if name == "bash-3.2" {
				kind = name
			}
			testSituations(t, kind, []string{path})
		})
	}
}

// testSituations runs all situations in a shell.
func testSituations(t *testing.T, name string, argv []string) {
	r := newTestShellSession(t, testShellOptions{argv: argv, files: map[string]string{
		"a/b/file": "", "s p%;é/file": "", "plain": "no program",
	}})
	if err := os.Symlink("a/b", filepath.Join(r.home, "link")); err != nil {
		t.Fatal(err)
	}
	for _, s := range situations {
		line := s.lineFor(name)
		if line == "" {
			continue
		}
		r.run("cd ~")
		c := r.run(line)
		if exitOf(c) != s.exit {
			if !(s.exit == 1 && s.name == "failed cd") || exitOf(c) <= 0 { // dash exits with 2
				t.Errorf("%s: %q ended with %d, want %d", s.name, line, exitOf(c), s.exit)
			}
		}
		if want := filepath.Join(r.home, s.cwd); c.CwdAfter != want {
			t.Errorf("%s: directory %q, want %q", s.name, c.CwdAfter, want)
		}
		if c.CwdBefore != r.home {
			t.Errorf("%s: directory before %q, want %q", s.name, c.CwdBefore, r.home)
		}
		if c.Text != line {
			t.Errorf("%s: text %q, want %q", s.name, c.Text, line)
		}
		if out := r.text(c); s.out != "*" && r.launch.Quality == Full && out != s.out {
			t.Errorf("%s: printed %q, want %q", s.name, out, s.out)
		}
		if c.Quality != r.launch.Quality {
			t.Errorf("%s: quality %s, want %s", s.name, c.Quality, r.launch.Quality)
		}
	}
}
