//go:build unix

package shell

import (
	"slices"
	"strings"
	"testing"
)

// oddities are what people do to a shell that the integration has to outlive.
var oddities = []struct {
	name string
	line string
	fish string
	not  []string
	undo string // run after; "" nothing
	out  string // that the line after must print besides its own: nothing
}{
	{name: "trace", line: "set -x", fish: nofish, not: []string{"mksh"}, undo: "set +x"},
	{name: "unset variables", line: "set -u", fish: nofish},
	{name: "no overwriting", line: "set -o noclobber", fish: nofish},
	{name: "no globbing", line: "set -f", fish: nofish},
	{name: "all exported", line: "set -a", fish: nofish, undo: "set +a"},
	// Fish writes a file for its own history; ksh93 does not survive any substitution in PS1 then.
	// Mksh traces to where standard error was.
	{name: "files of no size", line: "ulimit -f 0", fish: nofish, not: []string{"ksh"}},
	{name: "no field separators", line: "IFS=/=m0123456789", fish: nofish, undo: "unset IFS"},
	{name: "functions of builtins' names", line: "cd() { command cd \"$@\"; }; printf() { echo P; }; echo() { command printf 'E\\n'; }; read() { false; }; history() { false; }",
		fish: "function cd; builtin cd $argv; end; function seq; echo S; end", undo: "unset -f cd printf echo read history"},
	{name: "aliases of builtins' names", line: "alias printf='echo P' read='echo R' test='echo T' export='echo X' set='echo S' case='echo C'", fish: "alias test='echo T'",
		undo: "unalias printf read test export set case"},
	{name: "C locale", line: "LANG=C LC_ALL=C; export LANG LC_ALL", fish: "set -gx LC_ALL C"},
	{name: "read-only variables", line: "readonly PS2 OPTIND REPLY x y n", fish: nofish},
	{name: "a value with lines", line: "export LINES_IN='a\nb='\\''c\n# end 1\nexport Q=1'", fish: "set -gx LINES_IN 'a\nb'"},
	{name: "exit on errors", line: "set -e", fish: nofish, undo: "set +e"},
	{name: "error trap", line: "trap 'echo ERRED' ERR", fish: nofish, not: []string{"dash"}, undo: "trap - ERR"},
	{name: "child trap", line: "trap ':' CHLD", fish: nofish, not: []string{"ksh"}},
	{name: "debug trap", line: "trap ':' DEBUG", fish: nofish, not: []string{"dash", "mksh"}, undo: "trap - DEBUG"},
	{name: "umask", line: "umask 777", fish: "umask 777", undo: "umask 022"},
	{name: "errors to nowhere", line: "exec 2>/dev/null", fish: nofish, not: []string{"zsh", "dash", "mksh", "ksh"}},
}

// FAULT: E10
func TestOddities(t *testing.T) {
	inEach(t, allShells, func(t *testing.T, r *rig, shell string) {
		for _, o := range oddities {
			line, undo := o.line, o.undo
			if shell == "fish" {
				line, undo = o.fish, ""
			}
			if line == nofish || slices.Contains(o.not, shell) {
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
				t.Errorf("%s: the integration shows: %q", o.name, got)
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
