package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"golang.org/x/sys/unix"
)

// somePaths picks some of the changes.
func somePaths(r *rand.Rand, c Changes) (paths []string) {
	for _, ch := range c.Changes {
		if r.IntN(3) == 0 {
			paths = append(paths, ch.Path)
		}
	}
	return paths
}

// TestCommit_KeepsWhatTheDraftShows_WhenPartial commits some of the changes of a random script. A session that is started again
// in the draft must see what it saw before. A commit of the rest makes the tree of a direct run.
//
// FEATURES: R124
func TestCommit_KeepsWhatTheDraftShows_WhenPartial(t *testing.T) {
	ctx := context.Background()
	for seed := range seeds(4, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 3))
			b, _, want := scripted(t, uint64(seed)+20_000)
			b.d.alwaysCopy = seed%3 == 1
			for range 3 {
				c, err := b.d.Changes(ctx)
				check(t, err)
				paths := somePaths(r, c)
				if len(paths) == 0 {
					continue
				}
				_, err = b.d.Commit(ctx, CommitOptions{Paths: paths, Expect: c.ID})
				check(t, err)
				b.mount()
				inside := b.seenInside()
				b.unmount()
				if diff := difference(withoutOverlay(want), withoutOverlay(inside)); diff != nil {
					t.Fatalf("after a commit of %q: %q", paths, diff)
				}
			}
			_, err := b.d.Commit(ctx, CommitOptions{})
			check(t, err)
			if diff := difference(withoutLinks(want), withoutLinks(tree(t, b.lower))); diff != nil {
				t.Fatalf("after the last commit: %q", diff)
			}
		})
	}
}

// TestDiscard_ShowsTheRoot_WhenPartial discards some of the changes of a random script. At these paths a session that is started
// again sees the root's files, elsewhere what it saw before.
//
// FEATURES: R124
func TestDiscard_ShowsTheRoot_WhenPartial(t *testing.T) {
	ctx := context.Background()
	for seed := range seeds(4, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 4))
			b, before, after := scripted(t, uint64(seed)+30_000)
			before, after = withoutLinks(before), withoutLinks(after)
			c, err := b.d.Changes(ctx)
			check(t, err)
			paths := somePaths(r, c)
			if len(paths) == 0 {
				return
			}
			res, err := b.d.Discard(ctx, paths...)
			check(t, err)
			b.mount()
			inside := withoutLinks(b.seenInside())
			b.unmount()
			gone := map[string]bool{}
			for _, p := range res.Paths {
				gone[unquote(strconv.Quote(p.Path))] = true
			}
			for p, s := range inside {
				switch {
				case s != before[p] && s != after[p]:
					t.Errorf("%s: content is neither the root's nor the draft's: %s", p, s)
				case discarded(p, gone) && s != before[p]:
					t.Errorf("%s: discarded and %s, not %s", p, s, before[p])
				case !discarded(p, gone) && s != after[p]:
					t.Errorf("%s: not discarded and %s, not %s", p, s, after[p])
				}
			}
			left, err := b.d.Changes(ctx)
			check(t, err)
			for _, ch := range left.Changes {
				if gone[ch.Path] || gone[""] {
					t.Errorf("%q was discarded and is listed", ch.Path)
				}
			}
		})
	}
}

// withoutOverlay removes hard links, and attributes with names of overlays, which an overlay hides in its root.
func withoutOverlay(all map[string]string) map[string]string {
	out := withoutLinks(all)
	for p, s := range out {
		var kept []string
		for _, word := range strings.Fields(s) {
			if !strings.HasPrefix(word, overlayPrefix) {
				kept = append(kept, word)
			}
		}
		out[p] = strings.Join(kept, " ")
	}
	return out
}

// discarded reports whether a quoted path, or a directory above, is one of the paths.
func discarded(quoted string, paths map[string]bool) bool {
	for p := unquote(quoted); ; p, _ = split(p) {
		if paths[p] {
			return true
		}
		if p == "" {
			return false
		}
	}
}

