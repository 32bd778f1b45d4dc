//go:build unix

package paths

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinkAgentSocket checks that the link leads to its last target, through other links too, and never to a file that
// is no socket of ours.
//
// FEATURES: R119
func TestLinkAgentSocket(t *testing.T) {
	root, err := os.MkdirTemp("", "lt") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	d := Dirs{Run: filepath.Join(root, "run")}
	if err := os.Mkdir(d.Run, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := func(name string) string {
		path := filepath.Join(root, name)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return path
	}
	leads := func(to string) {
		t.Helper()
		if got, err := os.Readlink(d.AgentSocket()); err != nil || got != to {
			t.Errorf("it leads to %s, %v; want %s", got, err, to)
		}
	}
	a, b, stable, file := socket("a"), socket("b"), filepath.Join(root, "stable"), filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{a, b, b, a} {
		if err := d.LinkAgentSocket(to); err != nil {
			t.Fatal(err)
		}
		leads(to)
	}
	if err := os.Symlink(d.AgentSocket(), stable); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{d.AgentSocket(), stable} { // from inside of a session
		if err := d.LinkAgentSocket(to); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		leads(a)
	}
	for to, want := range map[string]string{file: "is no socket", "relative": "no absolute path", filepath.Join(root, "none"): "no such file", "": "no absolute path"} {
		if err := d.LinkAgentSocket(to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", to, err, want)
		}
		leads(a)
	}
	if left, err := filepath.Glob(d.AgentSocket() + ".*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
