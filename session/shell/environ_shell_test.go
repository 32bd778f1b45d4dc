//go:build unix

package shell

import (
	"path/filepath"
	"slices"
	"testing"
)

// wantChange is an expected change of the environment.
type wantChange struct {
	name  string
	kind  EnvChangeKind
	value string
}

var environCases = []struct {
	name string
	line string
	fish string
	not  []string
	want []wantChange
}{
	{"nothing", "true", "", nil, nil},
	{"not exported", "plain=1", "set plain 1", nil, nil},
	{"export", "export A=1", "set -gx A 1", nil, []wantChange{{"A", EnvSet, "1"}}},
	{"changed", "A=2", "set A 2", nil, []wantChange{{"A", EnvChanged, "2"}}},
	{"several", "export B='x y' C=\"q'q\"", "set -gx B 'x y'; set -gx C \"q'q\"", nil,
		[]wantChange{{"B", EnvSet, "x y"}, {"C", EnvSet, "q'q"}}},
	{"lines", "export D='one\ntwo'", "", nil, []wantChange{{"D", EnvSet, "one\ntwo"}}},
	{"shell characters", `export E='$x "y" \z ` + "`w`" + ` !#~*;=()'`, "", nil, []wantChange{{"E", EnvSet, "$x \"y\" \\z `w` !#~*;=()"}}},
	{"control characters", `export F="$(printf 'a\tb\033c')"`, `set -gx F (printf 'a\tb\033c')`, nil, []wantChange{{"F", EnvSet, "a\tb\x1bc"}}},
	{"not ASCII", "export G='žluť 日本'", "", []string{"mksh", "ksh"}, []wantChange{{"G", EnvSet, "žluť 日本"}}},
	{"empty", "export H=", "set -gx H ''", nil, []wantChange{{"H", EnvSet, ""}}},
	{"unset", "unset A B", "set -e A; set -e B", nil, []wantChange{{"A", EnvUnset, ""}, {"B", EnvUnset, ""}}},
	{"unset by export -n", "export -n C", skipFish, []string{"mksh", "dash", "ksh", "zsh"}, []wantChange{{"C", EnvUnset, ""}}},
	{"sourced", ". ./vars.sh", "source vars.fish", nil, []wantChange{{"S1", EnvSet, "one"}, {"S2", EnvSet, "two"}}},
	{"in a subshell", "(export NO=1)", skipFish, nil, nil},
	{"for one command", "NO=1 true", "", nil, nil},
	{"array", "arr=(1 2); export arr", skipFish, []string{"dash", "zsh", "ksh", "mksh"}, nil},
	{"integer", "declare -ix I=5", skipFish, []string{"dash", "mksh", "ksh", "fish"}, []wantChange{{"I", EnvSet, "5"}}},
	{"path", "export PATH=\"$PATH:/nowhere\"", "set PATH $PATH /nowhere", nil, []wantChange{{"PATH", EnvChanged, "*"}}},
	{"secret by name", "export MY_API_TOKEN=abc", "", nil, []wantChange{{"MY_API_TOKEN", EnvSet, "REDACTED"}}},
	{"secret by looks", "export INNOCENT=ghp_0123456789abcdefghij0123", "", nil, []wantChange{{"INNOCENT", EnvSet, "REDACTED"}}},
	{"in a function", "f() { export FN=1; }; f", "function f; set -gx FN 1; end; f", nil, []wantChange{{"FN", EnvSet, "1"}}},
	{"after a failure", "export Z=1; false", "", nil, []wantChange{{"Z", EnvSet, "1"}}},
}

// FEATURES: R46
func TestReadEnv_OfShells(t *testing.T) {
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{
				argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...),
				env:  []string{"OUTER=was here", "QUOTED=it's \"so\"\nor $not"},
				files: map[string]string{
					"vars.sh":   "S1=one; export S1\nexport S2=\"two\"\n",
					"vars.fish": "set -gx S1 one\nset -gx S2 two\n",
				},
			})
			r.waitForPrompt()
			for _, e := range environCases {
				line := e.line
				if slices.Contains(e.not, sh.name) || sh.name == "fish" && e.fish == skipFish {
					continue
				}
				if sh.name == "fish" && e.fish != "" {
					line = e.fish
				}
				before := r.environ()
				c := r.run(line)
				if len(r.output(c)) > 0 && r.launch.Quality == Full && r.text(c) != "" {
					t.Errorf("%s: printed %q", e.name, r.text(c))
				}
				r.expect(e.name, DiffEnv(before, r.environ()), e.want)
			}
			env := r.environ()
			for name, want := range map[string]string{
				"OUTER": "was here", "QUOTED": "it's \"so\"\nor $not", "HOME": r.home, "LANG": "C.UTF-8",
			} {
				if env[name] != want {
					t.Errorf("%s=%q, want %q", name, env[name], want)
				}
			}
			for name := range env {
				if len(name) > 8 && name[:8] == "LONGTERM" || name == "ENV" || name == "ZDOTDIR" || name == "XDG_DATA_DIRS" {
					t.Errorf("programs see %s=%s", name, env[name])
				}
			}
		})
	}
}

// environ returns the environment that the shell wrote at its newest prompt.
func (r *testShellSession) environ() Env {
	r.t.Helper()
	env, n, err := ReadEnv(r.launch.StateDir)
	if err != nil {
		r.t.Fatalf("%v in %s", err, filepath.Join(r.launch.StateDir, "environ"))
	}
	if at := r.tracker.State().Prompt; n != at {
		r.t.Errorf("the environment is of prompt %d, the prompt is %d", n, at)
	}
	return env
}

// expect compares changes of the environment with the expected ones.
func (r *testShellSession) expect(name string, got []EnvChange, want []wantChange) {
	r.t.Helper()
	var is []wantChange
	for _, c := range got {
		ch := wantChange{c.Name, c.Kind, c.Value}
		if c.Redacted {
			ch.value = "REDACTED"
		}
		if c.Name == "PATH" {
			ch.value = "*"
		}
		is = append(is, ch)
	}
	if !slices.Equal(is, want) {
		r.t.Errorf("%s: changes %q, want %q", name, is, want)
	}
}
