package shell

import "testing"

// FEATURES: R47
func TestGuess_AfterLine(t *testing.T) {
	for _, c := range []struct {
		lines []string
		cwd   string
		sure  bool
	}{
		{[]string{"cd /srv"}, "/srv", true},
		{[]string{"cd /srv", "cd www/../log"}, "/srv/log", true},
		{[]string{"cd relative"}, "", false},
		{[]string{"cd /a", "cd /b", "cd -"}, "/a", true},
		{[]string{"cd /a", "pushd /b", "popd"}, "/a", true},
		{[]string{"cd /a; ls"}, "/a", true},
		{[]string{"cd '/with space'"}, "/with space", true},
		{[]string{`cd /with\ space`}, "/with space", true},
		{[]string{"cd /a", "(cd /b)", "cd /c | cat", "cd /d &", "echo cd /e"}, "/a", true},
		{[]string{"make && cd /b"}, "/b", false},
		{[]string{"cd /b && make"}, "/b", true},
		{[]string{"if make; then cd /b; fi"}, "/b", false},
		{[]string{"cd /a", "cd"}, "", false},
		{[]string{"cd /a", "cd $HOME"}, "", false},
		{[]string{"cd /a", "cd ~/x"}, "", false},
		{[]string{"cd /a", ". ./env"}, "/a", false},
		{[]string{"cd /a", "if then )"}, "/a", false},
		{[]string{"cd /a", "ssh host"}, "/a", false},
		{[]string{"popd"}, "", false},
	} {
		var g Guess
		for _, line := range c.lines {
			g = g.AfterLine(line)
		}
		if g.Cwd != c.cwd || g.IsCertain != c.sure {
			t.Errorf("%q: got %q, certain %v; want %q, %v", c.lines, g.Cwd, g.IsCertain, c.cwd, c.sure)
		}
	}
}

// FEATURES: R47
func TestGuess_Env(t *testing.T) {
	g := Guess{}.AfterLine("export A=1 B='two words' C=$X API_TOKEN=abc").AfterLine("unset A; D=4")
	if len(g.Env) != 2 || g.Env["A"] != nil || g.Env["B"] == nil || *g.Env["B"] != "two words" {
		t.Errorf("%+v", g.Env)
	}
	if before := (Guess{}).AfterLine("export A=1"); len(before.AfterLine("unset A").Env) != 1 || before.Env["A"] == nil {
		t.Error("AfterLine changed the guess before")
	}
}

func FuzzGuess(f *testing.F) {
	for _, s := range []string{"cd /a && cd ..", "export A=1", "pushd /x; popd", "cd 'a", "time cd /a", "if cd /; then cd b; fi"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if g := (Guess{Cwd: "/a"}).AfterLine(line); g.Cwd != "" && g.Cwd[0] != '/' {
			t.Errorf("%q: %q", line, g.Cwd)
		}
	})
}
