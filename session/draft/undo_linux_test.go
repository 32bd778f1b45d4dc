package draft

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// merged opens the root as the process in the draft sees it.
func (b *bed) merged(string) (*os.File, error) {
	return os.Open(fmt.Sprintf("/proc/%d/root%s", b.cmd.Process.Pid, filepath.Join(b.at, "merged")))
}

// TestUndo_RestoresTheTreeBeforeACommand runs random scripts as several commands, and undoes some of them.
//
// FEATURES: R125
func TestUndo_RestoresTheTreeBeforeACommand(t *testing.T) {
	ctx := context.Background()
	for seed := range seeds(4, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(seed), 6))
			b := newBed(t, func(lower string) { randomTree(t, r, lower) })
			direct := filepath.Join(t.TempDir(), "direct")
			check(t, copyTree(b.lower, direct))
			ops := randomOps(t, r, direct, 30)
			b.mount()
			var before []map[string]string // before[n]: the tree before command n
			command := 0
			for len(ops) > 0 {
				before = append(before, withoutLinks(b.seenInside()))
				n := min(1+r.IntN(8), len(ops))
				b.do(ops[:n]...)
				ops = ops[n:]
				_, err := b.d.SaveVersions(ctx, command, 1<<30)
				check(t, err)
				command++
			}
			for range 2 {
				to := r.IntN(len(before))
				_, err := b.d.Undo(ctx, to, b.merged)
				if errors.Is(err, ErrNotUndoable) {
					continue // the commands changed nothing
				}
				check(t, err)
				if diff := difference(withoutRoot(before[to]), withoutRoot(withoutLinks(b.seenInside()))); diff != nil {
					t.Fatalf("before command %d of %d: %q", to, len(before), diff)
				}
				before = before[:to+1]
				_, err = b.d.SaveVersions(ctx, command, 1<<30) // changes of the undo
				check(t, err)
				command++
			}
		})
	}
}

// withoutRoot removes the root's own attributes.
func withoutRoot(all map[string]string) map[string]string {
	delete(all, strconv.Quote("."))
	return all
}

// TestUndo_LeavesTheRoot_WhenGivenTheRootItself writes nothing if the caller passes the root instead of the session's view of it.
//
// FEATURES: R125
func TestUndo_LeavesTheRoot_WhenGivenTheRootItself(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.mount()
	b.must(op{Do: "append", A: []byte("keep/f"), Data: "more"})
	_, err := b.d.SaveVersions(ctx, 1, 1<<30)
	check(t, err)
	before := tree(t, b.lower)
	if _, err := b.d.Undo(ctx, 1, os.Open); !errors.Is(err, ErrNoView) {
		t.Error(err)
	}
	if diff := difference(before, tree(t, b.lower)); diff != nil {
		t.Errorf("the root changed: %q", diff)
	}
}

// TestUndo_Fails_WhenTheLimitLeftNoRoom changes nothing if a version is missing.
//
// FEATURES: R125
func TestUndo_Fails_WhenTheLimitLeftNoRoom(t *testing.T) {
	ctx := context.Background()
	b := newBed(t, fillEverything(t))
	b.mount()
	for i := range 3 {
		b.must(op{Do: "append", A: []byte("keep/f"), Data: "more"})
		_, err := b.d.SaveVersions(ctx, i, 12)
		check(t, err)
	}
	now := b.seenInside()
	if _, err := b.d.Undo(ctx, 2, b.merged); !errors.Is(err, ErrNotUndoable) {
		t.Error(err)
	}
	if diff := difference(now, b.seenInside()); diff != nil {
		t.Errorf("%q", diff)
	}
	if _, err := b.d.Undo(ctx, 9, b.merged); !errors.Is(err, ErrNotUndoable) {
		t.Error(err)
	}
	_, err := b.d.Undo(ctx, 1, b.merged) // its version of 10 bytes is stored
	check(t, err)
}