// TestCommit_Live commits while the session runs: only a dry run is accepted. After its end, files that it deleted in directories
// that it made are not committed, and do not come back.
//
// FEATURES: R124
func TestCommit_Live(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.mount()
	b.must(everything...)
	before := tree(t, b.lower)
	lock, err := b.d.LockMount()
	check(t, err)
	if _, err := b.d.Commit(ctx, CommitOptions{}); !errors.Is(err, ErrMounted) {
		t.Fatalf("a commit of a mounted draft: %v", err)
	}
	if _, err := b.d.Discard(ctx); !errors.Is(err, ErrMounted) {
		t.Fatalf("a discard of a mounted draft: %v", err)
	}
	res, err := b.d.Commit(ctx, CommitOptions{DryRun: true})
	check(t, err)
	if !res.Empty || res.Files == 0 || res.Deleted == 0 {
		t.Errorf("result %+v", res)
	}
	if diff := difference(before, tree(t, b.lower)); diff != nil {
		t.Fatalf("written: %q", diff)
	}
	b.must(op{Do: "rm", A: []byte("new/deep")})
	inside := b.seenInside()
	b.unmount()
	check(t, lock.Close())
	_, err = b.d.Commit(ctx, CommitOptions{})
	check(t, err)
	if diff := difference(withoutLinks(inside), withoutLinks(tree(t, b.lower))); diff != nil {
		t.Fatalf("after the commit: %q", diff)
	}
}

// TestCommit_ReportsConflictOrKeepsFiles_WhenOthersWrite lets an outside process write to the root at random times.
// Each file that it changed either conflicts, and then nothing is committed, or has its content after the commit.
//
// FEATURES: R124
func TestCommit_ReportsConflictOrKeepsFiles_WhenOthersWrite(t *testing.T) {
	tier.Full(t)
	ctx := context.Background()
	var conflicts, commits int
	for seed := range seeds(10, 100) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		b := newBed(t, func(lower string) { randomTree(t, r, lower) })
		direct := filepath.Join(t.TempDir(), "direct")
		check(t, copyTree(b.lower, direct))
		ops := randomOps(t, r, direct, 4+r.IntN(8))
		scratch := filepath.Join(t.TempDir(), "outside")
		check(t, copyTree(b.lower, scratch))
		outside := randomOps(t, r, scratch, 1+r.IntN(3))
		old := tree(t, b.lower)
		afterStart(t, b)
		b.mount()
		for len(ops)+len(outside) > 0 {
			switch {
			case r.IntN(6) == 0:
				_, err := b.d.Scan(ctx, r.IntN(5))
				check(t, err)
			case len(outside) > 0 && (len(ops) == 0 || r.IntN(3) == 0):
				_ = outside[0].apply(b.lower)
				outside = outside[1:]
			case len(ops) > 0:
				b.do(ops[0])
				ops = ops[1:]
			}
		}
		b.unmount()
		now := tree(t, b.lower)
		_, err := b.d.Commit(ctx, CommitOptions{})
		got := tree(t, b.lower)
		conflict := (*ConflictError)(nil)
		if errors.As(err, &conflict) {
			if diff := difference(now, got); diff != nil {
				t.Fatalf("seed %d: %v, but %q", seed, err, diff)
			}
			conflicts++
			continue
		}
		check(t, err)
		commits++
		for p, s := range withoutLinks(now) {
			if old, ok := withoutLinks(old)[p]; ok && old == s || isDirectory(s) {
				continue
			}
			if withoutLinks(got)[p] != s {
				t.Errorf("seed %d: %s was %s outside, and is %s after the commit", seed, p, s, got[p])
			}
		}
	}
	t.Logf("%d conflicts, %d commits", conflicts, commits)
}

// isDirectory reports whether a description in a tree is that of a directory.
func isDirectory(s string) bool {
	return len(s) > 5 && s[:5] == "40755" || len(s) > 3 && s[:3] == "407"
}

