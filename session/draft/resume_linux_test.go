package draft

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// clone copies a bed that is not mounted. The copy has its own start time, since copying changes all ctimes.
func (b *bed) clone(t testing.TB) *bed {
	t.Helper()
	at := t.TempDir()
	_ = os.Chmod(filepath.Join(b.d.Roots()[0].Work, "work"), 0o700) // the kernel's has mode 000
	for _, name := range []string{"lower", "draft"} {
		if out, err := exec.Command("cp", "-a", filepath.Join(b.at, name), at).CombinedOutput(); err != nil {
			t.Fatal(string(out))
		}
	}
	check(t, os.Mkdir(filepath.Join(at, "merged"), 0o755))
	check(t, os.RemoveAll(filepath.Join(at, "draft", seenName)))
	c := &bed{t: t, at: at, lower: filepath.Join(at, "lower")}
	var err error
	c.d, err = Open(filepath.Join(at, "draft"))
	check(t, err)
	c.d.info.Roots = []string{c.lower}
	stamp := filepath.Join(at, "stamp")
	check(t, os.WriteFile(stamp, nil, 0o600))
	st, err := statAt(unix.AT_FDCWD, stamp)
	check(t, err)
	c.d.info.Stamp = st.Ctime
	check(t, c.d.writeInfo())
	t.Cleanup(func() {
		c.unmount()
		_ = chmodAll(at)
	})
	return c
}

// everything is a script with each kind of change.
var everything = []op{
	{Do: "append", A: []byte("keep/f"), Data: "more"},
	{Do: "rm", A: []byte("gone")},
	{Do: "rm", A: []byte("keep/g")},
	{Do: "remake", A: []byte("again")},
	{Do: "write", A: []byte("again/new"), Data: "1"},
	{Do: "mkdir", A: []byte("again/sub")},
	{Do: "write", A: []byte("again/sub/new"), Data: "2"},
	{Do: "rm", A: []byte("file2dir")},
	{Do: "mkdir", A: []byte("file2dir")},
	{Do: "write", A: []byte("file2dir/x"), Data: "3"},
	{Do: "rm", A: []byte("dir2file")},
	{Do: "write", A: []byte("dir2file"), Data: "4"},
	{Do: "mkdir", A: []byte("new")},
	{Do: "mkdir", A: []byte("new/deep")},
	{Do: "write", A: []byte("new/deep/x"), Data: "5"},
	{Do: "ln", A: []byte("new/deep/x"), B: []byte("new/link")},
	{Do: "ln", A: []byte("keep/h"), B: []byte("keep/link")},
	{Do: "symlink", A: []byte("new/s"), Data: "/etc/passwd"},
	{Do: "chmod", A: []byte("keep"), Mode: 0o700},
	{Do: "setxattr", A: []byte("keep/f"), Data: "user.overlay.opaque"},
	{Do: "setxattr", A: []byte("new"), Data: "user.overlay.x"},
	{Do: "mv", A: []byte("again/sub"), B: []byte("keep/moved")},
	{Do: "mv", A: []byte("keep/old"), B: []byte("new/old")},
}

// fillEverything makes the tree that the script changes.
func fillEverything(t testing.TB) func(string) {
	return func(lower string) {
		for _, d := range []string{"keep", "keep/old", "gone", "gone/deep", "again", "again/sub", "again/sub/deep", "dir2file", "dir2file/deep"} {
			check(t, os.Mkdir(filepath.Join(lower, d), 0o755))
		}
		for _, f := range []string{"keep/f", "keep/g", "keep/h", "keep/old/x", "gone/deep/x", "again/x", "again/sub/new", "again/sub/deep/x", "file2dir", "dir2file/deep/x", "untouched"} {
			check(t, os.WriteFile(filepath.Join(lower, f), []byte(f), 0o644))
		}
	}
}

// stopAt returns a hook that stops a commit before its step n, and counts the steps.
func stopAt(n int, steps *int, with error) func(string, string) error {
	return func(string, string) error {
		if *steps++; *steps > n {
			return with
		}
		return nil
	}
}

// runEverything returns a bed in which the script ran and the tree that a commit must make.
func runEverything(t testing.TB) (b *bed, want map[string]string) {
	t.Helper()
	b = newBed(t, fillEverything(t))
	direct := filepath.Join(t.TempDir(), "direct")
	if out, err := exec.Command("cp", "-a", b.lower, direct).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	for _, o := range everything {
		check(t, o.apply(direct))
	}
	b.inDraft(everything...)
	return b, tree(t, direct)
}

