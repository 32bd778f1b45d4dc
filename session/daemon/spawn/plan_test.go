//go:build unix

package spawn

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestChildEnv checks that the child's environment describes the terminal it has, not the one longterm was started in,
// and a later definition counts.
//
// FEATURES: R66
func TestChildEnv(t *testing.T) {
	env := childEnv([]string{"A=1", "TERM=dumb", "TMUX=/tmp/x", "A=2", "B=x=y", "=odd", "novalue", "KITTY_PID=3"}, "id", "/dir")
	for _, want := range []string{"A=2", "B=x=y", "TERM=xterm-256color", "COLORTERM=truecolor", "LONGTERM_SESSION=id", "PWD=/dir"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); name == "TMUX" || name == "KITTY_PID" || name == "" || kv == "A=1" || kv == "TERM=dumb" {
			t.Errorf("%s is there", kv)
		}
	}
	if env := childEnv([]string{"TMUX=/tmp/x", "TMUX=/mine"}, "id", "/dir", "TMUX=/mine"); !slices.Contains(env, "TMUX=/mine") {
		t.Errorf("a value given for this session is missing: %q", env)
	}
}

// FEATURES: R9, R12
func TestCommandOf(t *testing.T) {
	env := []string{"SHELL=/bin/sh", "PATH=/bin:/usr/bin"}
	cases := []struct {
		n     api.NewSession
		argv  []string
		shell bool
		fails bool
	}{
		{n: api.NewSession{}, argv: []string{"/bin/sh"}, shell: true},
		{n: api.NewSession{Line: "a | b"}, argv: []string{"/bin/sh", "-c", "a | b"}},
		{n: api.NewSession{Argv: []string{"ls", "-l"}}, argv: []string{"ls", "-l"}},
		{n: api.NewSession{Argv: []string{" "}}, fails: true},
		{n: api.NewSession{Line: "  "}, fails: true},
		{n: api.NewSession{Line: "a", Argv: []string{"b"}}, fails: true},
	}
	for _, c := range cases {
		argv, shell, err := commandOf(c.n, env)
		if (err != nil) != c.fails || !slices.Equal(argv, c.argv) || shell != c.shell {
			t.Errorf("%+v: %q, %v, %v", c.n, argv, shell, err)
		}
	}
	if got := UserShell([]string{"SHELL=/no/such/shell", "PATH=/bin:/usr/bin"}); !strings.HasSuffix(got, "sh") || got == "/no/such/shell" {
		t.Errorf("without a usable $SHELL: %s", got)
	}
}

// FEATURES: R12
func TestLookPath(t *testing.T) {
	env := []string{"PATH=/bin:/usr/bin"}
	if p, err := lookPath("sh", env, "/"); err != nil || !strings.HasSuffix(p, "/sh") {
		t.Errorf("%s, %v", p, err)
	}
	for name, code := range map[string]api.Code{
		"no-such-program": api.CodeNoProgram, "/no/such/program": api.CodeNoProgram,
		"/tmp": api.CodeSpawn, "/etc/passwd": api.CodeSpawn,
	} {
		_, err := lookPath(name, env, "/")
		var e *api.Error
		if !errors.As(err, &e) || e.Code != code || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"a", "build-1", "größe", "x@host:1", "_x"} {
		if err := CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-x", "a b", "../x", "a/b", "a\x1b[m", strings.Repeat("x", 129)} {
		if CheckName(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for argv0, want := range map[string]string{"/usr/bin/make": "make", "../a b": "ab", "💥": "session"} {
		if got := NameFor([]string{argv0}); got != want || CheckName(got) != nil {
			t.Errorf("%q: %q", argv0, got)
		}
	}
}

// TestShellAlone checks that a line that only names a shell is started as that shell. A line that runs or loads
// something else is run by a shell.
//
// FEATURES: R4
func TestShellAlone(t *testing.T) {
	for line, want := range map[string]string{
		"zsh": "zsh", " bash  -l ": "bash -l", "exec fish": "fish", "/bin/bash --norc": "/bin/bash --norc", "bash-5.2 -i": "bash-5.2 -i",
		"": "", "exec": "", "vim": "", "./bash": "", "/tmp/bash": "", "bash -c ls": "", "bash x.sh": "", "bash --rcfile x": "", "zsh; ls": "",
		"$(zsh)": "", "X=1 zsh": "", "zsh &": "", "bash\nls": "", `C:\bash`: "",
	} {
		if got := strings.Join(PlainShellArgv(line), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
