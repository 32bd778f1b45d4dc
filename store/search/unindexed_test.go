package search

import (
	"fmt"
	"iter"
	"path/filepath"
	"testing"
)

// TestSearch_FindsUnindexedLines checks that lines that are not indexed yet are found together with indexed ones: each
// once, in order, within the limit.
//
// FAULT: G13
func TestSearch_FindsUnindexedLines(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("needle %d", i))
	}
	everything := lines(0, texts...)
	must(t, x.Add(t.Context(), Batch{Session: "a", Lines: everything[:25]}))
	unindexed := func(indexed map[string]uint64) iter.Seq2[Batch, error] {
		if indexed["a"] != everything[24].To {
			t.Errorf("indexed up to %d, want %d", indexed["a"], everything[24].To)
		}
		return func(yield func(Batch, error) bool) {
			for i := 20; i < len(everything); i += 5 { // some are indexed
				if !yield(Batch{Session: "a", Lines: everything[i : i+5]}, nil) {
					return
				}
			}
			yield(Batch{Session: "b", Lines: lines(7, "straw", "needle of b")}, nil)
		}
	}
	found := all(t, x, Query{Text: "NEEDLE", Session: "a", Unindexed: func(m map[string]uint64) iter.Seq2[Batch, error] { return unindexed(m) }})
	if len(found) != 40+1 { // the caller selects the sessions
		t.Fatalf("%d hits", len(found))
	}
	for limit := 1; limit < 40; limit += 7 {
		newest := all(t, x, Query{Text: "needle", Limit: limit, Unindexed: unindexed})
		if len(newest) != limit {
			t.Errorf("limit %d: %d hits", limit, len(newest))
		}
		last := Cursor{}
		for i, h := range newest {
			if i > 0 && h.Cursor().compare(last) >= 0 {
				t.Errorf("limit %d: hit %d is newer than the one before", limit, i)
			}
			last = h.Cursor()
		}
	}
}