// afterStart waits until the kernel's time is after the draft's start, so that later changes have a later ctime.
func afterStart(t testing.TB, b *bed) {
	t.Helper()
	path := filepath.Join(b.at, "clock")
	for {
		check(t, os.WriteFile(path, []byte("x"), 0o600))
		st, err := statAt(unix.AT_FDCWD, path)
		check(t, err)
		if st.Ctime > b.d.info.Stamp {
			return
		}
	}
}

// TestCommit_NamesConflicts checks each rule with one change outside.
//
// FEATURES: R124
func TestCommit_NamesConflicts(t *testing.T) {
	ctx := context.Background()
	write := func(name, data string) func(string) error {
		return func(lower string) error { return os.WriteFile(filepath.Join(lower, name), []byte(data), 0o644) }
	}
	later := time.Unix(1_000_000_000, 0)
	cases := []struct {
		name    string
		draft   []op
		scan    bool // between the draft's changes and the other process's
		outside func(lower string) error
		path    string // that must conflict; empty: none
	}{
		{"both write", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, false, write("keep/f", "y"), "keep/f"},
		{"other file", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, false, write("keep/g", "y"), ""},
		{"delete and write", []op{{Do: "rm", A: []byte("keep/f")}}, false, write("keep/f", "y"), "keep/f"},
		{"delete a tree and write in it", []op{{Do: "rm", A: []byte("gone")}}, false, write("gone/deep/x", "y"), "gone"},
		{"delete a tree and add to it", []op{{Do: "rm", A: []byte("gone")}}, false, write("gone/deep/y", "y"), "gone"},
		{"replace a tree and write in it", []op{{Do: "remake", A: []byte("gone")}}, false, write("gone/deep/x", "y"), "gone/deep"},
		{"both add", []op{{Do: "write", A: []byte("keep/n"), Data: "x"}}, true, write("keep/n", "y"), "keep/n"},
		{"both add the same", []op{{Do: "write", A: []byte("keep/n"), Data: "x"}}, false, func(lower string) error {
			return errors.Join(write("keep/n", "x")(lower), os.Chtimes(filepath.Join(lower, "keep/n"), later, later))
		}, "keep/n"},
		{"write and delete", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, true,
			func(lower string) error { return os.Remove(filepath.Join(lower, "keep/f")) }, "keep/f"},
		{"write and delete without a scan", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, false,
			func(lower string) error { return os.Remove(filepath.Join(lower, "keep/f")) }, "keep/f"},
		{"write and delete the directory", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, false,
			func(lower string) error { return os.RemoveAll(filepath.Join(lower, "keep")) }, "keep"},
		{"directory replaced by an older one", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, true,
			func(lower string) error {
				return errors.Join(os.Rename(filepath.Join(lower, "keep"), filepath.Join(lower, "k")), os.Rename(filepath.Join(lower, "gone"), filepath.Join(lower, "keep")))
			}, "keep/f"},
		{"directory replaced by a link", []op{{Do: "append", A: []byte("keep/f"), Data: "x"}}, true,
			func(lower string) error {
				return errors.Join(os.Rename(filepath.Join(lower, "keep"), filepath.Join(lower, "k")), os.Symlink("k", filepath.Join(lower, "keep")))
			}, "keep"},
		{"database and its log", []op{{Do: "append", A: []byte("db"), Data: "x"}}, false, write("db-wal", "y"), "db"},
		{"deleted log and database", []op{{Do: "append", A: []byte("db"), Data: "x"}, {Do: "rm", A: []byte("db-wal")}}, false, write("db-wal", "y"), "db"},
		{"log and database", []op{{Do: "append", A: []byte("db-wal"), Data: "x"}}, false, write("db", "y"), "db-wal"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, func(lower string) {
				fillEverything(t)(lower)
				for _, f := range []string{"db", "db-wal", "db-shm"} {
					check(t, write(f, "1")(lower))
				}
			})
			afterStart(t, b)
			b.inDraft(c.draft...)
			if c.scan {
				_, err := b.d.Scan(ctx, 1)
				check(t, err)
			}
			check(t, c.outside(b.lower))
			before := tree(t, b.lower)
			ch, err := b.d.Changes(ctx)
			check(t, err)
			found := ""
			for _, x := range ch.Conflicts() {
				if x.Path == c.path {
					found = c.path
				}
			}
			if found != c.path || c.path == "" && len(ch.Conflicts()) > 0 {
				t.Errorf("conflicts %+v, want %q", ch.Conflicts(), c.path)
			}
			_, err = b.d.Commit(ctx, CommitOptions{})
			if (err != nil) != (c.path != "") {
				t.Error(err)
			}
			if diff := difference(before, tree(t, b.lower)); c.path != "" && diff != nil {
				t.Errorf("written in spite of the conflict: %q", diff)
			}
		})
	}
}

