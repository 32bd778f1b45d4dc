package isolate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type run func() int

func (r run) Run() int { return r() }

// FAULT: A8
func TestChangesOfHomeFailTheRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(home string) error
		want int
	}{
		{"nothing", func(string) error { return nil }, 0},
		{"what is in the run's own HOME", func(string) error { return os.WriteFile(filepath.Join(os.Getenv("HOME"), ".bash_history"), nil, 0o600) }, 0},
		{"a history cut", func(home string) error { return os.Truncate(filepath.Join(home, ".bash_history"), 1) }, 1},
		{"a history removed", func(home string) error { return os.Remove(filepath.Join(home, ".bash_history")) }, 1},
		{"a history made", func(home string) error { return os.WriteFile(filepath.Join(home, ".zsh_history"), nil, 0o600) }, 1},
		{"a daemon's directory", func(home string) error {
			return os.MkdirAll(filepath.Join(home, ".local/state/longterm/sessions"), 0o700)
		}, 1},
		{"a session in that directory", func(home string) error { return os.MkdirAll(filepath.Join(home, ".config/longterm/x"), 0o700) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, ".bash_history"), []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(home, ".config/longterm"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HISTFILE", "LONGTERM_DIR", "TMPDIR", "GOCACHE", "GOPATH", "GOENV"} {
				t.Setenv(name, "") // restores the variable at the end
			}
			t.Setenv("HOME", home)
			var inside string
			got := Run(run(func() int {
				inside = os.Getenv("HOME")
				if err := tt.do(home); err != nil {
					t.Error(err)
				}
				return 0
			}))
			if got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
			if inside == home {
				t.Error("tests ran with the real HOME")
			}
			if _, err := os.Stat(inside); err == nil {
				t.Errorf("%s was left behind", inside)
			}
		})
	}
}

// FAULT: A8
func TestPrivateVariablesStayOutside(t *testing.T) {
	for _, kv := range os.Environ() { // so that all of them are back at the end
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	for _, name := range []string{"HISTFILE", "LONGTERM_DIR", "XDG_RUNTIME_DIR", "TMUX", "ENV"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("ENVIRONMENT", "stays")
	t.Setenv("LONGTERM_TEST_ROLE", "stays")
	Run(run(func() int {
		for _, name := range []string{"HISTFILE", "LONGTERM_DIR", "XDG_RUNTIME_DIR", "TMUX", "ENV"} {
			if v, ok := os.LookupEnv(name); ok {
				t.Errorf("%s=%s is seen by tests", name, v)
			}
		}
		if os.Getenv("ENVIRONMENT") != "stays" || os.Getenv("LONGTERM_TEST_ROLE") != "stays" {
			t.Error("a variable that belongs to no program is gone")
		}
		if os.Getenv("GOCACHE") == "" || strings.HasPrefix(os.Getenv("GOCACHE"), os.Getenv("HOME")) {
			t.Errorf("GOCACHE=%s: every build starts from scratch", os.Getenv("GOCACHE"))
		}
		return 0
	}))
}
