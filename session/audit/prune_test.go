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

// keeper is a writer that a test drives by itself, with a clock.
func keeper(t *testing.T, dir string, fsys FS, now *time.Time) *writer {
	t.Helper()
	l := open(t, Options{Dir: dir, FS: fsys, SegmentBytes: 900}) // fills in what is left out
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	o := l.o
	o.Now = func() time.Time { return *now }
	began := *now
	o.elapsed = func() time.Duration { return now.Sub(began) }
	w := &writer{o: &o, opened: began}
	if !w.try() {
		t.Fatal("the log is not ready")
	}
	t.Cleanup(func() { _ = w.close() })
	return w
}

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

// pruneAll drops until there is no more to drop.
func (w *writer) pruneAll(keep Keep) {
	for w.prune(keep) {
	}
}

// pruned is a log of which the oldest records were dropped, twice, and what it was before the second time.
func pruned(t *testing.T) (now, before whole) {
	t.Helper()
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := keeper(t, dir, noSync{}, &clock)
	w.fill(t, &clock, 4)
	w.pruneAll(Keep{Bytes: 3000})
	w.fill(t, &clock, 3)
	w.sync()
	before = load(t, filepath.Dir(dir))
	w.pruneAll(Keep{Bytes: 3000})
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return load(t, filepath.Dir(dir)), before
}

// What is older, or more, than is kept is dropped, and what is left is provable, also once a daemon goes on with it.
//
// FEATURES: R109
func TestOldRecordsAreDropped(t *testing.T) {
	for name, keep := range map[string]Keep{"bytes": {Bytes: 3000}, "age": {Age: 2 * time.Hour}, "both": {Age: 1000 * time.Hour, Bytes: 3000}, "nothing": {}, "all": {Age: 1}} {
		clock := time.Unix(1_700_000_000, 0)
		dir := filepath.Join(t.TempDir(), "audit")
		w := keeper(t, dir, noSync{}, &clock)
		w.fill(t, &clock, 6)
		head := w.last
		w.pruneAll(keep)
		r := verified(t, dir)
		if !r.OK || r.Head.Seq < head.Seq || (r.Dropped == nil) != (name == "nothing") || r.Dropped != nil && (r.First != r.Dropped.To+1 || r.Dropped.Damaged != 0 || r.Dropped.Until.IsZero()) {
			t.Errorf("%s: %+v", name, r)
		}
		var bytes int64
		for file, b := range load(t, dir) {
			if bytes += int64(len(b)); strings.HasSuffix(file, segmentExt) && name == "age" {
				if got, err := Read(dir, Query{}); err != nil || clock.Sub(got[0].Time) > keep.Age+2*time.Hour { // a segment is kept as a whole
					t.Errorf("%s: the oldest record is of %s, %v", name, got[0].Time, err)
				}
			}
		}
		if keep.Bytes > 0 && bytes > keep.Bytes+900 || r.Records == 0 {
			t.Errorf("%s: %d bytes are left, %d records", name, bytes, r.Records)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		l := open(t, Options{Dir: dir})
		add(t, l, Record{Kind: Line, Line: "after"})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if again := verified(t, dir, head); !again.OK && r.First <= head.Seq || again.Records != r.Records+1 {
			t.Errorf("%s, gone on with: %+v", name, again)
		}
	}
}

// An open log drops by itself, while records are written, and those who follow it are told.
func TestAnOpenLogDrops(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Options{Dir: dir, SegmentBytes: 900, pruneFirst: time.Nanosecond, Keep: func() Keep { return Keep{} }})
	for range 5 {
		add(t, l, someRecords()...)
	}
	newest := l.Head().Seq
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, Options{Dir: dir, SegmentBytes: 900, pruneFirst: time.Nanosecond, Keep: func() Keep { return Keep{Bytes: 2000} }})
	if err := l.Await(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	add(t, l, someRecords()...)
	if r := verified(t, dir); !r.OK || r.Dropped == nil {
		t.Errorf("%+v", r)
	}
}

