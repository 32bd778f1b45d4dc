package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		all = append(all, e.Name())
	}
	return all
}

func TestWrite(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, sync := range []Sync{NoSync, Content, ContentAndName} {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			for _, want := range []string{"first", "", "second and longer", "3"} {
				if err := Write(path, Options{Sync: sync, Shared: shared}, []byte(want[:len(want)/2]), nil, []byte(want[len(want)/2:])); err != nil {
					t.Fatal(err)
				}
				if got := content(t, path); got != want {
					t.Errorf("%q, not %q", got, want)
				}
			}
			if all := names(t, dir); !slices.Equal(all, []string{"f"}) {
				t.Errorf("left in the directory: %q", all)
			}
		}
	}
}

func TestMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path+".tmp", []byte("what a crash left, which is longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[fs.FileMode]Options{0o600: {}, 0o640: {Mode: 0o640}, 0o444: {Mode: 0o444, Shared: true}} {
		if err := Write(path, o, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want && os.PathSeparator == '/' {
			t.Errorf("mode %v, not %v (%v)", st.Mode(), want, err)
		}
	}
	if got := content(t, path); got != "x" {
		t.Errorf("%q", got)
	}
}

// TestLinkIsReplaced checks that a link is replaced by a file: callers that follow links resolve them first.
func TestLinkIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "link"), filepath.Join(dir, "to")
	if err := errors.Join(os.WriteFile(to, []byte("old"), 0o600), os.Symlink(to, path)); err != nil {
		t.Skip("no links here: ", err)
	}
	if err := Write(path, Options{}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if content(t, to) != "old" || content(t, path) != "new" {
		t.Error("it was written through the link")
	}
}

func TestNoDirectory(t *testing.T) {
	for _, o := range []Options{{}, {Shared: true}} {
		if err := Write(filepath.Join(t.TempDir(), "none", "f"), o, []byte("x")); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// faulty is a file that fails at one step.
type faulty struct {
	*os.File
	step *string // at which it fails
	room *int    // bytes until the disk is full
}

var errInjected = errors.New("injected")

func (f faulty) at(step string) error {
	if *f.step == step {
		return errInjected
	}
	return nil
}

func (f faulty) Write(p []byte) (int, error) {
	if err := f.at("write"); err != nil {
		return 0, err
	}
	if f.room != nil && len(p) > *f.room { // a full disk takes a part
		n, _ := f.File.Write(p[:*f.room])
		return n, syscall.ENOSPC
	}
	if f.room != nil {
		*f.room -= len(p)
	}
	return f.File.Write(p)
}

func (f faulty) Chmod(mode fs.FileMode) error { return errors.Join(f.at("chmod"), f.File.Chmod(mode)) }
func (f faulty) Sync() error                  { return errors.Join(f.at("sync"), f.File.Sync()) }
func (f faulty) Close() error                 { return errors.Join(f.at("close"), f.File.Close()) }

// TestFaults checks that after any failure the old content stays, and no temporary file is left.
//
// FEATURES: R93
func TestFaults(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, step := range []string{"chmod", "write", "sync", "close", "rename"} {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			d := disk{wrap: func(f *os.File) file { return faulty{File: f, step: &step} }}
			if step == "rename" {
				d.rename = func(string, string) error { return errInjected }
			}
			if err := d.write(path, Options{Sync: Content, Shared: shared}, [][]byte{[]byte("new")}); !errors.Is(err, errInjected) {
				t.Errorf("%s: %v", step, err)
			}
			if got, all := content(t, path), names(t, dir); got != "old" || len(all) != 1 {
				t.Errorf("%s: %q, files %q", step, got, all)
			}
		}
	}
}

// TestFullDisk checks that a full disk leaves the old content, and that the space of the temporary file is freed.
//
// FEATURES: R93
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, Options{}, []byte("old")); err != nil {
		t.Fatal(err)
	}
	step := ""
	parts := [][]byte{[]byte("some "), []byte(strings.Repeat("text ", 100)), []byte("end")}
	for room := range len("some ") + 500 + len("end") {
		d := disk{wrap: func(f *os.File) file { return faulty{f, &step, &room} }}
		if err := d.write(path, Options{Sync: ContentAndName}, parts); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if got, all := content(t, path), names(t, dir); got != "old" || len(all) != 1 {
			t.Fatalf("%q, files %q", got, all)
		}
	}
}

// TestOrder checks that the content is on the disk before it has its name, and that the name is synced only with
// ContentAndName.
func TestOrder(t *testing.T) {
	step := ""
	for sync, want := range map[Sync]string{NoSync: "rename", Content: "sync f.tmp, rename", ContentAndName: "sync f.tmp, rename, sync dir"} {
		var did []string
		path := filepath.Join(t.TempDir(), "f")
		d := disk{
			wrap: func(f *os.File) file { return noted{faulty{File: f, step: &step}, &did} },
			rename: func(from, to string) error {
				did = append(did, "rename")
				return os.Rename(from, to)
			},
		}
		if err := d.write(path, Options{Sync: sync}, [][]byte{[]byte("x")}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(did, ", "); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

type noted struct {
	faulty
	did *[]string
}

func (f noted) Sync() error {
	name := filepath.Base(f.Name())
	if st, err := f.Stat(); err == nil && st.IsDir() {
		name = "dir"
	}
	*f.did = append(*f.did, "sync "+name)
	return f.File.Sync()
}

// TestManyWriters checks that a reader never sees a part, with any number of writers.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, Options{}, []byte("a")); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for _, c := range []string{"a", "b", "c"} {
		go func() {
			var errs error
			for n := range 50 {
				errs = errors.Join(errs, Write(path, Options{Shared: true}, []byte(strings.Repeat(c, n+1))))
			}
			done <- errs
		}()
	}
	for left := 3; left > 0; {
		select {
		case err := <-done:
			if left--; err != nil {
				t.Error(err)
			}
		default:
			if s := content(t, path); strings.Trim(s, s[:1]) != "" {
				t.Fatalf("a mixture: %q", s)
			}
		}
	}
}
