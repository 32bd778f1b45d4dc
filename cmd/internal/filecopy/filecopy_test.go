//go:build unix

package filecopy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestGet_Target checks that an existing file is replaced only with Force, and a device never.
//
// FEATURES: R136
func TestGet_Target(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	t.Chdir(dir)
	if err := errors.Join(os.WriteFile("file", nil, 0o600), os.Mkdir("dir", 0o700), os.Mkdir(in("dir/inner"), 0o700), os.Symlink("none", "link"), syscall.Mkfifo("fifo", 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		out, path string
		force     bool
		want, err string
	}{
		{"", "/a/b.txt", false, "b.txt", ""}, {"x", "/a/b.txt", false, "x", ""}, {"dir", "/a/b.txt", false, "dir/b.txt", ""},
		{"", "a/file", false, "", "use --force"}, {"", "a/file", true, "file", ""}, {"link", "a", false, "", "use --force"}, {"link", "a", true, "link", ""},
		{"fifo", "a", true, "", "no regular file"}, {"/dev/null", "a", true, "", "no regular file"}, {"dir", "a/inner", true, "", "is a directory"},
		{"none/", "a", false, "", `directory "none/" not found`}, {"", "/", false, "", "no file name"}, {"", "..", false, "", "no file name"},
	} {
		g := Get{Out: c.out, Force: c.force}
		got, err := g.target(c.path)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q to %q, force %v: %q, %v, want %q %q", c.path, c.out, c.force, got, err, c.want, c.err)
		}
	}
}

// FEATURES: R136
func TestPut_RejectsAllButRegularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "tar -C", fifo: "--as NAME <", "/dev/zero": "--as NAME <", filepath.Join(dir, "none"): "no such file"} {
		if _, _, err := openLocal(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	for _, c := range []struct {
		put   Put
		paths []string
	}{{Put{}, []string{"-"}}, {Put{As: "x"}, []string{"a", "b"}}} {
		if done, err := c.put.Run(t.Context(), nil, c.paths); err == nil || len(done) > 0 {
			t.Errorf("%v: %v", c.paths, done)
		}
	}
}
