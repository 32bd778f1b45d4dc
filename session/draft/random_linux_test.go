package draft

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// seeds returns the number of random scripts: few by default, and the environment's value in a long run.
func seeds(few, full int) int {
	if n, err := strconv.Atoi(os.Getenv("LONGTERM_DRAFT_SEEDS")); err == nil {
		return n
	}
	return tier.Times(few, full)
}

// scripted makes a root and a draft in which a random script ran, and returns the root's tree before, and the tree of a
// direct run of the script.
func scripted(t *testing.T, seed uint64) (b *bed, before, want map[string]string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	at := t.TempDir()
	b = newBed(t, func(lower string) { randomTree(t, r, lower) })
	copied := filepath.Join(at, "direct")
	if out, err := exec.Command("cp", "-a", b.lower, copied).CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	before = tree(t, b.lower)
	ops := randomOps(t, r, copied, 5+r.IntN(30))
	b.mount()
	failed := b.do(ops...)
	if os.Getenv("LONGTERM_DRAFT_TRACE") != "" {
		t.Log(ops, failed)
	}
	inside := b.seenInside()
	b.unmount()
	if diff := difference(before, tree(t, b.lower)); diff != nil {
		t.Fatalf("the draft changed its root: %q", diff)
	}
	want = tree(t, copied)
	// The kernel reports inode numbers that do not distinguish hard links while the overlay is mounted.
	if diff := difference(withoutLinks(want), withoutLinks(inside)); diff != nil {
		t.Fatalf("the draft differs from a direct run: %q", diff)
	}
	return b, before, want
}

// TestDraft_RandomScripts commits or discards what random scripts did. A commit makes the tree of a direct run, also if it was
// stopped at a random step and resumed.
//
// FEATURES: R124
func TestDraft_RandomScripts(t *testing.T) {
	ctx := context.Background()
	for seed := range seeds(4, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			b, before, want := scripted(t, uint64(seed))
			c, err := b.d.Changes(ctx)
			check(t, err)
			if in := c.Conflicts(); in != nil {
				t.Fatalf("conflict without a writer outside: %s %s", in[0].Path, *in[0].Conflict)
			}
			b.d.alwaysCopy = seed%3 == 1
			if seed%6 == 5 {
				_, err := b.d.Discard(ctx)
				check(t, err)
				if diff := difference(before, tree(t, b.lower)); diff != nil {
					t.Fatalf("after discard: %q", diff)
				}
				return
			}
			commitStopped(t, b, r, seed%2 == 0)
			if diff := difference(want, tree(t, b.lower)); diff != nil {
				t.Fatalf("after commit: %q", diff)
			}
			if c, err = b.d.Changes(ctx); err != nil || len(c.Changes) > 0 {
				t.Fatalf("changes after a commit: %v, %v", c.Changes, err)
			}
		})
	}
}

// commitStopped commits, and optionally stops at random steps first.
func commitStopped(t *testing.T, b *bed, r *rand.Rand, stop bool) {
	t.Helper()
	for stop {
		left := r.IntN(25)
		b.d.hook = func(string, string) error {
			if left--; left < 0 {
				return errKilled
			}
			return nil
		}
		_, err := b.d.Commit(context.Background(), CommitOptions{})
		b.d.hook = nil
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		d, err := Open(b.d.Dir())
		check(t, err)
		d.alwaysCopy, d.keepOpaque = b.d.alwaysCopy, b.d.keepOpaque
		b.d = d
		stop = r.IntN(3) > 0
	}
	_, err := b.d.Commit(context.Background(), CommitOptions{})
	check(t, err)
}
