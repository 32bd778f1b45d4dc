package shell

import "testing"

// TestGuessUpdate checks that a shell without marks prints its state, which updates the guess.
// FAULT: B14
// FEATURES: R45 R46
func TestGuessUpdate(t *testing.T) {
	for _, c := range []struct {
		line, output string
		cwd          string
		color        string // in its environment
	}{
		{"pwd", "/srv/app\n", "/srv/app", ""},
		{" pwd -P", "/srv/my app\r\n", "/srv/my app", ""},
		{"pwd; ls", "/srv/app\nfile\n", "/start", ""},
		{"pwd", "bash: pwd: no\n/x\n", "/start", ""},
		{"env", "COLOR=blue\nPWD=/srv\nTEXT=a\n b\n", "/srv", "blue"},
		{"printenv", "COLOR=a=b\n", "/start", "a=b"},
		{"env | grep x", "COLOR=blue\n", "/start", ""},
		{"export -p", "declare -x COLOR=\"blue\"\ndeclare -x PWD=\"/srv\"\n", "/srv", "blue"},
		{"set", "BASH=/bin/bash\nCOLOR=no\nPWD='/two words'\n", "/two words", ""},
		{"env", "command not found\n", "/start", ""},
	} {
		g := Guess{}.AfterLine("cd /start").Update(c.line, c.output)
		if g.Cwd != c.cwd || !g.IsCertain || g.Environ()["COLOR"] != c.color {
			t.Errorf("%q printed %q: got %+v, environment %v", c.line, c.output, g, g.Environ())
		}
	}
	g := Guess{}.Update("env", "A=1\nB=2\n").AfterLine("export A=3; unset B")
	if env := g.Environ(); len(env) != 1 || env["A"] != "3" {
		t.Errorf("after more lines: got %v", env)
	}
}

func FuzzGuessUpdate(f *testing.F) {
	f.Add("env", "A=1\n=x\nPWD=/\n")
	f.Add("export -p", "declare -x A=\"1\"\n")
	f.Add("pwd", "/a/../b\n")
	f.Fuzz(func(t *testing.T, line, output string) {
		g := Guess{}.Update(line, output)
		if g.Cwd != "" && g.Cwd[0] != '/' {
			t.Errorf("directory %q", g.Cwd)
		}
		for name := range g.Environ() {
			if !IsVariableName(name) {
				t.Errorf("name %q", name)
			}
		}
	})
}