// What is done to the log around the cut is found: each byte, each record and each segment of what is left, and records
// that are missing although they were not dropped.
//
// FEATURES: R109
func TestTamperingAroundTheCut(t *testing.T) {
	tier.Full(t)
	w, before := pruned(t)
	dir := w.store(t)
	whole := verified(t, dir)
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
		if r := verified(t, (func() string { return (wholeOf(w)).store(t) })(), anchors...); r.OK {
			t.Errorf("%s is not found: %+v", what, r)
		}
	}
	for i, name := range files {
		found("a segment removed: "+name, w.with(name, nil))
		lines := bytes.SplitAfter(w[name], []byte("\n"))
		for n := range len(lines) - 1 {
			found("a record removed", w.with(name, bytes.Join(slices.Concat(lines[:n], lines[n+1:]), nil)))
		}
		if i == 0 || bytes.Contains(w[name], []byte(`"kind":"drop"`)) {
			path := filepath.Join(filepath.Dir(dir), name)
			for at := range w[name] {
				changed := bytes.Clone(w[name])
				changed[at] ^= 1
				if err := os.WriteFile(path, changed, 0o600); err != nil {
					t.Fatal(err)
				}
				if r := verified(t, dir); r.OK {
					t.Errorf("%s: byte %d is not found", name, at)
				}
			}
			if err := os.WriteFile(path, w[name], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What was dropped put back: as it was it is what a kill leaves, else it does not fit.
	old := ""
	for name := range before {
		if w[name] == nil && (old == "" || name > old) {
			old = name
		}
	}
	if r := verified(t, w.with(old, before[old]).store(t)); !r.OK {
		t.Errorf("what was to be removed is still there: %+v", r)
	}
	forged := Record{Kind: Line, Line: "forged", Seq: whole.Dropped.To, Prev: zeroHash, Time: time.Unix(1, 0).UTC()}
	line, err := forged.encode()
	if err != nil {
		t.Fatal(err)
	}
	found("a forged record before the cut", w.with(filepath.Join("audit", segmentName(forged.Seq)), line))

	d := whole.Dropped
	if r := verified(t, dir, Head{d.To, d.Hash}); !r.OK {
		t.Errorf("the head of what was dropped: %+v", r)
	}
	found("another head of what was dropped", w, Head{d.To, zeroHash})
	found("a head that cannot be proven any more", w, Head{d.To - 1, d.Hash})
}

func wholeOf(w map[string][]byte) whole { return w }

// A kill between the record and the last removal leaves a log in order, with which the next daemon goes on.
func TestKilledWhileDropping(t *testing.T) {
	w, before := pruned(t)
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
			half = half.with(name, before[name])
		}
		dir := half.store(t)
		if r := verified(t, dir); !r.OK {
			t.Errorf("%d of %d removed: %+v", n, len(gone), r)
		}
		clock := time.Unix(1_800_000_000, 0)
		k := keeper(t, dir, noSync{}, &clock)
		k.fill(t, &clock, 1)
		k.pruneAll(Keep{Bytes: 3000})
		if err := k.close(); err != nil {
			t.Fatal(err)
		}
		if r := verified(t, dir); !r.OK || r.Dropped.Damaged > 0 {
			t.Errorf("%d of %d removed, gone on with: %+v", n, len(gone), r)
		}
	}
}

// Damage in what is dropped stays damage.
func TestDamageInDroppedRecords_StaysReported(t *testing.T) {
	_, before := pruned(t)
	name := slices.Min(slices.DeleteFunc(keysOf(before), func(n string) bool { return !strings.HasSuffix(n, segmentExt) }))
	b := bytes.Clone(before[name])
	b[bytes.Index(b, []byte(`"kind":"`))+9] ^= 1
	dir := before.with(name, b).store(t)
	clock := time.Unix(1_800_000_000, 0)
	w := keeper(t, dir, noSync{}, &clock)
	for range 2 { // also once the record that told of it is dropped itself
		w.fill(t, &clock, 4)
		w.pruneAll(Keep{Bytes: 2000})
		if r := verified(t, dir); r.OK || r.Dropped == nil {
			t.Errorf("%+v", r)
		}
	}
}

func keysOf(w whole) (names []string) {
	for n := range w {
		names = append(names, n)
	}
	return names
}

// refusing is a disk that refuses to write, sync or remove.
type refusing struct {
	noSync
	what *string
}

type refusingFile struct {
	File
	what *string
}

func (f refusing) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	file, err := f.noSync.OpenFile(name, flag, perm)
	return refusingFile{file, f.what}, err
}

