package draft

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// asOwner runs f without the capabilities that override permissions. f must not start goroutines that need this.
func asOwner(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		none := [2]unix.CapUserData{}
		err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		if err == nil {
			f()
		}
		done <- err
	}()
	check(t, <-done)
}

// TestCommit_AppliesReadOnlyFiles_WithoutPrivileges commits files and directories that their owner cannot write, also stopped at steps.
//
// FEATURES: R124
func TestCommit_AppliesReadOnlyFiles_WithoutPrivileges(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, func(lower string) {
		fillEverything(t)(lower)
		check(t, unix.Chmod(filepath.Join(lower, "keep/f"), 0o444))
		check(t, unix.Chmod(filepath.Join(lower, "keep"), 0o555))
		check(t, unix.Chmod(filepath.Join(lower, "again"), 0o555)) // stays so
	})
	b.mount()
	b.must(op{Do: "chmod", A: []byte("keep"), Mode: 0o755}, op{Do: "chmod", A: []byte("keep/f"), Mode: 0o644}, op{Do: "append", A: []byte("keep/f"), Data: "1"},
		op{Do: "chmod", A: []byte("keep/f"), Mode: 0o444}, op{Do: "rm", A: []byte("keep/g")}, op{Do: "write", A: []byte("keep/new"), Data: "2"},
		op{Do: "chmod", A: []byte("keep/new"), Mode: 0o400}, op{Do: "mkdir", A: []byte("made")}, op{Do: "write", A: []byte("made/x"), Data: "3"},
		op{Do: "chmod", A: []byte("made/x"), Mode: 0o444}, op{Do: "chmod", A: []byte("made"), Mode: 0o555},
		op{Do: "chmod", A: []byte("gone"), Mode: 0o555}, op{Do: "append", A: []byte("gone/deep/x"), Data: "4"},
		op{Do: "append", A: []byte("again/x"), Data: "5"}, op{Do: "chmod", A: []byte("again/x"), Mode: 0o444})
	want := b.seenInside()
	b.unmount()
	for k := range 50 {
		c := b.clone(t)
		steps := 0
		c.d.alwaysCopy, c.d.hook = k%2 == 1, stopAt(k/2, &steps, errKilled)
		var err error
		asOwner(t, func() {
			if _, err = c.d.Commit(ctx, CommitOptions{}); errors.Is(err, errKilled) {
				c.d.hook = nil
				_, err = c.d.Commit(ctx, CommitOptions{})
			}
		})
		if err != nil {
			t.Fatal(k, err)
		}
		if diff := difference(withoutLinks(want), withoutLinks(tree(t, c.lower))); diff != nil {
			t.Fatalf("step %d: %q", k/2, diff)
		}
	}
	asOwner(t, func() {
		if _, err := b.d.Discard(ctx, "made/x"); err != nil {
			t.Error(err)
		}
	})
}

// TestDraft_ListsUnreadablePaths_WithoutPrivileges takes all rights to a file and directories. Each is a change that conflicts; others
// are committed, and these are discarded.
//
// FEATURES: R124
func TestDraft_ListsUnreadablePaths_WithoutPrivileges(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.mount()
	b.must(op{Do: "chmod", A: []byte("keep/f"), Mode: 0}, op{Do: "chmod", A: []byte("gone"), Mode: 0}, op{Do: "chmod", A: []byte("again"), Mode: 0o600},
		op{Do: "append", A: []byte("untouched"), Data: "1"}, op{Do: "mkdir", A: []byte("made")}, op{Do: "write", A: []byte("made/x"), Data: "2"},
		op{Do: "chmod", A: []byte("made"), Mode: 0})
	b.unmount()
	asOwner(t, func() {
		if _, err := b.d.Scan(ctx, 1); err != nil {
			t.Error(err)
		}
		c, err := b.d.Changes(ctx)
		var paths []string
		for _, ch := range c.Conflicts() {
			paths = append(paths, ch.Path)
		}
		if err != nil || !slices.Equal(paths, []string{"again", "gone", "keep/f", "made"}) {
			t.Errorf("conflicts %q, %v", paths, err)
		}
		if err := b.d.Diff(ctx, io.Discard); err != nil {
			t.Error(err)
		}
		if _, err := b.d.Commit(ctx, CommitOptions{Overwrite: true}); err == nil {
			t.Error("an unreadable file was committed")
		}
		if _, err := b.d.Commit(ctx, CommitOptions{Paths: []string{"untouched"}}); err != nil {
			t.Error(err)
		}
		if _, err := b.d.Discard(ctx, paths...); err != nil {
			t.Error(err)
		}
		if c, err = b.d.Changes(ctx); err != nil || len(c.Changes) > 0 {
			t.Errorf("left: %+v, %v", c, err)
		}
	})
}
