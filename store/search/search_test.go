package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isTruncated(err error, t **Truncated) bool { return errors.As(err, t) }

// small makes blocks, groups and evictions out of a few lines.
var small = limits{block: 200, tails: 1500, tailCount: 4, group: 2500, groupLen: 20}

func openTest(t testing.TB, path string, l limits) *Index {
	t.Helper()
	x, err := openWith(path, l)
	must(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func all(t testing.TB, x *Index, q Query) []Hit {
	t.Helper()
	var list []Hit
	for h, err := range x.Search(context.Background(), q) {
		must(t, err)
		list = append(list, h)
	}
	return list
}

// TestExact checks that any sequence of additions, removals and queries, with the index closed and opened in between,
// finds the same as a linear search.
//
// FEATURES: R92
func TestExact(t *testing.T) {
	for seed := range uint64(tier.Times(2, 5)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &world{rnd: rand.New(rand.NewPCG(seed, 1)), model: model{}, ends: map[string]uint64{}, clock: 1}
			path := filepath.Join(t.TempDir(), "search.db")
			x := openTest(t, path, small)
			for range 300 {
				switch n := w.rnd.IntN(40); {
				case n == 0:
					must(t, x.Close())
					x = openTest(t, path, small)
				case n < 3:
					w.forget(t, x)
				case n < 25:
					w.add(t, x)
				default:
					w.model.check(t, x, w.query())
				}
			}
			for session, end := range w.ends {
				if got, err := x.IndexedTo(context.Background(), session); got != end || err != nil {
					t.Errorf("session %s indexed to %d %v, want %d", session, got, err, end)
				}
			}
			var groups int
			must(t, x.read.QueryRow("SELECT count(*) FROM groups").Scan(&groups))
			if groups < 3 || x.Rebuilt() {
				t.Errorf("%d groups, rebuilt %v: little was tried", groups, x.Rebuilt())
			}
			again, err := countPending(context.Background(), x.read)
			must(t, err)
			if again != x.pending {
				t.Errorf("pending %+v, counted %+v", x.pending, again)
			}
		})
	}
}

func lines(at uint64, texts ...string) (list []Line) {
	for i, text := range texts {
		l := Line{From: at, To: at + uint64(len(text)) + 1, Time: time.Unix(1000, int64(at)+int64(i)), Text: text}
		at = l.To
		list = append(list, l)
	}
	return list
}

