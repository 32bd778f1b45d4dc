package dirwatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FEATURES: R90
func TestChanges_Reported(t *testing.T) {
	dir, later := t.TempDir(), filepath.Join(t.TempDir(), "later")
	told := make(chan struct{}, 100)
	w, err := Watch(func() { told <- struct{}{} }, dir, later)
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	file := filepath.Join(dir, "config.toml")
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatalf("got no notification of %s", what)
		}
		for len(told) > 0 {
			<-told
		}
	}
	do("a file that is made", os.WriteFile(file, []byte("a"), 0o600))
	do("one that is written", os.WriteFile(file, []byte("b"), 0o600))
	do("one that is made beside it", os.WriteFile(file+".new", nil, 0o600))
	do("one that is put in its place", os.Rename(file+".new", file))
	do("one that is removed", os.Remove(file))
	do("the directory that is removed", os.Remove(dir))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(later, 0o700); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		if err := w.Reresolve(); err != nil {
			t.Fatal(err)
		}
	}
	again()
	do("a file of a directory that was made again", os.WriteFile(file, nil, 0o600))
	do("a file of one that was not there at first", os.WriteFile(filepath.Join(later, "x"), nil, 0o600))

	above := filepath.Dir(later) // with its subdirectories
	if err := errors.Join(os.Rename(above, above+".old"), os.MkdirAll(later, 0o700)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(above + ".old")
	again()
	do("the one in whose place another is now, which is watched no more", nil)
	do("a file of the other one", os.WriteFile(filepath.Join(later, "x"), nil, 0o600))
	if err := os.WriteFile(filepath.Join(above+".old", "later", "y"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	do("a file after one of what is meant no more", os.Remove(filepath.Join(later, "x")))
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", w.file.Fd()))
	if n := strings.Count(string(b), "inotify wd:"); err != nil || n != 2 {
		t.Errorf("got %d watches for two directories, %v", n, err)
	}
}
