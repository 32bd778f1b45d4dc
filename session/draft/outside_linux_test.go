package draft

import (
	"context"
	"errors"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestCommit_KeepsFilesInRemovedDirectories_WhenChangedDuringIt lets an outside process write into a directory that a
// commit removes, at the commit's first step, at the step before the removal, and before an interrupted commit is
// resumed.
//
// FEATURES: R124
func TestCommit_KeepsFilesInRemovedDirectories_WhenChangedDuringIt(t *testing.T) {
	tier.Full(t)
	ctx := context.Background()
	scripts := map[string]struct {
		path string // that the other process writes
		ops  []op
	}{
		"deleted":  {"gone/deep/", []op{{Do: "rm", A: []byte("gone")}}},
		"hidden":   {"again/sub/deep/", []op{{Do: "remake", A: []byte("again")}, {Do: "write", A: []byte("again/new"), Data: "1"}}},
		"replaced": {"dir2file/deep/", []op{{Do: "rm", A: []byte("dir2file")}, {Do: "write", A: []byte("dir2file"), Data: "4"}}},
	}
	for name, s := range scripts {
		for _, file := range []string{"x", "new"} {
			for _, at := range []string{"", "rename", "exchange", "killed"} {
				for _, copies := range []bool{false, true} {
					t.Run(name+"/"+file+"/"+at, func(t *testing.T) {
						b := newBed(t, fillEverything(t))
						afterStart(t, b)
						b.inDraft(s.ops...)
						outside, wrote := filepath.Join(b.lower, s.path+file), false
						b.d.alwaysCopy = copies
						b.d.hook = func(step, _ string) error {
							if wrote || at != step && at != "" && at != "killed" {
								return nil
							}
							wrote = true
							if at == "killed" {
								return errKilled
							}
							return os.WriteFile(outside, []byte("outside"), 0o644)
						}
						_, err := b.d.Commit(ctx, CommitOptions{})
						if !wrote {
							return // this script has no such step
						}
						if at == "killed" {
							check(t, os.WriteFile(outside, []byte("outside"), 0o644))
							_, err = b.d.Commit(ctx, CommitOptions{})
						}
						if conflict, ok := errors.AsType[*ConflictError](err); !ok || len(conflict.Changes) != 1 {
							t.Errorf("error %v", err)
						}
						if got, err := os.ReadFile(outside); string(got) != "outside" || !noTemporary(t, b.lower) {
							t.Errorf("%q, %v; temporary files left: %v", got, err, !noTemporary(t, b.lower))
						}
						if c, err := b.d.Changes(ctx); err != nil || len(c.Conflicts()) == 0 {
							t.Errorf("no conflict: %+v, %v", c, err)
						}
					})
				}
			}
		}
	}
}

// TestCommit_ConflictsLater_WhenOthersWriteAfterTheRename lets an outside process change files after a commit has
// written or removed them and before the commit ends. Later changes in the draft must conflict with these.
//
// FEATURES: R124
func TestCommit_ConflictsLater_WhenOthersWriteAfterTheRename(t *testing.T) {
	ctx := context.Background()
	for _, copies := range []bool{false, true} {
		b := newBed(t, fillEverything(t))
		afterStart(t, b)
		b.inDraft(op{Do: "append", A: []byte("keep/f"), Data: "1"}, op{Do: "rm", A: []byte("keep/g")}, op{Do: "chmod", A: []byte("keep"), Mode: 0o700},
			op{Do: "append", A: []byte("untouched"), Data: "2"})
		b.d.alwaysCopy = copies
		b.d.hook = func(step, rel string) error {
			if step != "set attributes" {
				return nil
			}
			return errors.Join(os.WriteFile(filepath.Join(b.lower, "keep/f"), []byte("outside"), 0o644),
				os.WriteFile(filepath.Join(b.lower, "keep/g"), []byte("outside"), 0o644))
		}
		_, err := b.d.Commit(ctx, CommitOptions{})
		check(t, err)
		b.d.hook = nil
		b.inDraft(op{Do: "append", A: []byte("keep/f"), Data: "3"}, op{Do: "rm", A: []byte("keep/g")}, op{Do: "append", A: []byte("untouched"), Data: "4"})
		c, err := b.d.Changes(ctx)
		check(t, err)
		var paths []string
		for _, ch := range c.Conflicts() {
			paths = append(paths, ch.Path)
		}
		if !slices.Equal(paths, []string{"keep/f", "keep/g"}) {
			t.Errorf("copies %v: conflicts %q", copies, paths)
		}
	}
}

// TestCommit_HasNoConflict_WhenRootHasHardLinks changes and removes names of the same files of the root: at once, in two commits, and
// stopped before each step. Only a change outside conflicts.
//
// FEATURES: R124
func TestCommit_HasNoConflict_WhenRootHasHardLinks(t *testing.T) {
	tier.Full(t)
	ctx := context.Background()
	fill := func(lower string) {
		fillEverything(t)(lower)
		for from, names := range map[string][]string{"keep/f": {"a1", "a2", "gone/a3", "gone/deep/a4", "again/a5"}, "keep/g": {"b1", "again/b2"}} {
			for _, name := range names {
				check(t, os.Link(filepath.Join(lower, from), filepath.Join(lower, name)))
			}
		}
	}
	run := func() (*bed, map[string]string) {
		b := newBed(t, fill)
		afterStart(t, b)
		b.mount()
		b.must(op{Do: "append", A: []byte("a1"), Data: "1"}, op{Do: "rm", A: []byte("a2")}, op{Do: "rm", A: []byte("gone")}, op{Do: "rm", A: []byte("b1")},
			op{Do: "remake", A: []byte("again")}, op{Do: "write", A: []byte("again/new"), Data: "2"}, op{Do: "append", A: []byte("keep/f"), Data: "3"})
		want := b.seenInside()
		b.unmount()
		return b, withoutLinks(want)
	}
	for k := range 60 {
		b, want := run()
		steps := 0
		b.d.alwaysCopy, b.d.hook = k%2 == 1, stopAt(k/2, &steps, errKilled)
		_, err := b.d.Commit(ctx, CommitOptions{})
		if done := err == nil; !done {
			if !errors.Is(err, errKilled) {
				t.Fatal(k, err)
			}
			b.d, err = Open(b.d.Dir())
			check(t, err)
			b.d.alwaysCopy = k%2 == 1
			_, err = b.d.Commit(ctx, CommitOptions{})
		}
		if err != nil {
			t.Fatal(k, err)
		}
		if diff := difference(want, withoutLinks(tree(t, b.lower))); diff != nil {
			t.Fatalf("step %d: %q", k, diff)
		}
		if steps <= k/2 {
			break
		}
	}
	b, want := run()
	for _, path := range []string{"a2", "keep", "gone", "."} {
		_, err := b.d.Commit(ctx, CommitOptions{Paths: []string{path}})
		check(t, err)
	}
	if diff := difference(want, withoutLinks(tree(t, b.lower))); diff != nil {
		t.Fatalf("%q", diff)
	}
	b, _ = run()
	_, err := b.d.Commit(ctx, CommitOptions{Paths: []string{"a2"}})
	check(t, err)
	check(t, os.WriteFile(filepath.Join(b.lower, "a1"), []byte("outside"), 0o644))
	if _, err := b.d.Commit(ctx, CommitOptions{}); err == nil {
		t.Error("committed over the other process's file")
	}
}

// TestChanges_HasNoConflicts_AfterInterruptedCommit lists the rest of a commit that was stopped at each step, and commits it dry.
//
// FEATURES: R124
func TestChanges_HasNoConflicts_AfterInterruptedCommit(t *testing.T) {
	ctx := context.Background()
	b, _ := runEverything(t)
	for k := 0; k < 60; k += 4 {
		c := b.clone(t)
		steps := 0
		c.d.hook = stopAt(k, &steps, errKilled)
		if _, err := c.d.Commit(ctx, CommitOptions{}); err == nil {
			break
		} else if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		c.d.hook = nil
		list, err := c.d.Changes(ctx)
		if err != nil || list.State != StateCommitting || len(list.Conflicts()) > 0 {
			t.Errorf("step %d: %s, %+v, %v", k, list.State, list.Conflicts(), err)
		}
		if res, err := c.d.Commit(ctx, CommitOptions{DryRun: true, Expect: list.ID}); err != nil {
			t.Errorf("step %d: %+v, %v", k, res, err)
		}
		if _, err := c.d.Commit(ctx, CommitOptions{Expect: list.ID}); err != nil {
			t.Errorf("step %d: %v", k, err)
		}
	}
}

// TestMark_SkipsFilesThatOthersWrote checks that only the file that the commit wrote counts as the draft's: another process can write
// between the rename and the look at the result.
//
// FEATURES: R124
func TestMark_SkipsFilesThatOthersWrote(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	check(t, os.WriteFile(path, []byte("draft"), 0o644))
	dir, err := openRoot(filepath.Dir(path))
	check(t, err)
	defer closeFD(dir)
	up, err := statAt(dir, "f")
	check(t, err)
	n := &node{rel: "f", up: up}
	for _, c := range []struct {
		name   string
		change func() error
		marks  int
	}{
		{"as written", func() error { return nil }, 1},
		{"longer", func() error { return os.WriteFile(path, []byte("outside"), 0o644) }, 0},
		{"as long, later", func() error { return os.WriteFile(path, []byte("other"), 0o644) }, 0},
		{"of another mode", func() error { return os.Chmod(path, 0o600) }, 0},
	} {
		check(t, c.change())
		a := &applier{written: map[pathKey]version{}}
		if err := a.recordWritten(n, dir, "f"); err != nil || len(a.written) != c.marks {
			t.Errorf("%s: %v, %v", c.name, a.written, err)
		}
	}
}
