package search

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/longterm-dev/longterm/store"
)

// TestAddAgain checks that a batch that was added is not added twice, in whole or in part.
func TestAddAgain(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	one, two := lines(0, "one", "two"), lines(8, "three", "", "four")
	must(t, x.Add(ctx, Batch{Session: "s", Lines: one}))
	must(t, x.Add(ctx, Batch{Session: "s", Lines: append(one, two...), To: 100}))
	must(t, x.Add(ctx, Batch{Session: "s", Lines: two}))
	must(t, x.Add(ctx, Batch{Session: "s", To: 50}))
	if got := all(t, x, Query{Regexp: "."}); len(got) != 4 || got[0].Text != "four" || got[0].From != 15 {
		t.Errorf("%+v", got)
	}
	if at, err := x.IndexedTo(ctx, "s"); at != 100 || err != nil {
		t.Errorf("indexed %d %v", at, err)
	}
	for _, bad := range [][]Line{{{From: 5, To: 5}}, {{From: 0, To: 9}, {From: 8, To: 10}}, {{From: 1 << 62, To: 1<<62 + 1}}} {
		if err := x.Add(ctx, Batch{Session: "s", Lines: bad}); !errors.Is(err, ErrLines) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestCrash checks that a copy of the files between any two batches, which equals the state after a crash, has all
// earlier batches and accepts the later ones without loss or repetition.
//
// FEATURES: R92, R93
func TestCrash(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	path := filepath.Join(dir, "search.db")
	x := openTest(t, path, small)
	s := newStream(3)
	var batches []Batch
	for i := range 16 {
		batches = append(batches, s.batch(fmt.Sprint("s", i%3), 300))
	}
	want := ""
	for i, b := range batches {
		if i%2 == 0 {
			must(t, x.Add(ctx, b))
		} else { // dies before it can make groups
			x.mu.Lock()
			must(t, x.inTx(ctx, "add", func(tx *sql.Tx) error { return x.add(ctx, tx, b) }))
			x.mu.Unlock()
		}
		crashed := filepath.Join(dir, fmt.Sprint("crash", i))
		must(t, os.Mkdir(crashed, 0o700))
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + suffix)
			must(t, err)
			must(t, os.WriteFile(filepath.Join(crashed, "search.db"+suffix), data, 0o600))
		}
		after := openTest(t, filepath.Join(crashed, "search.db"), small)
		if after.Rebuilt() {
			t.Fatalf("after batch %d: rebuilt", i)
		}
		if at, err := after.IndexedTo(ctx, b.Session); at != b.Lines[len(b.Lines)-1].To || err != nil {
			t.Errorf("after batch %d: indexed %d %v", i, at, err)
		}
		for _, b := range batches[max(0, i-5):] { // some were added before
			must(t, after.Add(ctx, b))
		}
		got := fmt.Sprint(all(t, after, Query{Regexp: "."}))
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("after batch %d, with the rest added: %d bytes of hits, want %d", i, len(got), len(want))
		}
		must(t, after.Close())
	}
	if got := fmt.Sprint(all(t, x, Query{Regexp: "."})); got != want {
		t.Error("without a crash it is different")
	}
}

// killedEnv makes the test binary add batches until it is killed.
const killedEnv = "LONGTERM_TEST_SEARCH_ADD"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedEnv); path != "" {
		addForever(path)
	}
	os.Exit(m.Run())
}

func addForever(path string) {
	x, err := openWith(path, small)
	s := newStream(4)
	for err == nil {
		b := s.batch("s", 500)
		if err = x.Add(context.Background(), b); err == nil {
			fmt.Println(b.Lines[len(b.Lines)-1].To)
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// FEATURES: R92, R93
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	must(t, err)
	for round := range 5 {
		path := filepath.Join(t.TempDir(), "search.db")
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), killedEnv+"="+path)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		told := uint64(0)
		for in, n := bufio.NewScanner(out), 0; n < 10+7*round && in.Scan(); n++ {
			if _, err := fmt.Sscan(in.Text(), &told); err != nil {
				t.Errorf("child: %s", in.Text())
			}
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed

		x := openTest(t, path, small)
		at, err := x.IndexedTo(context.Background(), "s")
		must(t, err)
		if at < told || x.Rebuilt() {
			t.Errorf("indexed to %d, child had reported %d; rebuilt %v", at, told, x.Rebuilt())
		}
		m := model{}
		for s := newStream(4); s.offsets["s"] < at; {
			m["s"] = append(m["s"], s.batch("s", 500).Lines...)
		}
		m.check(t, x, Query{Regexp: "[^ ]"})
		m.check(t, x, Query{Text: "er"})
	}
}

// TestCorrupt checks that a corrupt index is replaced by an empty one, and that the last corrupt one is kept.
//
// FEATURES: R93
func TestCorrupt(t *testing.T) {
	ctx := context.Background()
	for name, damage := range map[string]func(b []byte) []byte{
		"no database":  func([]byte) []byte { return []byte(strings.Repeat("not a database ", 1000)) },
		"bad header":   func(b []byte) []byte { copy(b, "SQLite format 9"); return b },
		"bad schema":   func(b []byte) []byte { clear(b[100:4096]); return b },
		"half is gone": func(b []byte) []byte { return b[:len(b)/2] },
		"older format": func(b []byte) []byte { b[63] = 99; return b }, // user_version
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "search.db")
			x := openTest(t, path, small)
			s := newStream(1)
			for range 20 {
				must(t, x.Add(ctx, s.batch("s", 2000)))
			}
			must(t, x.Close())
			b, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, damage(b), 0o600))
			x = openTest(t, path, small)
			if at, err := x.IndexedTo(ctx, "s"); !x.Rebuilt() || at != 0 || err != nil {
				t.Errorf("rebuilt %v, indexed %d %v", x.Rebuilt(), at, err)
			}
			if _, err := os.Stat(path + ".corrupt"); err != nil {
				t.Error(err)
			}
			must(t, x.Add(ctx, Batch{Session: "s", Lines: lines(0, "again")}))
			if got := all(t, x, Query{Text: "again"}); len(got) != 1 {
				t.Errorf("%d hits", len(got))
			}
		})
	}
}