// TestCommit_Stops_WhenFileChangesOutsideDuringIt changes a file outside after the commit has started. The file keeps that
// content, and conflicts in the next commit, too. Others are committed then.
//
// FEATURES: R124
func TestCommit_Stops_WhenFileChangesOutsideDuringIt(t *testing.T) {
	ctx := context.Background()
	for _, copies := range []bool{false, true} {
		b := newBed(t, fillEverything(t))
		afterStart(t, b)
		b.inDraft(op{Do: "append", A: []byte("again/x"), Data: "1"}, op{Do: "append", A: []byte("keep/f"), Data: "2"},
			op{Do: "append", A: []byte("untouched"), Data: "3"})
		outside := filepath.Join(b.lower, "keep/f")
		b.d.alwaysCopy = copies
		b.d.hook = func(string, string) error {
			b.d.hook = nil
			return os.WriteFile(outside, []byte("outside"), 0o644)
		}
		_, err := b.d.Commit(ctx, CommitOptions{})
		conflict, ok := errors.AsType[*ConflictError](err)
		if !ok || len(conflict.Changes) != 1 || conflict.Changes[0].Path != "keep/f" || !noTemporary(t, b.lower) {
			t.Fatalf("copies %v: %v", copies, err)
		}
		if _, err = b.d.Commit(ctx, CommitOptions{}); err == nil {
			t.Error("committed over the other process's file")
		}
		_, err = b.d.Commit(ctx, CommitOptions{Paths: []string{"untouched"}})
		check(t, err)
		if got, err := os.ReadFile(outside); err != nil || string(got) != "outside" {
			t.Errorf("copies %v: %q, %v", copies, got, err)
		}
		if got, err := os.ReadFile(filepath.Join(b.lower, "untouched")); err != nil || string(got) != "untouched3" {
			t.Errorf("copies %v: %q, %v", copies, got, err)
		}
		_, err = b.d.Commit(ctx, CommitOptions{Overwrite: true})
		check(t, err)
		if got, err := os.ReadFile(outside); err != nil || string(got) != "keep/f2" {
			t.Errorf("copies %v: %q, %v", copies, got, err)
		}
	}
}

// TestCommit_IncludesTheWholeDatabase selects one file of an SQLite database, and a file in a new directory.
//
// FEATURES: R124
func TestCommit_IncludesTheWholeDatabase(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.inDraft(op{Do: "write", A: []byte("db"), Data: "1"}, op{Do: "write", A: []byte("db-wal"), Data: "2"}, op{Do: "write", A: []byte("other"), Data: "3"},
		op{Do: "mkdir", A: []byte("new")}, op{Do: "write", A: []byte("new/x"), Data: "4"}, op{Do: "write", A: []byte("new/y"), Data: "5"})
	res, err := b.d.Commit(ctx, CommitOptions{Paths: []string{filepath.Join(b.lower, "db"), "new/x"}})
	check(t, err)
	var got []string
	for _, p := range res.Paths {
		got = append(got, p.Path)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"db", "db-wal", "new", "new/x"}) || res.Empty {
		t.Errorf("committed %q; %+v", got, res)
	}
}

