//go:build unix

package shell

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// shellOddities are changes by users that the integration must survive.
var shellOddities = []struct {
	name string
	line string
	fish string
	not  []string
	undo string // run after; "" nothing
	out  string // additional output of the next line: none
}{
	{name: "trace", line: "set -x", fish: skipFish, not: []string{"mksh"}, undo: "set +x"},
	{name: "unset variables", line: "set -u", fish: skipFish},
	{name: "no overwriting", line: "set -o noclobber", fish: skipFish},
	{name: "no globbing", line: "set -f", fish: skipFish},
	{name: "all exported", line: "set -a", fish: skipFish, undo: "set +a"},
	// Fish writes a file for its own history; ksh93 does not survive any substitution in PS1 then.
	// Mksh traces to where standard error was.
	{name: "files of no size", line: "ulimit -f 0", fish: skipFish, not: []string{"ksh"}},
	{name: "no field separators", line: "IFS=/=m0123456789", fish: skipFish, undo: "unset IFS"},
	{name: "functions of builtins' names", line: "cd() { command cd \"$@\"; }; printf() { echo P; }; echo() { command printf 'E\\n'; }; read() { false; }; history() { false; }",
		fish: "function cd; builtin cd $argv; end; function seq; echo S; end", undo: "unset -f cd printf echo read history"},
	{name: "aliases of builtins' names", line: "alias printf='echo P' read='echo R' test='echo T' export='echo X' set='echo S' case='echo C'", fish: "alias test='echo T'",
		undo: "unalias printf read test export set case"},
	{name: "C locale", line: "LANG=C LC_ALL=C; export LANG LC_ALL", fish: "set -gx LC_ALL C"},
	{name: "read-only variables", line: "readonly PS2 OPTIND REPLY x y n", fish: skipFish},
	{name: "a value with lines", line: "export LINES_IN='a\nb='\\''c\n# end 1\nexport Q=1'", fish: "set -gx LINES_IN 'a\nb'"},
	{name: "exit on errors", line: "set -e", fish: skipFish, undo: "set +e"},
	{name: "error trap", line: "trap 'echo ERRED' ERR", fish: skipFish, not: []string{"dash"}, undo: "trap - ERR"},
	{name: "child trap", line: "trap ':' CHLD", fish: skipFish, not: []string{"ksh"}},
	{name: "debug trap", line: "trap ':' DEBUG", fish: skipFish, not: []string{"dash", "mksh"}, undo: "trap - DEBUG"},
	{name: "umask", line: "umask 777", fish: "umask 777", undo: "umask 022"},
	{name: "errors to nowhere", line: "exec 2>/dev/null", fish: skipFish, not: []string{"zsh", "dash", "mksh", "ksh"}},
}

// FAULT: E10
func TestIntegration_SurvivesOddities(t *testing.T) {
	forEachShell(t, allShells, func(t *testing.T, r *testShellSession, shell string) {
		for _, o := range shellOddities {
			line, undo := o.line, o.undo
			if shell == "fish" {
				line, undo = o.fish, ""
			}
			if line == skipFish || slices.Contains(o.not, shell) {
				continue
			}
			r.run(line)
			shown := len(r.bytes)
			c := r.run("/bin/sh -c 'echo o\"\"ut; exit 0'")
			if exitOf(c) != 0 || c.CwdAfter != r.home || c.Quality != r.launch.Quality {
				t.Errorf("%s: %+v", o.name, c)
			}
			if got := r.text(c); r.launch.Quality == Full && got != "out" && o.name != "trace" {
				t.Errorf("%s: printed %q", o.name, got)
			}
			if got := string(r.bytes[shown:]); strings.Contains(strings.ReplaceAll(got, "_longterm_nonce", ""), "longterm_") {
				t.Errorf("%s: the integration is visible: %q", o.name, got)
			}
			if undo != "" {
				r.run(undo)
			}
		}
		if c := r.run("/bin/sh -c 'exit 6'"); exitOf(c) != 6 {
			t.Errorf("at the end: %+v", c)
		}
	})
}

