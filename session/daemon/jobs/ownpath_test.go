//go:build unix

package jobs

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// TestFirstProgramIsTheCallersOwn checks that the first program of an agent's session is judged by the file that its
// own PATH, and its own SHELL, find: no later check judges it.
//
// FEATURES: R61 R107
func TestFirstProgramIsTheCallersOwn(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "bash"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	system, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	agent := identity.Actor{Agent: "claude"}
	usual := []string{"PATH=/usr/bin:/bin", "SHELL=/bin/sh"}
	for what, tt := range map[string]struct {
		who        identity.Actor
		n          api.NewSession
		path, also string
	}{
		"the system's":      {agent, api.NewSession{Argv: []string{"sh", "x"}, Env: usual}, system, ""},
		"by PATH":           {agent, api.NewSession{Argv: []string{"sh", "x"}, Env: []string{"PATH=" + dir + ":/bin"}}, dir + "/sh", ""},
		"by a relative one": {agent, api.NewSession{Argv: []string{"sh"}, Env: []string{"PATH=.:/bin"}, Cwd: dir}, dir + "/sh", ""},
		"by a setting":      {agent, api.NewSession{Argv: []string{"sh"}, Env: usual, SetEnv: []string{"PATH=" + dir}}, dir + "/sh", ""},
		"by its path":       {agent, api.NewSession{Argv: []string{"./sh"}, Env: usual, Cwd: dir}, dir + "/sh", ""},
		"not there":         {agent, api.NewSession{Argv: []string{"no-such-program"}, Env: usual}, "", ""},
		"a line":            {agent, api.NewSession{Line: "ls", Env: usual}, "", ""},
		"another shell":     {agent, api.NewSession{Line: "ls", Env: append(usual, "SHELL="+dir+"/sh")}, "", dir + "/sh"},
		"bash by PATH":      {agent, api.NewSession{Line: "ls", Env: []string{"PATH=" + dir}}, "", dir + "/bash"},
		"rules":             {identity.Actor{Policy: "listed"}, api.NewSession{Argv: []string{"sh"}, Env: []string{"PATH=" + dir}}, dir + "/sh", ""},
		"a user":            {identity.Actor{}, api.NewSession{Argv: []string{"sh"}, Env: []string{"PATH=" + dir}}, "", ""},
	} {
		if tt.n.Cwd == "" {
			tt.n.Cwd = "/"
		}
		a := NewSessionRequest("id", tt.who, &tt.n)
		also := ""
		if len(a.Also) > 0 {
			also = a.Also[0][0]
		}
		if a.Path != tt.path || also != tt.also {
			t.Errorf("%s: %q and %q; want %q and %q", what, a.Path, also, tt.path, tt.also)
		}
	}
}

// TestWhatAFirstProgramIs checks that the first program of a session is judged as everything that it is: a script also
// as its interpreters, a copy as the original.
//
// FEATURES: R60 R61 R107
func TestWhatAFirstProgramIs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	removes, err := filepath.EvalSymlinks("/bin/rm")
	if err != nil {
		t.Fatal(err)
	}
	rm, err := os.ReadFile(removes)
	if err != nil {
		t.Fatal(err)
	}
	script := write("script", "#!/bin/rm -rfv\n")
	chain := write("chain", "#!"+script+"\n")
	copied := write("copied", string(rm))
	for path, want := range map[string][]string{
		script:    {removes, "-rfv", script, "/home"},
		chain:     {removes, "-rfv", script, chain, "/home"},
		copied:    {removes, "/home"},
		"/bin/rm": nil,
	} {
		a := NewSessionRequest("id", identity.Actor{Agent: "claude"}, &api.NewSession{Argv: []string{path, "/home"}, Env: []string{"PATH=/bin"}, Cwd: "/"})
		all := slices.Concat(a.Also, a.Scripts)
		is := func(words []string) bool {
			return len(words) == len(want) && filepath.Base(words[0]) == "rm" && slices.Equal(words[1:], want[1:])
		}
		if want != nil && !slices.ContainsFunc(all, is) || want == nil && all != nil {
			t.Errorf("%s: %q; want %q", path, all, want)
		}
	}
	a := NewSessionRequest("id", identity.Actor{}, &api.NewSession{Argv: []string{script}, Cwd: "/"})
	if a.Scripts != nil {
		t.Errorf("a user's: %q", a.Scripts)
	}
}
