package draft

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestScan_AttributesChangesToCommands scans after each command.
//
// FEATURES: R124, R125
func TestScan_AttributesChangesToCommands(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.mount()
	scan := func(command, want int) {
		t.Helper()
		d, err := Open(b.d.Dir()) // reads the record from the file
		check(t, err)
		if n, err := d.Scan(ctx, command); err != nil || n != want {
			t.Errorf("command %d: %d paths changed, want %d; %v", command, n, want, err)
		}
	}
	b.must(op{Do: "append", A: []byte("keep/f"), Data: "1"})
	scan(1, 2) // and its directory
	scan(2, 0)
	b.must(op{Do: "append", A: []byte("keep/f"), Data: "2"}, op{Do: "write", A: []byte("keep/n"), Data: "2"}, op{Do: "rm", A: []byte("gone")})
	scan(3, 4) // and the directory
	b.must(op{Do: "rm", A: []byte("keep/n")}, op{Do: "touch", A: []byte("keep/g")})
	scan(4, 3)
	b.unmount()
	c, err := b.d.Changes(ctx)
	check(t, err)
	got := map[string][]int{}
	for _, ch := range c.Changes {
		got[ch.Path] = ch.During
	}
	if len(got) != 2 || !slices.Equal(got["keep/f"], []int{1, 3}) || !slices.Equal(got["gone"], []int{3}) {
		t.Errorf("%v", got)
	}
	if c, err = b.d.ChangesOf(ctx, 1); err != nil || len(c.Changes) != 1 || c.Changes[0].Path != "keep/f" {
		t.Errorf("%v, %v", c.Changes, err)
	}
}

// TestChanges_ReadsAgain_WhileTheSessionWrites lists changes while files and directories are created and removed.
//
// FEATURES: R124
func TestChanges_ReadsAgain_WhileTheSessionWrites(t *testing.T) {
	b := newBed(t, fillEverything(t))
	up := b.d.Roots()[0].Upper
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, name := range []string{"a", "keep"} {
				at := filepath.Join(up, name)
				_ = os.MkdirAll(filepath.Join(at, "deep"), 0o755)
				_ = os.WriteFile(filepath.Join(at, "deep/f"), []byte("x"), 0o644)
				_ = os.RemoveAll(at)
				_ = os.Symlink("x", at)
				_ = os.Remove(at)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for i := range 60 {
		if _, err := b.d.Changes(context.Background()); err != nil {
			t.Error(err)
			break
		}
		if _, err := b.d.Scan(context.Background(), i); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	<-stopped
}

// TestDiff_Applies gives the diff of files to git, which must make the same files of the root's.
//
// FEATURES: R124
func TestDiff_Applies(t *testing.T) {
	tier.Need(t, "git")
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.inDraft(
		op{Do: "append", A: []byte("keep/f"), Data: "more\nlines\n"}, op{Do: "write", A: []byte("keep/new\nl\xffine"), Data: "x\n"},
		op{Do: "rm", A: []byte("keep/g")}, op{Do: "symlink", A: []byte("keep/s"), Data: "f"}, op{Do: "chmod", A: []byte("keep/h"), Mode: 0o755})
	var out bytes.Buffer
	check(t, b.d.Diff(ctx, &out))
	c := exec.Command("git", "apply", "-p1", "-")
	c.Dir, c.Stdin = b.lower, &out
	c.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(b.lower))
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	b.mount()
	inside := b.seenInside()
	b.unmount()
	if diff := difference(inside, tree(t, b.lower)); diff != nil {
		t.Errorf("%q", diff)
	}
}

// TestDiff_HasOneLine_ForBinaryFilesAndDirectories checks the forms without lines, and the selection of paths.
//
// FEATURES: R124
func TestDiff_HasOneLine_ForBinaryFilesAndDirectories(t *testing.T) {
	b := newBed(t, fillEverything(t))
	b.inDraft(op{Do: "write", A: []byte("keep/f"), Data: "x\x00y"}, op{Do: "rm", A: []byte("gone")}, op{Do: "write", A: []byte("keep/g"), Data: "other"})
	var out strings.Builder
	check(t, b.d.Diff(context.Background(), &out, "keep/f", filepath.Join(b.lower, "gone")))
	want := "Deleted directory and all in it: b/gone\ndiff --git a/keep/f b/keep/f\nBinary or big files a/keep/f and b/keep/f differ (6 to 3 bytes)\n"
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
}

// TestRemovedDraft_IsNotWrittenAgain ends a draft that another process discards at the same time: before it has removed
// the lock's file, and after.
//
// FEATURES: R126
func TestRemovedDraft_IsNotWrittenAgain(t *testing.T) {
	for _, names := range [][]string{{infoName}, {infoName, lockName}} {
		b := newBed(t, func(string) {})
		for _, name := range names {
			check(t, os.Remove(filepath.Join(b.d.dir, name)))
		}
		if err := b.d.End(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("without %v: %v", names, err)
		}
		if Exists(b.d.dir) {
			t.Errorf("without %v: the draft still exists", names)
		}
		if _, err := os.Lstat(filepath.Join(b.d.dir, lockName)); (err == nil) != (len(names) == 1) {
			t.Errorf("without %v: the lock's file: %v", names, err)
		}
	}
}