// TestCommit_StaysInTheRoot_WhenTheDraftMadeLinks replaces directories by symbolic links to a place outside.
//
// FEATURES: R124
func TestCommit_StaysInTheRoot_WhenTheDraftMadeLinks(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	victim := filepath.Join(t.TempDir(), "victim")
	check(t, os.Mkdir(victim, 0o755))
	b.inDraft(
		op{Do: "append", A: []byte("keep/f"), Data: "x"}, op{Do: "mv", A: []byte("keep"), B: []byte("kept")},
		op{Do: "symlink", A: []byte("keep"), Data: victim}, op{Do: "rm", A: []byte("gone")}, op{Do: "symlink", A: []byte("gone"), Data: "../victim"})
	// The root's directory is a link to the victim by the time of the commit.
	c := b.clone(t)
	check(t, os.RemoveAll(filepath.Join(c.lower, "kept")))
	check(t, os.Symlink(victim, filepath.Join(c.lower, "kept")))
	for _, d := range []*Draft{b.d, c.d} {
		_, _ = d.Commit(ctx, CommitOptions{})
		if entries, err := os.ReadDir(victim); err != nil || len(entries) > 0 {
			t.Fatalf("%v, %v", entries, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(b.lower, "keep")); err != nil || to != victim {
		t.Errorf("%q, %v", to, err)
	}
}

// TestCommit_RejectsSetuid rejects new setuid and setgid files unless the caller allows them.
//
// FEATURES: R124
func TestCommit_RejectsSetuid(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.inDraft(op{Do: "write", A: []byte("su"), Data: "x"}, op{Do: "chmod", A: []byte("su"), Mode: 0o4755}, op{Do: "append", A: []byte("keep/f"), Data: "x"})
	before := tree(t, b.lower)
	_, err := b.d.Commit(ctx, CommitOptions{})
	conflict := (*ConflictError)(nil)
	if !errors.As(err, &conflict) || len(conflict.Changes) != 1 || conflict.Changes[0].Path != "su" {
		t.Fatal(err)
	}
	if diff := difference(before, tree(t, b.lower)); diff != nil {
		t.Fatalf("%q", diff)
	}
	_, err = b.d.Commit(ctx, CommitOptions{AllowSetID: true})
	check(t, err)
	if st, err := os.Stat(filepath.Join(b.lower, "su")); err != nil || st.Mode()&fs.ModeSetuid == 0 {
		t.Fatal(st.Mode(), err)
	}
}

// TestCommit_WritesNothing_WhenDryOrUnexpected checks DryRun, Expect and unknown paths.
//
// FEATURES: R124
func TestCommit_WritesNothing_WhenDryOrUnexpected(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.inDraft(op{Do: "append", A: []byte("keep/f"), Data: "x"})
	before := tree(t, b.lower)
	c, err := b.d.Changes(ctx)
	check(t, err)
	res, err := b.d.Commit(ctx, CommitOptions{DryRun: true, Expect: c.ID})
	if err != nil || len(res.Paths) != 1 || res.Files != 1 || res.Bytes != 7 || !res.Empty {
		t.Errorf("%+v, %v", res, err)
	}
	b.inDraft(op{Do: "append", A: []byte("keep/f"), Data: "y"})
	if _, err := b.d.Commit(ctx, CommitOptions{Expect: c.ID}); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	for _, p := range []string{"keep/g", "missing", "keep/f/x"} {
		if _, err := b.d.Commit(ctx, CommitOptions{Paths: []string{p}}); !errors.Is(err, ErrNoChange) {
			t.Error(p, err)
		}
	}
	if _, err := b.d.Commit(ctx, CommitOptions{Paths: []string{"/etc/passwd"}}); err == nil {
		t.Error("a path outside the root was accepted")
	}
	if diff := difference(before, tree(t, b.lower)); diff != nil {
		t.Errorf("%q", diff)
	}
}