// TestStartFiles_ThatShadowBuiltins_AreReported checks that start files that shadow builtins of the hooks cause a file
// that the session checks, instead of a shell that never reports a prompt. Functions named as other builtins do no
// harm.
// FAULT: H12
func TestStartFiles_ThatShadowBuiltins_AreReported(t *testing.T) {
	for _, tt := range []struct {
		shell, file, text string
		shadowed          bool
	}{
		{"bash", ".bashrc", "builtin() { echo B; }", true},
		{"bash", ".bashrc", "enable -n printf", true},
		{"bash", ".bashrc", "command() { echo C; }; eval() { echo E; }; trap() { echo T; }; local() { echo L; }; exec() { echo X; }", false},
		{"bash", ".bashrc", "alias builtin='echo B' local='echo L' printf='echo P'", false},
		{"zsh", ".zshrc", "builtin() { echo B; }", true},
		{"zsh", ".zshenv", "builtin() { echo B; }", true},
		{"zsh", ".zshrc", "disable print printf", true},
		{"zsh", ".zshrc", "print() { echo P; }; eval() { echo E; }; alias builtin='echo B'", false},
		{"dash", ".rc", "command() { echo C; }", true},
		{"mksh", ".mkshrc", "command() { echo C; }", true},
		{"ksh", ".kshrc", "command() { echo C; }; printf() { echo P; }", true},
		{"dash", ".rc", "printf() { echo P; }", false},
	} {
		t.Run(tt.shell+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			var env []string
			if tt.shell == "dash" {
				env = []string{"ENV=$HOME/.rc"}
			}
			r := newTestShellSession(t, testShellOptions{
				argv: []string{shellPath(t, tt.shell)}, env: env,
				files: map[string]string{tt.file: strings.ReplaceAll(tt.text, "; ", "\n") + "\n"},
			})
			if tt.shadowed {
				for deadline := time.Now().Add(testTimeout); !r.launch.IsShadowed(); runtime.Gosched() {
					if time.Now().After(deadline) {
						t.Fatalf("timeout: no report\n%s", r.describe())
					}
				}
				return
			}
			if c := r.run("sh -c 'exit 3'"); exitOf(c) != 3 || r.launch.IsShadowed() {
				t.Errorf("%+v, shadowed %v", c, r.launch.IsShadowed())
			}
			if c := r.run("sh -c 'exit 4'"); exitOf(c) != 4 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// TestTraps_DoNotRunForTheHooks sets traps for children and for commands, also in functions.
//
// FAULT: H12
func TestTraps_DoNotRunForTheHooks(t *testing.T) {
	tier.Full(t)
	r := newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "bash")}})
	for _, tt := range []struct{ line, out string }{
		{"/bin/true", "CHLD"}, {"true", ""}, {"(exit 3)", "CHLD"}, {"echo $?", "3"}, {"/bin/true | /bin/true; echo x", "CHLD\nCHLD\nx"},
		{"trap '' CHLD; /bin/true", ""}, {"trap - CHLD; /bin/true", ""}, {"trap 'echo D' DEBUG", "*"}, {"true", "D"},
		{"set -o functrace", "D"}, {"true", "D"}, {"trap - DEBUG", "D"}, {"true", ""},
	} {
		if tt.line == "/bin/true" {
			r.run("trap 'echo CHLD' CHLD")
		}
		c := r.run(tt.line)
		if got := r.text(c); got != tt.out && tt.out != "*" {
			t.Errorf("%s: printed %q, want %q", tt.line, got, tt.out)
		}
		if after := string(r.bytes[c.End:]); tt.out != "*" && strings.Contains(after, "D\r\n") {
			t.Errorf("%s: the hooks printed %q", tt.line, after)
		}
	}
	r = newTestShellSession(t, testShellOptions{argv: []string{shellPath(t, "zsh")}})
	r.run("trap 'echo D' DEBUG")
	if c := r.run("sh -c 'exit 3'"); r.text(c) != "D" || exitOf(c) != 3 {
		t.Errorf("zsh: printed %q, %+v", r.text(c), c)
	}
}
