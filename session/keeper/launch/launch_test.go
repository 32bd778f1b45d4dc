//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain also runs as the started keeper; the first argument selects its answer.
func TestMain(m *testing.M) {
	if i := slices.Index(os.Args, ReadyFlag); i > 0 {
		ready := os.NewFile(3, "ready")
		switch os.Args[1] {
		case "serves":
			if os.Getenv("LONGTERM_SESSION") != "" {
				_, _ = ready.WriteString("it belongs to a session\n")
				return
			}
			if dir, err := os.Getwd(); err != nil || dir != "/" {
				_, _ = ready.WriteString("it holds a directory\n")
				return
			}
			_, _ = ready.WriteString("ok\n")
		case "runs":
			_, _ = ready.WriteString(ErrRunning.Error() + "\n")
		case "fails":
			_, _ = ready.WriteString("no room\n")
		}
		return
	}
	os.Exit(m.Run())
}

func TestKeeper(t *testing.T) {
	t.Setenv("LONGTERM_SESSION", "one")
	log := filepath.Join(t.TempDir(), "log")
	for name, check := range map[string]func(error) bool{
		"serves": func(err error) bool { return err == nil },
		"runs":   func(err error) bool { return errors.Is(err, ErrRunning) },
		"fails":  func(err error) bool { return err != nil && strings.Contains(err.Error(), "no room") },
		"dies":   func(err error) bool { return err != nil && strings.Contains(err.Error(), log) },
	} {
		if err := StartKeeper("", []string{"keeper", name}, log); !check(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := StartKeeper("", []string{"keeper", "serves"}, filepath.Join(log, "none")); err == nil {
		t.Error("without a log")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(log, link); err != nil {
		t.Fatal(err)
	}
	if err := StartKeeper("", []string{"keeper", "serves"}, link); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link as log: %v", err)
	}
}

// TestKeeperEnviron_AbsoluteDirectory checks that a keeper, which runs in /, gets the caller's directory.
func TestKeeperEnviron_AbsoluteDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"some/where": filepath.Join(here, "some/where"), "/else/where": "/else/where", "": ""} {
		t.Setenv("LONGTERM_DIR", given)
		if env := keeperEnviron(); !slices.Contains(env, "LONGTERM_DIR="+want) {
			t.Errorf("%q: %q missing in %q", given, want, env)
		}
	}
}