// TestDamageFound checks that damage that only a search finds is reported, and makes the next Open create a new index.
//
// FEATURES: R93
func TestDamageFound(t *testing.T) {
	ctx := context.Background()
	for _, statement := range []string{
		"UPDATE texts SET data = zeroblob(50)", "UPDATE pages SET data = x'0007ffffff'", "UPDATE tails SET data = x'07'",
	} {
		path := filepath.Join(t.TempDir(), "search.db")
		x := openTest(t, path, small)
		s := newStream(1)
		for range 20 {
			must(t, x.Add(ctx, s.batch("s", 990)))
		}
		_, err := x.write.Exec(statement)
		must(t, err)
		var last error
		for _, err := range x.Search(ctx, Query{Text: "e"}) {
			last = err
		}
		if !errors.Is(last, store.ErrCorrupt) || !strings.Contains(last.Error(), path) {
			t.Errorf("%s: %v", statement, last)
		}
		must(t, x.Close())
		for i, want := range []bool{true, false} {
			x = openTest(t, path, small)
			if x.Rebuilt() != want {
				t.Errorf("%s: open %d: rebuilt %v", statement, i, x.Rebuilt())
			}
			must(t, x.Close())
		}
	}
}

// TestFullDisk checks that a full disk loses only the batch, which is added again later, and not the index.
//
// FEATURES: R93
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	s := newStream(1)
	first, second := s.batch("s", 300), s.batch("s", 60_000)
	must(t, x.Add(ctx, first))
	_, err := x.write.Exec("PRAGMA max_page_count = 20")
	must(t, err)
	before := x.pending
	if err := x.Add(ctx, second); !errors.Is(err, store.ErrFull) || x.pending != before {
		t.Errorf("%v, pending %+v, before %+v", err, x.pending, before)
	}
	if at, err := x.IndexedTo(ctx, "s"); at != first.Lines[len(first.Lines)-1].To || err != nil || isMarked(x.path) {
		t.Errorf("indexed %d %v, marked %v", at, err, isMarked(x.path))
	}
	_, err = x.write.Exec("PRAGMA max_page_count = 100000")
	must(t, err)
	must(t, x.Add(ctx, second))
	m := model{"s": append(first.Lines, second.Lines...)}
	m.check(t, x, Query{Text: "er"})
}

func TestClosed(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	must(t, x.Add(context.Background(), Batch{Session: "s", Lines: lines(0, "a b", "b c")}))
	n := 0
	for h, err := range x.Search(context.Background(), Query{Text: "b"}) {
		if n++; n == 1 {
			must(t, x.Close())
		} else if err != nil && h.Text != "" {
			t.Errorf("%+v with %v", h, err)
		}
	}
	for _, err := range x.Search(context.Background(), Query{Text: "b"}) {
		if err == nil {
			t.Error("found something in a closed index")
		}
	}
	if x.Add(context.Background(), Batch{Session: "s", Lines: lines(9, "d")}) == nil || isMarked(x.path) {
		t.Error("added to a closed index, or reported as damage")
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := t.TempDir()
	x := openTest(t, filepath.Join(dir, "search.db"), small)
	must(t, x.Add(context.Background(), Batch{Session: "s", Lines: lines(0, "x")}))
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 3 {
		t.Errorf("%v", entries)
	}
	for _, e := range entries {
		if st, err := e.Info(); err != nil || st.Mode() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), st.Mode(), err)
		}
	}
}

