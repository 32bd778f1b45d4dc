package filewatch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// FEATURES: R82
func TestFilter(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".gitignore", "# products\n/bin\nbuild/\n*.log\n!keep.log\ndoc/out\n\n")
	f, err := NewFilter([]string{"*.go", "web/**/*.js", "Makefile"}, append(GitIgnore(dir), "gen/**", "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := NewFilter(nil, GitIgnore(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path        string
		some, every bool
	}{
		{"main.go", true, true}, {"a/b/c.go", true, true}, {"a/b/c.txt", false, true}, {"web/x/y.js", true, true}, {"web/y.js", true, true},
		{"x/y.js", false, true}, {"Makefile", true, true}, {"sub/Makefile", true, true}, {"a_gen.go", false, true}, {"gen/a.go", false, true},
		{"bin/x.go", false, false}, {"sub/bin/x.go", true, true}, {"sub/build/x.go", false, false}, {"a.log", false, false},
		{"doc/out/a.go", false, false}, {".git/HEAD", false, false}, {"x/node_modules/y/z.go", false, false}, {"main.go~", false, false},
		{".main.go.swp", false, false}, {"4913", false, false}, {"x.o", false, false},
	} {
		if got := f.Wants(c.path); got != c.some {
			t.Errorf("%s: %v of some", c.path, got)
		}
		if got := all.Wants(c.path); got != c.every {
			t.Errorf("%s: %v of all", c.path, got)
		}
	}
	for _, bad := range []string{"", "[", "../x", "/etc/*", ".."} {
		if _, err := NewFilter([]string{bad}, nil); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// FEATURES: R82
func TestLedger(t *testing.T) {
	at := func(n int) stamp { return stamp{exists: true, size: 1, mod: time.Unix(int64(n), 0)} }
	l := newLedger()
	l.addKnown("a.c", at(1))
	l.addKnown("app", at(1))
	for _, c := range []struct {
		what, path string
		now        stamp
		running    bool
		want       bool
	}{
		{"touched without a change", "a.c", at(1), false, false},
		{"edited", "a.c", at(2), false, true},
		{"edited while it runs", "a.c", at(3), true, true},
		{"edited between runs", "a.c", at(4), false, true},
		{"made by the command", "a.out", at(5), true, false},
		{"made by the command again", "a.out", at(6), true, false},
		{"made by the command, told late", "a.out", at(7), false, false},
		{"new between runs", "b.c", at(5), false, true},
		{"a program that was there", "app", stamp{exists: true, size: 2, mod: time.Unix(9, 0), object: true}, true, false},
		{"removed", "b.c", stamp{}, false, true},
		{"a file that came and went", "tmp", stamp{}, false, false},
		{"in one run", "a.c", at(11), true, true},
		{"in the next one", "a.c", at(12), true, true},
		{"and in the next: the command writes it", "a.c", at(13), true, false},
		{"for good", "a.c", at(14), true, false},
	} {
		if got := l.isUserChange(c.path, c.now, c.running); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *Tree {
	t.Helper()
	f, err := NewFilter(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Open(Options{Root: dir, Filter: f, Debounce: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

// collect takes batches until one has the path in it.
func collect(t *testing.T, tr *Tree, last string) []string {
	t.Helper()
	var all []string
	for {
		select {
		case b := <-tr.Changes():
			if all = append(all, b...); slices.Contains(b, last) {
				return all
			}
		case err := <-tr.Errors():
			t.Fatal(err)
		case <-t.Context().Done():
			t.Fatal("no change was reported")
		}
	}
}

// FEATURES: R82
func TestTree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a")
	write(t, dir, "sub/b.go", "package b")
	write(t, dir, "node_modules/x.js", "1")
	tr := open(t, dir)

	write(t, dir, "node_modules/x.js", "changed")
	write(t, dir, "sub/.b.go.swp", "x")
	write(t, dir, "sub/b.go", "package b // edited")
	if got := collect(t, tr, "sub/b.go"); !slices.Equal(got, []string{"sub/b.go"}) {
		t.Errorf("an edit: %v", got)
	}
	// As editors do: a new file replaces the old one.
	write(t, dir, "a.go.tmp", "package a // edited")
	if err := os.Rename(filepath.Join(dir, "a.go.tmp"), filepath.Join(dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, tr, "a.go"); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("a replacement: %v", got)
	}
	write(t, dir, "new/deep/c.go", "package c")
	if got := collect(t, tr, "new/deep/c.go"); !slices.Equal(got, []string{"new/deep/c.go"}) {
		t.Errorf("a new directory: %v", got)
	}
	write(t, dir, "new/deep/c.go", "package c // edited")
	collect(t, tr, "new/deep/c.go")

	tr.SetRunning(true)
	write(t, dir, "out.txt", "made")
	write(t, dir, "a.go", "package a // edited again")
	if got := collect(t, tr, "a.go"); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("while the command runs: %v", got)
	}
	tr.SetRunning(false)
	if err := os.Remove(filepath.Join(dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	if got := collect(t, tr, "a.go"); !slices.Equal(got, []string{"a.go"}) {
		t.Errorf("a removal: %v", got)
	}
}

func TestOpenFails(t *testing.T) {
	f, _ := NewFilter(nil, nil)
	if _, err := Open(Options{Root: filepath.Join(t.TempDir(), "absent"), Filter: f}); err == nil {
		t.Error("an absent directory is watched")
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("*.go\n/bin\nbuild/\n!x\n{a,b}/**", "src/**/*.c", "a/b/c.go")
	f.Add("[", "\\", "**")
	f.Fuzz(func(t *testing.T, ignore, glob, path string) {
		dir := t.TempDir()
		write(t, dir, ".gitignore", ignore)
		filter, err := NewFilter([]string{glob}, GitIgnore(dir))
		if err == nil && filter.Wants(path) && filter.Prunes(path) {
			t.Errorf("%q is selected and ignored", path)
		}
	})
}
