package shell

import "testing"

// shells are those that real-shell tests run in.
var shells = []struct {
	name string
	argv []string
}{
	{"bash", []string{"bash"}},
	{"zsh", []string{"zsh"}},
	{"fish", []string{"fish"}},
	{"mksh", []string{"mksh"}},
	{"dash", []string{"dash"}},
	{"ksh", []string{"ksh"}},
}

func TestStatus(t *testing.T) {
	for _, sh := range shells {
		t.Run(sh.name, func(t *testing.T) {
			r := newRig(t, rigOptions{argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...)})
			for _, c := range []struct {
				line string
				exit int
			}{{"true", 0}, {"false", 1}, {"echo hello", 0}, {"sh -c 'exit 7'", 7}, {"nosuchcommand-xyz", 127}} {
				cmd := r.run(c.line)
				t.Logf("%+v %q", cmd, r.text(cmd))
				if exitOf(cmd) != c.exit {
					t.Errorf("%s: exit %d, want %d", c.line, exitOf(cmd), c.exit)
				}
			}
			t.Log(r.describe())
		})
	}
}
