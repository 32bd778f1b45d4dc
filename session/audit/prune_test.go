package audit

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// newTestWriter returns a writer without its goroutine, with a clock that the test sets.
func newTestWriter(t *testing.T, dir string, fsys FS, now *time.Time) *writer {
	t.Helper()
	l := openLog(t, Options{Dir: dir, FS: fsys, SegmentBytes: 900}) // sets the defaults
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o := l.options
	o.Now = func() time.Time { return *now }
	began := *now
	o.elapsed = func() time.Duration { return now.Sub(began) }
	w := &writer{options: &o, opened: began}
	if !w.prepare() {
		t.Fatal("the log is not ready")
	}
	t.Cleanup(func() { _ = w.close() })
	return w
}

// fill writes n records.
func (w *writer) fill(t *testing.T, now *time.Time, n int) {
	t.Helper()
	for range n {
		*now = now.Add(time.Hour)
		for _, r := range someRecords() {
			r.Time = time.Time{}
			if _, err := w.write([]Record{r}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pruneAll drops segments until none is left to drop.
func (w *writer) pruneAll(keep Retention) {
	for w.prune(keep) {
	}
}

// prunedLog returns a log that was pruned twice, and its content before the second time.
func prunedLog(t *testing.T) (now, before memoryLog) {
	t.Helper()
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := newTestWriter(t, dir, noSyncFS{}, &clock)
	w.fill(t, &clock, 4)
	w.pruneAll(Retention{Bytes: 3000})
	w.fill(t, &clock, 3)
	w.sync()
	before = loadLog(t, filepath.Dir(dir))
	w.pruneAll(Retention{Bytes: 3000})
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return loadLog(t, filepath.Dir(dir)), before
}

// TestPrune_DropsOldRecords checks that records beyond the limits are dropped, and the rest is provable, also after a
// daemon continues the log.
//
// FEATURES: R109
func TestPrune_DropsOldRecords(t *testing.T) {
	for name, keep := range map[string]Retention{"bytes": {Bytes: 3000}, "age": {Age: 2 * time.Hour}, "both": {Age: 1000 * time.Hour, Bytes: 3000}, "nothing": {}, "all": {Age: 1}} {
		clock := time.Unix(1_700_000_000, 0)
		dir := filepath.Join(t.TempDir(), "audit")
		w := newTestWriter(t, dir, noSyncFS{}, &clock)
		w.fill(t, &clock, 6)
		head := w.last
		w.pruneAll(keep)
		r := verifyLog(t, dir)
		if !r.OK || r.Head.Seq < head.Seq || (r.Dropped == nil) != (name == "nothing") || r.Dropped != nil && (r.First != r.Dropped.To+1 || r.Dropped.Damaged != 0 || r.Dropped.Until.IsZero()) {
			t.Errorf("%s: %+v", name, r)
		}
		var bytes int64
		for file, b := range loadLog(t, dir) {
			if bytes += int64(len(b)); strings.HasSuffix(file, segmentExt) && name == "age" {
				if got, err := Read(dir, Query{}); err != nil || clock.Sub(got[0].Time) > keep.Age+2*time.Hour { // segments are kept completely
					t.Errorf("%s: the oldest record is of %s, %v", name, got[0].Time, err)
				}
			}
		}
		if keep.Bytes > 0 && bytes > keep.Bytes+900 || r.Records == 0 {
			t.Errorf("%s: got %d bytes, %d records", name, bytes, r.Records)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		l := openLog(t, Options{Dir: dir})
		appendAll(t, l, Record{Kind: Line, Line: "after"})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if again := verifyLog(t, dir, head); !again.OK && r.First <= head.Seq || again.Records != r.Records+1 {
			t.Errorf("%s, continued: got %+v", name, again)
		}
	}
}

// TestPrune_OpenLog checks that an open log prunes itself while records are written, and notifies followers.
func TestPrune_OpenLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, Options{Dir: dir, SegmentBytes: 900, firstPruneDelay: time.Nanosecond, Retention: func() Retention { return Retention{} }})
	for range 5 {
		appendAll(t, l, someRecords()...)
	}
	newest := l.Head().Seq
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, Options{Dir: dir, SegmentBytes: 900, firstPruneDelay: time.Nanosecond, Retention: func() Retention { return Retention{Bytes: 2000} }})
	if err := l.Await(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, someRecords()...)
	if r := verifyLog(t, dir); !r.OK || r.Dropped == nil {
		t.Errorf("%+v", r)
	}
}

// TestVerify_TamperingAfterPrune checks that changes around the cut are found: each byte, record and segment of the
// rest, and missing records that were not dropped.
//
// FEATURES: R109
func TestVerify_TamperingAfterPrune(t *testing.T) {
	tier.Full(t)
	w, before := prunedLog(t)
	dir := w.store(t)
	whole := verifyLog(t, dir)
	if !whole.OK || whole.Dropped == nil {
		t.Fatalf("%+v", whole)
	}
	var files []string
	for name := range w {
		if strings.HasSuffix(name, segmentExt) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	found := func(what string, w map[string][]byte, anchors ...Head) {
		t.Helper()
		if r := verifyLog(t, (func() string { return (asMemoryLog(w)).store(t) })(), anchors...); r.OK {
			t.Errorf("%s: got no finding: %+v", what, r)
		}
	}
	for i, name := range files {
		found("a segment removed: "+name, w.withFile(name, nil))
		lines := bytes.SplitAfter(w[name], []byte("\n"))
		for n := range len(lines) - 1 {
			found("a record removed", w.withFile(name, bytes.Join(slices.Concat(lines[:n], lines[n+1:]), nil)))
		}
		if i == 0 || bytes.Contains(w[name], []byte(`"kind":"drop"`)) {
			path := filepath.Join(filepath.Dir(dir), name)
			for at := range w[name] {
				changed := bytes.Clone(w[name])
				changed[at] ^= 1
				if err := os.WriteFile(path, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				if r := verifyLog(t, dir); r.OK {
					t.Errorf("%s: got no finding of byte %d", name, at)
				}
			}
			if err := os.WriteFile(path, w[name], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Dropped segments that are restored: unchanged ones look like a kill during removal, changed ones do not fit.
	old := ""
	for name := range before {
		if w[name] == nil && (old == "" || name > old) {
			old = name
		}
	}
	if r := verifyLog(t, w.withFile(old, before[old]).store(t)); !r.OK {
		t.Errorf("restored segments: got %+v", r)
	}
	forged := Record{Kind: Line, Line: "forged", Seq: whole.Dropped.To, Prev: zeroHash, Time: time.Unix(1, 0).UTC()}
	line, err := forged.encode()
	if err != nil {
		t.Fatal(err)
	}
	found("a forged record before the cut", w.withFile(filepath.Join("audit", segmentName(forged.Seq)), line))

	d := whole.Dropped
	if r := verifyLog(t, dir, Head{d.To, d.Hash}); !r.OK {
		t.Errorf("head of a dropped record: got %+v", r)
	}
	found("another head of what was dropped", w, Head{d.To, zeroHash})
	found("a head that cannot be proven any more", w, Head{d.To - 1, d.Hash})
}

func asMemoryLog(w map[string][]byte) memoryLog { return w }

// TestPrune_Killed checks that a kill between the drop record and the last removal leaves an intact log, which the next
// daemon continues.
func TestPrune_Killed(t *testing.T) {
	w, before := prunedLog(t)
	var gone []string
	for name := range before {
		if w[name] == nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	if len(gone) < 2 {
		t.Fatal(gone)
	}
	for n := range len(gone) + 1 {
		half := w
		for _, name := range gone[n:] {
			half = half.withFile(name, before[name])
		}
		dir := half.store(t)
		if r := verifyLog(t, dir); !r.OK {
			t.Errorf("%d of %d removed: %+v", n, len(gone), r)
		}
		clock := time.Unix(1_800_000_000, 0)
		k := newTestWriter(t, dir, noSyncFS{}, &clock)
		k.fill(t, &clock, 1)
		k.pruneAll(Retention{Bytes: 3000})
		if err := k.close(); err != nil {
			t.Fatal(err)
		}
		if r := verifyLog(t, dir); !r.OK || r.Dropped.Damaged > 0 {
			t.Errorf("%d of %d removed, continued: got %+v", n, len(gone), r)
		}
	}
}

// TestDamageInDroppedRecords_StaysReported checks that damage in dropped records stays reported.
func TestDamageInDroppedRecords_StaysReported(t *testing.T) {
	_, before := prunedLog(t)
	name := slices.Min(slices.DeleteFunc(keysOf(before), func(n string) bool { return !strings.HasSuffix(n, segmentExt) }))
	b := bytes.Clone(before[name])
	b[bytes.Index(b, []byte(`"kind":"`))+9] ^= 1
	dir := before.withFile(name, b).store(t)
	clock := time.Unix(1_800_000_000, 0)
	w := newTestWriter(t, dir, noSyncFS{}, &clock)
	for range 2 { // also once the record about it is dropped itself
		w.fill(t, &clock, 4)
		w.pruneAll(Retention{Bytes: 2000})
		if r := verifyLog(t, dir); r.OK || r.Dropped == nil {
			t.Errorf("%+v", r)
		}
	}
}

func keysOf(w memoryLog) (names []string) {
	for n := range w {
		names = append(names, n)
	}
	return names
}

// refusingFS is a disk that fails to write, sync or remove.
type refusingFS struct {
	noSyncFS
	what *string
}

type refusingFile struct {
	File
	what *string
}

func (f refusingFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := f.noSyncFS.OpenFile(name, flag, perm)
	return refusingFile{file, f.what}, err
}

func (f refusingFS) Remove(name string) error {
	if *f.what == "remove" {
		return errors.New("no")
	}
	return f.noSyncFS.Remove(name)
}

func (f refusingFile) WriteAt(p []byte, at int64) (int, error) {
	if *f.what == "write" {
		return 0, errors.New("no space left")
	}
	return f.File.WriteAt(p, at)
}

func (f refusingFile) Sync() error {
	if *f.what == "sync" {
		return errors.New("no")
	}
	return nil
}

// TestPrune_SealsFirst checks that segments are removed only after the drop record is synced.
func TestPrune_SealsFirst(t *testing.T) {
	for _, what := range []string{"write", "sync", "remove"} {
		clock, refuses := time.Unix(1_700_000_000, 0), ""
		dir := filepath.Join(t.TempDir(), "audit")
		w := newTestWriter(t, dir, refusingFS{what: &refuses}, &clock)
		w.fill(t, &clock, 6)
		segs := len(loadLog(t, dir))
		refuses = what
		w.pruneAll(Retention{Bytes: 3000})
		if n := len(loadLog(t, dir)); n < segs {
			t.Errorf("%s: got %d of %d segments", what, n, segs)
		}
		refuses = ""
		if r := verifyLog(t, dir); !r.OK || r.First != 1 {
			t.Errorf("%s: %+v", what, r)
		}
		w.pruneAll(Retention{Bytes: 3000})
		if r := verifyLog(t, dir); !r.OK || r.First == 1 {
			t.Errorf("%s, later: %+v", what, r)
		}
	}
}

// TestPrune_ClockJump checks that a clock that is set far ahead ages no record. Elapsed time and the size limit still
// count.
//
// FEATURES: R109
func TestPrune_ClockJump(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := newTestWriter(t, dir, noSyncFS{}, &clock)
	w.fill(t, &clock, 4)
	passed := w.options.elapsed()
	w.options.elapsed = func() time.Duration { return passed }
	count := func() int {
		segs, err := segments(w.options.FS, dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(segs)
	}
	before := count()
	clock = clock.AddDate(100, 0, 0)
	w.pruneAll(Retention{Age: 24 * time.Hour})
	if n := count(); n != before || n < 3 {
		t.Errorf("after a clock jump: got %d of %d segments", n, before)
	}
	passed += 100 * 365 * 24 * time.Hour
	w.pruneAll(Retention{Age: 24 * time.Hour})
	if n := count(); n >= before {
		t.Errorf("after the time has passed: got %d of %d segments", n, before)
	}
}

// TestPrune_WrongClockAtStart checks that a clock that is wrong when daemons start ages no record; time in which
// records are written does.
//
// FEATURES: R109
func TestPrune_WrongClockAtStart(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := newTestWriter(t, dir, noSyncFS{}, &clock)
	w.fill(t, &clock, 4)
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	keep := Retention{Age: 30 * 24 * time.Hour}
	first := verifyLog(t, dir).First
	for years := range 3 { // each with a later clock
		clock = clock.AddDate(10*(years+1), 0, 0)
		w = newTestWriter(t, dir, noSyncFS{}, &clock)
		w.fill(t, &clock, 2)
		w.pruneAll(keep)
		if r := verifyLog(t, dir); r.First != first || !w.clockWarned {
			t.Errorf("after a jump: got first record %d, warned %v", r.First, w.clockWarned)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
	}
	w = newTestWriter(t, dir, noSyncFS{}, &clock)
	for range 40 {
		clock = clock.Add(23 * time.Hour)
		w.fill(t, &clock, 1)
	}
	w.pruneAll(keep)
	if r := verifyLog(t, dir); r.First == first || !r.OK {
		t.Errorf("after 40 days of records: got no drop: %+v", r)
	}
}

// TestPrune_ClockPutRight checks that a clock that was ahead for a while and was corrected does not keep old records
// longer.
//
// FEATURES: R109
func TestPrune_ClockPutRight(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	w := newTestWriter(t, filepath.Join(t.TempDir(), "audit"), noSyncFS{}, &clock)
	w.fill(t, &clock, 4)
	before, err := segments(w.options.FS, w.options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	clock = clock.AddDate(10, 0, 0)
	w.fill(t, &clock, 4)
	clock = clock.AddDate(-10, 0, 0)
	for range 10 {
		clock = clock.Add(6 * 24 * time.Hour)
		w.fill(t, &clock, 1)
	}
	w.pruneAll(Retention{Age: 30 * 24 * time.Hour})
	after, err := segments(w.options.FS, w.options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 3 || after[0].first <= before[1].first {
		t.Errorf("got oldest record %d: the time of the wrong clock was counted", after[0].first)
	}
}

// TestVerify_AnchorProvesDrop checks that only an anchor of the drop record or a newer record proves a drop.
//
// FEATURES: R109
func TestVerify_AnchorProvesDrop(t *testing.T) {
	files, _ := prunedLog(t)
	dir := files.store(t)
	r := verifyLog(t, dir)
	if !r.OK || r.Dropped == nil || r.Proven {
		t.Fatalf("without an anchor: got %+v", r)
	}
	list, err := Read(dir, Query{})
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for i, rec := range list {
		if rec.Kind == Drop {
			said = i
		}
	}
	for i, rec := range list {
		if r := verifyLog(t, dir, Head{rec.Seq, rec.Hash}); !r.OK || r.Proven != (i >= said) {
			t.Errorf("with an anchor of record %d: %+v", rec.Seq, r)
		}
	}
	if r := verifyLog(t, dir, Head{r.Dropped.To, r.Dropped.Hash}); !r.OK || r.Proven {
		t.Errorf("with an anchor from before: %+v", r)
	}
	whole := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, Options{Dir: whole})
	appendAll(t, l, someRecords()...)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyLog(t, whole); !r.Proven {
		t.Errorf("log without drops: got %+v", r)
	}
}
