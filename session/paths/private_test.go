//go:build unix

package paths

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestForeignDirectoriesAreRefused checks that directories that another user owns or can write to are rejected by name,
// with a hint: that user could run programs as longterm's.
//
// FAULT: A18
func TestForeignDirectoriesAreRefused(t *testing.T) {
	const nobody = 65534
	for _, path := range []string{"", "config.toml", "state", "run"} {
		for name, spoil := range map[string]func(string) error{
			"writable": func(p string) error { return os.Chmod(p, 0o702) },
			"foreign":  func(p string) error { return os.Chown(p, nobody, -1) },
		} {
			t.Run(name+" "+path, func(t *testing.T) {
				if name == "foreign" && os.Getuid() != 0 {
					t.Skip("needs root")
				}
				dir := t.TempDir()
				t.Setenv(EnvDir, dir)
				d, err := Default()
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Make(); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(d.ConfigFile(), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := d.Check(); err != nil {
					t.Fatal(err)
				}
				spoiled := filepath.Join(dir, path)
				if err := spoil(spoiled); err != nil {
					t.Fatal(err)
				}
				for _, err := range []error{second(Default()), d.Make()} {
					if err == nil || !strings.Contains(err.Error(), spoiled+" ") || !strings.Contains(err.Error(), EnvDir) {
						t.Errorf("error: %v", err)
					}
				}
			})
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestOursIsMadePrivate checks that files of longterm in directories that others may read are made private, and that
// the configuration may belong to root.
func TestOursIsMadePrivate(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := Default()
	if err == nil {
		err = d.Make()
	}
	if st, serr := os.Stat(d.State); err != nil || serr != nil || st.Mode().Perm() != 0o700 {
		t.Error(err, serr, st.Mode())
	}
}

// FAULT: A18
func TestPlantedLogIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "precious"), filepath.Join(dir, "daemon.log")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if f, err := OpenLog(link); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Error(f, err)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("it was written to")
	}
	_ = os.Remove(link)
	if err := syscall.Mkfifo(link, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := OpenLog(link); err == nil { // no process reads: it must not wait for that
		t.Error(f)
	}
}
