//go:build unix

package registry

import (
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/store/search"
)

// TestIndexIsOpenedWhenItCanBe checks that an index that could not be opened, as on a full disk, is opened once
// possible, without a restart. Sessions removed in the meantime are not found in it.
//
// FEATURES: R92
func TestIndexIsOpenedWhenItCanBe(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	h := &host{}
	r.host = h
	r.OpenIndex()
	fillIndex(t, r)
	path := r.Index.path
	r.Index.close()
	aside := path + ".aside"
	for _, err := range []error{os.Rename(path, aside), os.Mkdir(path, 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.OpenIndex()
	r.Index.retryOpen(t.Context())
	if p := r.Index.Problem(); r.Index.Usable() || !strings.Contains(p, "retried automatically") {
		t.Fatalf("usable %v, problem %q", r.Index.Usable(), p)
	}
	if r.Index.forget(t.Context(), "gone"); r.Index.Usable() {
		t.Fatal("usable")
	}
	for _, err := range []error{os.Remove(path), os.Rename(aside, path)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Index.retryOpen(t.Context())
	if p := r.Index.Problem(); !r.Index.Usable() || p != "" || len(h.notices) != 0 {
		t.Fatalf("once it can be opened: usable %v, problem %q, and notices, which stay: %q", r.Index.Usable(), p, h.notices)
	}
	defer r.Index.close()
	if found := foundIn(t, r); found != "kept" {
		t.Errorf("found in %q", found)
	}
}

// fillIndex indexes two sessions, of which one still has a history.
func fillIndex(t *testing.T, r *Registry) {
	t.Helper()
	for id, text := range map[string]string{"gone": "needle one", "kept": "needle two"} {
		line := search.Line{To: uint64(len(text)), Time: time.Unix(1, 0), Text: text}
		if err := r.Index.opened.Load().Add(t.Context(), search.Batch{Session: id, To: line.To, Lines: []search.Line{line}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(r.dirs.Session("kept"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// TestRemovedIsNotFound checks that output that the index could not drop when its session was removed, on a full disk,
// is not found.
//
// FEATURES: R92, R93
func TestRemovedIsNotFound(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	r.OpenIndex()
	defer r.Index.close()
	fillIndex(t, r)
	if err := r.add(NewHandle(store.Session{ID: "kept", Name: "kept"})); err != nil {
		t.Fatal(err)
	}
	if found := found(t, r.Index.Search(t.Context(), search.Query{Text: "needle", Limit: 10})); found != "kept" {
		t.Errorf("found in %q", found)
	}
	none := func(string) bool { return false }
	if found := found(t, r.Index.Search(t.Context(), search.Query{Text: "needle", Limit: 10, Within: none})); found != "" {
		t.Errorf("found in %q, want no hits", found)
	}
}

// foundIn returns the sessions in which the index finds the needle.
func foundIn(t *testing.T, r *Registry) string {
	t.Helper()
	return found(t, r.Index.opened.Load().Search(t.Context(), search.Query{Text: "needle", Limit: 10}))
}

func found(t *testing.T, hits iter.Seq2[search.Hit, error]) string {
	t.Helper()
	var found []string
	for hit, err := range hits {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, hit.Session)
	}
	return strings.Join(found, " ")
}

// TestIndexIsComparedWithTheHistories checks that output that was removed, or dropped from a history's start, while no
// index could be opened is not found after a restart: the index is compared with the histories.
//
// FEATURES: R92
func TestIndexIsComparedWithTheHistories(t *testing.T) {
	t.Parallel()
	r := testRegistry(t)
	r.OpenIndex()
	fillIndex(t, r)
	r.Index.close()
	r.OpenIndex() // the next daemon's, which got no event
	defer r.Index.close()
	r.Index.removeStale(t.Context())
	if found := foundIn(t, r); found != "kept" {
		t.Errorf("found in %q", found)
	}
}

// TestIndexForgetsWhatHistoriesLost checks that output dropped from the start of a history without the index's
// knowledge is dropped from it at the next comparison.
//
// FEATURES: R92
func TestIndexForgetsWhatHistoriesLost(t *testing.T) {
	t.Parallel()
	var id string
	r, _ := hosted(t, func(r *Registry) { id = withHistory(t, r, "long", time.Now(), 4) })
	r.AdoptAll(t.Context(), nil, nil)
	line := search.Line{To: 10, Time: time.Unix(1, 0), Text: "the needle"}
	if err := r.Index.opened.Load().Add(t.Context(), search.Batch{Session: id, To: line.To, Lines: []search.Line{line}}); err != nil {
		t.Fatal(err)
	}
	if r.Index.removeStale(t.Context()); foundIn(t, r) != id {
		t.Fatalf("before: found in %q", foundIn(t, r))
	}
	e := r.ByID(id)
	if err := e.Session.Retain(time.Now(), journal.Retention{MaxBytes: 2 << 20}); err != nil {
		t.Fatal(err)
	}
	r.Index.removeStale(t.Context())
	if start, _ := e.Session.OutputRange(); start == 0 || foundIn(t, r) != "" {
		t.Errorf("the history starts at %d, found in %q", start, foundIn(t, r))
	}
}

// TestSearch_FindsOutput_BeforeItIsIndexed checks that a search finds output that is not indexed yet, and finds it
// once, however far the index is.
//
// FEATURES: R92
// FAULT: G13
func TestSearch_FindsOutput_BeforeItIsIndexed(t *testing.T) {
	t.Parallel()
	r := histories(t, "one", "two")
	found := func(when string, want int) {
		t.Helper()
		n := 0
		for hit, err := range r.Index.Search(t.Context(), search.Query{Text: "was printed"}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; hit.Text != "what was printed" {
				t.Errorf("%s: %q", when, hit.Text)
			}
		}
		if n != want {
			t.Errorf("%s: %d hits, want %d", when, n, want)
		}
	}
	found("at first", 2)
	r.Index.feeding <- struct{}{} // it is busy
	r.Index.CatchUp(t.Context())
	found("while it could not be fed", 2)
	<-r.Index.feeding
	r.Index.CatchUp(t.Context())
	found("once it was fed", 2)
	clear(r.Index.progress) // another daemon's
	found("after a restart", 2)
}