// FEATURES: R92
func TestFindsInside(t *testing.T) {
	texts := []string{
		"ld: undefined reference to `main'", "\tmain.go:42:7: boom", "error[E0425]: cannot find", "端末の記録を検索する",
		"100%_done\\", "Straße ΣΊΣΥΦΟΣ", "\xff\xfe broken", "two\nin one", "K for Kelvin",
	}
	for name, l := range map[string]limits{"in a tail": defaultLimits, "in blocks": {block: 1, tails: 1 << 20, tailCount: 9, group: 1 << 20, groupLen: 100},
		"in groups": {block: 1, tails: 1, tailCount: 1, group: 1, groupLen: 1}} {
		x := openTest(t, filepath.Join(t.TempDir(), "search.db"), l)
		must(t, x.Add(context.Background(), Batch{Session: "s", Lines: lines(0, texts...)}))
		for _, c := range []struct {
			q     Query
			text  string
			match string
		}{
			{Query{Text: "defined ref"}, texts[0], "defined ref"},
			{Query{Text: "`MAIN'"}, texts[0], "`main'"},
			{Query{Text: "main.go:42"}, texts[1], "main.go:42"},
			{Query{Text: "e0425"}, texts[2], "E0425"},
			{Query{Text: "記"}, texts[3], "記"},
			{Query{Text: "録を検"}, texts[3], "録を検"},
			{Query{Text: "%_"}, texts[4], "%_"},
			{Query{Text: `\`}, texts[4], `\`},
			{Query{Text: "σίσυφος"}, texts[5], "ΣΊΣΥΦΟΣ"},
			{Query{Text: "\ufffd bro"}, "\ufffd broken", "\ufffd bro"},
			{Query{Text: "two in"}, "two in one", "two in"},
			{Query{Text: "k for k"}, texts[8], "K for K"},
			{Query{Text: "K for K", CaseSensitive: true}, texts[8], "K for K"},
			{Query{Text: "E0425", CaseSensitive: true}, texts[2], "E0425"},
			{Query{Text: "e0425", CaseSensitive: true}, "", ""},
			{Query{Words: []string{"find", "error"}}, texts[2], "error"},
			{Query{Words: []string{"fin"}}, "", ""},
			{Query{Words: []string{"done"}}, "", ""}, // _ belongs to words
			{Query{Regexp: `main\.go:\d+`}, texts[1], "main.go:42"},
			{Query{Regexp: `^.\d{4}|e\d{4}`}, texts[2], "E0425"},
			{Query{Regexp: `reference$`}, "", ""},
			{Query{Text: "undefined", Regexp: "main"}, texts[0], "undefined"},
			{Query{Text: "nowhere"}, "", ""},
		} {
			got := all(t, x, c.q)
			switch {
			case c.text == "" && len(got) == 0:
			case len(got) != 1 || got[0].Text != c.text || len(got[0].Matches) == 0:
				t.Errorf("%s: %+v: %+v", name, c.q, got)
			default:
				if r := got[0].Matches[0]; got[0].Text[r.Start:r.End] != c.match {
					t.Errorf("%s: %+v: match %q", name, c.q, got[0].Text[r.Start:r.End])
				}
			}
		}
	}
}

func TestLongLine(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	long := strings.Repeat("ü", 5000) + "needle" + strings.Repeat("日", 5000)
	huge := strings.Repeat("日", MaxLine)
	must(t, x.Add(context.Background(), Batch{Session: "s", Lines: lines(0, long, huge)}))
	got := all(t, x, Query{Text: "NEEDLE"})
	if len(got) != 1 {
		t.Fatalf("%d hits", len(got))
	}
	h := got[0]
	r := h.Matches[0]
	if !h.Cut || len(h.Text) > snippetBytes+utf8.UTFMax || !utf8.ValidString(h.Text) || h.Text[r.Start:r.End] != "needle" || !strings.HasPrefix(long[h.Start:], h.Text) {
		t.Errorf("%+v", h)
	}
	if got := all(t, x, Query{Regexp: "日$"}); len(got) != 2 || len(got[0].Text) > snippetBytes+utf8.UTFMax {
		t.Errorf("%d hits", len(got))
	}
}

func TestBadQueries(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	for _, q := range []Query{{}, {Session: "s"}, {Regexp: "("}, {Regexp: `\xff(`}, {Text: "a\nb"}, {Text: "\xff"}, {Words: []string{""}}} {
		n := 0
		for _, err := range x.Search(context.Background(), q) {
			if n++; !errors.Is(err, ErrQuery) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if n != 1 {
			t.Errorf("%+v: %d results", q, n)
		}
	}
}

// TestTruncated checks that a search for text that the index cannot look up stops, returns its position, and continues
// there, and that all its parts equal the result of an unbounded search.
func TestTruncated(t *testing.T) {
	w := &world{rnd: rand.New(rand.NewPCG(5, 5)), model: model{}, ends: map[string]uint64{}, clock: 1}
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	for range 150 {
		w.add(t, x)
	}
	for _, re := range []string{"[a-e][^a-e]", "a.*b"} {
		checkTruncated(t, x, Query{Regexp: re})
	}
}

func checkTruncated(t *testing.T, x *Index, q Query) {
	t.Helper()
	want := all(t, x, q)
	q.ScanBytes = 300
	var got []Hit
	stops := 0
	for done := false; !done; {
		done = true
		before := q.Before
		for h, err := range x.Search(context.Background(), q) {
			if stop := (*Truncated)(nil); errors.As(err, &stop) {
				if before != (Cursor{}) && stop.Before.compare(before) >= 0 {
					t.Fatalf("no progress from %+v to %+v", before, stop.Before)
				}
				q.Before, done, stops = stop.Before, false, stops+1
				continue
			}
			must(t, err)
			got = append(got, h)
		}
	}
	if stops < 20 || len(want) < 100 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d stops, %d hits, want %d", stops, len(got), len(want))
	}
}

// TestPages checks that pages by cursor form the whole result.
func TestPages(t *testing.T) {
	w := &world{rnd: rand.New(rand.NewPCG(6, 5)), model: model{}, ends: map[string]uint64{}, clock: 1}
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	for range 100 {
		w.add(t, x)
	}
	want := all(t, x, Query{Text: "ab"})
	var got []Hit
	for q := (Query{Text: "ab", Limit: 3}); ; q.Before = got[len(got)-1].Cursor() {
		page := all(t, x, q)
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
	}
	if len(want) < 20 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d hits, want %d", len(got), len(want))
	}
}

func TestCancelled(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	must(t, x.Add(context.Background(), Batch{Session: "s", Lines: lines(0, strings.Split(strings.Repeat("abc,", 500), ",")...)}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range x.Search(ctx, Query{Text: "abc"}) {
		if n++; n == 5 {
			cancel()
		}
		last = err
	}
	if n != 6 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d results, then %v", n, last)
	}
	if err := x.Add(ctx, Batch{Session: "t", Lines: lines(0, "x")}); !errors.Is(err, context.Canceled) {
		t.Errorf("add: %v", err)
	}
	for _, err := range x.Search(ctx, Query{Text: "abc"}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("search: %v", err)
		}
	}
	if isMarked(x.path) {
		t.Error("reported as damage")
	}
	if at, err := x.IndexedTo(context.Background(), "t"); at != 0 || err != nil {
		t.Errorf("indexed %d %v", at, err)
	}
}