// TestRoom checks that forgotten lines free their space.
//
// FEATURES: R92
func TestRoom(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	s := newStream(1)
	count := func(what string) (n int) {
		must(t, x.write.QueryRow(what).Scan(&n))
		return n
	}
	empty := count("PRAGMA page_count")
	for i := range 200 {
		must(t, x.Add(ctx, s.batch(fmt.Sprint("s", i%5), 1000)))
	}
	full := count("PRAGMA page_count")
	for i := range 4 {
		must(t, x.Forget(ctx, fmt.Sprint("s", i)))
	}
	must(t, x.ForgetBefore(ctx, "s4", s.offsets["s4"]))
	must(t, x.Add(ctx, Batch{Session: "little", Lines: lines(0, "one", "line more")})) // which waits for more
	if n := count("SELECT count(*) FROM tails"); n != 1 {
		t.Errorf("%d tails", n)
	}
	must(t, x.ForgetBefore(ctx, "little", 100))
	for _, table := range []string{"tails", "blocks", "texts", "groups", "pages"} {
		if n := count("SELECT count(*) FROM " + table); n != 0 {
			t.Errorf("%d rows in %s", n, table)
		}
	}
	if now := count("PRAGMA page_count"); full < 2*empty || now > empty+5 {
		t.Errorf("%d pages when new, %d with text, %d when all is forgotten", empty, full, now)
	}
	if x.pending.blocks != 0 || x.pending.tails != 0 {
		t.Errorf("pending %+v", x.pending)
	}
	must(t, x.Forget(ctx, "nobody"))
}

// TestTailsAreFew checks that many sessions with little output leave few tails.
func TestTailsAreFew(t *testing.T) {
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	for i := range 100 {
		must(t, x.Add(context.Background(), Batch{Session: fmt.Sprint("s", i), Lines: lines(0, fmt.Sprint("session no ", i))}))
	}
	if x.pending.tailCount > small.tailCount || x.pending.blockCount >= small.groupLen {
		t.Errorf("%+v", x.pending)
	}
	if got := all(t, x, Query{Text: "session no"}); len(got) != 100 {
		t.Errorf("%d hits", len(got))
	}
}

// TestConcurrent checks that searches see whole batches while others are added, and those of a session in order.
func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	var writers, searchers sync.WaitGroup
	done := make(chan struct{})
	for w := range 3 {
		writers.Go(func() {
			at := uint64(0)
			for i := range 60 {
				b := Batch{Session: fmt.Sprint("s", w), Lines: lines(at, fmt.Sprint("first ", i), fmt.Sprint("second ", i))}
				if err := x.Add(ctx, b); err != nil {
					t.Error(err)
				}
				at = b.Lines[1].To
			}
		})
	}
	for range 3 {
		searchers.Go(func() {
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true // one more, of all there is
				default:
				}
				next := map[string]uint64{} // start of the previously found line
				lines := map[string]int{}
				for h, err := range x.Search(ctx, Query{Regexp: "first|second"}) {
					if err != nil {
						t.Error(err)
						return
					}
					if at, ok := next[h.Session]; ok && at != h.To {
						t.Errorf("session %s: line [%d, %d) before %d", h.Session, h.From, h.To, at)
					}
					next[h.Session] = h.From
					lines[h.Session]++
				}
				for session, n := range lines {
					if n%2 != 0 || stop && n != 120 {
						t.Errorf("session %s: %d lines", session, n)
					}
				}
			}
		})
	}
	writers.Wait()
	close(done)
	searchers.Wait()
}

// TestSearchWhileChanging checks that a search sees the lines that existed at its start, while blocks and groups are
// written, but no lines that are forgotten during it.
func TestSearchWhileChanging(t *testing.T) {
	ctx := context.Background()
	x := openTest(t, filepath.Join(t.TempDir(), "search.db"), small)
	s := newStream(8)
	for i := range 60 {
		must(t, x.Add(ctx, s.batch(fmt.Sprint("s", i%3), 400)))
	}
	q := Query{Text: "e"}
	want := all(t, x, q)
	var got []Hit
	for h, err := range x.Search(ctx, q) {
		must(t, err)
		if got = append(got, h); len(got)%20 == 0 {
			must(t, x.Add(ctx, s.batch(fmt.Sprint("s", len(got)%3), 400)))
		}
	}
	if len(want) < 100 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d hits, want %d", len(got), len(want))
	}
	n := 0
	for _, err := range x.Search(ctx, q) {
		must(t, err)
		if n++; n == 1 {
			must(t, errors.Join(x.Forget(ctx, "s0"), x.Forget(ctx, "s1"), x.Forget(ctx, "s2")))
		}
	}
	if n == 0 || n > len(want)/2 {
		t.Errorf("%d hits after all was forgotten", n)
	}
}