func (f refusing) Remove(name string) error {
	if *f.what == "remove" {
		return errors.New("no")
	}
	return f.noSync.Remove(name)
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

// Nothing is removed before the record that seals it is on the disk.
func TestNothingIsDroppedUnsealed(t *testing.T) {
	for _, what := range []string{"write", "sync", "remove"} {
		clock, refuses := time.Unix(1_700_000_000, 0), ""
		dir := filepath.Join(t.TempDir(), "audit")
		w := keeper(t, dir, refusing{what: &refuses}, &clock)
		w.fill(t, &clock, 6)
		segs := len(load(t, dir))
		refuses = what
		w.pruneAll(Keep{Bytes: 3000})
		if n := len(load(t, dir)); n < segs {
			t.Errorf("%s: %d of %d segments are left", what, n, segs)
		}
		refuses = ""
		if r := verified(t, dir); !r.OK || r.First != 1 {
			t.Errorf("%s: %+v", what, r)
		}
		w.pruneAll(Keep{Bytes: 3000})
		if r := verified(t, dir); !r.OK || r.First == 1 {
			t.Errorf("%s, later: %+v", what, r)
		}
	}
}

// A clock that is set far ahead makes no record old; what passes does, and bytes count all the same.
//
// FEATURES: R109
func TestAClockThatJumpsDropsNothing(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := keeper(t, dir, noSync{}, &clock)
	w.fill(t, &clock, 4)
	passed := w.o.elapsed()
	w.o.elapsed = func() time.Duration { return passed }
	count := func() int {
		segs, err := segments(w.o.FS, dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(segs)
	}
	before := count()
	clock = clock.AddDate(100, 0, 0)
	w.pruneAll(Keep{Age: 24 * time.Hour})
	if n := count(); n != before || n < 3 {
		t.Errorf("%d of %d segments are left after a jump", n, before)
	}
	passed += 100 * 365 * 24 * time.Hour
	w.pruneAll(Keep{Age: 24 * time.Hour})
	if n := count(); n >= before {
		t.Errorf("%d of %d segments are left when the time has passed", n, before)
	}
}

// A clock that is wrong already when a daemon begins makes no record old, nor when another begins after it; what is
// recorded meanwhile does.
//
// FEATURES: R109
func TestAClockThatIsWrongAtTheStartDropsNothing(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	dir := filepath.Join(t.TempDir(), "audit")
	w := keeper(t, dir, noSync{}, &clock)
	w.fill(t, &clock, 4)
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	keep := Keep{Age: 30 * 24 * time.Hour}
	first := verified(t, dir).First
	for years := range 3 { // each begins with a clock that is yet more wrong
		clock = clock.AddDate(10*(years+1), 0, 0)
		w = keeper(t, dir, noSync{}, &clock)
		w.fill(t, &clock, 2)
		w.pruneAll(keep)
		if r := verified(t, dir); r.First != first || !w.told {
			t.Errorf("the log begins with record %d after a jump, told %v", r.First, w.told)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
	}
	w = keeper(t, dir, noSync{}, &clock)
	for range 40 {
		clock = clock.Add(23 * time.Hour)
		w.fill(t, &clock, 1)
	}
	w.pruneAll(keep)
	if r := verified(t, dir); r.First == first || !r.OK {
		t.Errorf("nothing is dropped after 40 days of records: %+v", r)
	}
}

// A clock that was far ahead for a while and was put right does not keep old records for as long.
//
// FEATURES: R109
func TestAClockThatWasAheadKeepsNothing(t *testing.T) {
	clock := time.Unix(1_700_000_000, 0)
	w := keeper(t, filepath.Join(t.TempDir(), "audit"), noSync{}, &clock)
	w.fill(t, &clock, 4)
	before, err := segments(w.o.FS, w.o.Dir)
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
	w.pruneAll(Keep{Age: 30 * 24 * time.Hour})
	after, err := segments(w.o.FS, w.o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(before) < 3 || after[0].first <= before[1].first {
		t.Errorf("the oldest record is %d, as if the time in which the clock was ahead had passed", after[0].first)
	}
}

// That records were dropped only the log says: it is proven by an anchor of that record or a newer one.
//
// FEATURES: R109
func TestDroppedIsProvenByAnAnchor(t *testing.T) {
	files, _ := pruned(t)
	dir := files.store(t)
	r := verified(t, dir)
	if !r.OK || r.Dropped == nil || r.Proven {
		t.Fatalf("without an anchor: %+v", r)
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
		if r := verified(t, dir, Head{rec.Seq, rec.Hash}); !r.OK || r.Proven != (i >= said) {
			t.Errorf("with an anchor of record %d: %+v", rec.Seq, r)
		}
	}
	if r := verified(t, dir, Head{r.Dropped.To, r.Dropped.Hash}); !r.OK || r.Proven {
		t.Errorf("with an anchor from before: %+v", r)
	}
	whole := filepath.Join(t.TempDir(), "audit")
	l := open(t, Options{Dir: whole})
	add(t, l, someRecords()...)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, whole); !r.Proven {
		t.Errorf("of which nothing was dropped: %+v", r)
	}
}