// TestCommit_Resumes_WhenStoppedAtAnyStep stops commits by rename and by copy before each step, as a crash would, and
// again while resuming. The next commit must complete them.
//
// FEATURES: R124
func TestCommit_Resumes_WhenStoppedAtAnyStep(t *testing.T) {
	b, want := runEverything(t)
	stride := 6
	if tier.IsFull() {
		stride = 3
	}
	for _, copies := range []bool{false, true} {
		steps := 0
		all := b.clone(t)
		all.d.alwaysCopy, all.d.hook = copies, stopAt(1<<30, &steps, nil)
		_, err := all.d.Commit(context.Background(), CommitOptions{})
		check(t, err)
		if diff := difference(want, tree(t, all.lower)); diff != nil {
			t.Fatalf("copies %v: %q", copies, diff)
		}
		t.Logf("copies %v: %d steps", copies, steps)
		for k := 0; k < steps; k += stride {
			t.Run(fmt.Sprintf("copies=%v/%d", copies, k), func(t *testing.T) {
				t.Parallel()
				if diff := difference(want, stopTwice(t, b.clone(t), copies, k, k%9)); diff != nil {
					t.Fatalf("%q", diff)
				}
			})
		}
	}
}

// stopTwice commits with a stop at step k, resumes with a stop at step again, and completes. It returns the tree.
func stopTwice(t *testing.T, c *bed, copies bool, k, again int) map[string]string {
	t.Helper()
	for _, at := range []int{k, again, 1 << 30} {
		d, err := Open(c.d.Dir())
		check(t, err)
		var steps int
		d.alwaysCopy, d.hook = copies, stopAt(at, &steps, errKilled)
		if _, err = d.Commit(context.Background(), CommitOptions{}); err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		c.d = d
	}
	return tree(t, c.lower)
}

// TestCommit_LosesFiles_WhenOpaqueMarkStays proves that the tests of stopped commits notice the error that they are for: a
// directory that stays opaque hides what was already moved out of it, and the next commit deletes that.
//
// FEATURES: R124
func TestCommit_LosesFiles_WhenOpaqueMarkStays(t *testing.T) {
	b, want := runEverything(t)
	for k := range 60 {
		c := b.clone(t)
		var steps int
		c.d.keepOpaque, c.d.hook = true, stopAt(k, &steps, unix.ENOSPC)
		_, _ = c.d.Commit(context.Background(), CommitOptions{})
		c.d.hook = nil
		if _, err := c.d.Commit(context.Background(), CommitOptions{}); err != nil {
			t.Fatal(err)
		}
		if difference(want, tree(t, c.lower)) != nil {
			return
		}
	}
	t.Fatal("commits that keep the opaque mark passed")
}

// TestCommit_RemovesTemporaryFiles_AfterError injects a full disk at random steps. The next commit must complete, without
// conflicts by what the first has written.
//
// FEATURES: R124
func TestCommit_RemovesTemporaryFiles_AfterError(t *testing.T) {
	b, want := runEverything(t)
	for k := 1; k < 90; k += seedStride() {
		for _, copies := range []bool{false, true} {
			t.Run(fmt.Sprintf("copies=%v/%d", copies, k), func(t *testing.T) {
				c := b.clone(t)
				var steps int
				c.d.alwaysCopy, c.d.hook = copies, stopAt(k, &steps, unix.ENOSPC)
				_, err := c.d.Commit(context.Background(), CommitOptions{})
				if err == nil {
					return
				}
				if !errors.Is(err, unix.ENOSPC) || !noTemporary(t, c.lower) {
					t.Fatalf("%v; temporary files left: %v", err, !noTemporary(t, c.lower))
				}
				c.d.hook = nil
				_, err = c.d.Commit(context.Background(), CommitOptions{})
				check(t, err)
				if diff := difference(want, tree(t, c.lower)); diff != nil {
					t.Fatalf("%q", diff)
				}
			})
		}
	}
}

func seedStride() int {
	if tier.IsFull() {
		return 4
	}
	return 11
}

// noTemporary reports whether a tree has no temporary files of a commit.
func noTemporary(t testing.TB, root string) bool {
	for p := range tree(t, root) {
		if base := filepath.Base(unquote(p)); len(base) > 10 && base[:10] == ".longterm-" {
			return false
		}
	}
	return true
}

// TestCommit_ResumesRandomScripts_WhenStoppedAtAnyStep is the full matrix: random scripts, each stopped before each step.
//
// FEATURES: R124
func TestCommit_ResumesRandomScripts_WhenStoppedAtAnyStep(t *testing.T) {
	tier.Full(t)
	for seed := range seeds(0, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			b, _, want := scripted(t, uint64(seed)+10_000)
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			copies := seed%2 == 1
			all, steps := b.clone(t), 0
			all.d.alwaysCopy, all.d.hook = copies, stopAt(1<<30, &steps, nil)
			_, err := all.d.Commit(context.Background(), CommitOptions{})
			check(t, err)
			t.Logf("%d steps", steps)
			for k := range steps {
				if diff := difference(want, stopTwice(t, b.clone(t), copies, k, r.IntN(12))); diff != nil {
					t.Fatalf("stopped at %d of %d: %q", k, steps, diff)
				}
			}
		})
	}
}
