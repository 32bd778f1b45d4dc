package journal

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// onDisk returns the size of a journal's files.
func onDisk(t testing.TB, dir string) (bytes int64) {
	t.Helper()
	for _, name := range segments(t, dir) {
		st, err := os.Stat(name)
		must(t, err)
		bytes += st.Size()
	}
	return bytes
}

func sized(t testing.TB, j *Journal) int64 {
	t.Helper()
	n, err := j.Size()
	must(t, err)
	return n
}

// FEATURES: R92, R97
func TestSize(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 1000
	dir := t.TempDir()
	j := open(t, dir, o)
	check := func(when string) {
		t.Helper()
		if got, want := sized(t, j), onDisk(t, dir); got != want {
			t.Errorf("%s: %d bytes, on disk are %d", when, got, want)
		}
	}
	check("empty")
	for range 30 {
		must(t, j.AppendOutput(make([]byte, 300)))
		check("appended")
	}
	j = open(t, dir, o)
	check("reopened")
	must(t, j.AppendOutput(make([]byte, 3000)))
	check("appended again")
	must(t, j.DropBefore(2000))
	check("dropped")
	_, err := j.Compact(t.Context())
	must(t, err)
	check("compacted")
	must(t, j.AppendOutput(make([]byte, 3000)))
	check("at last")
}

// FEATURES: R92
func TestRetainBytes(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Plain, o.SegmentBytes = true, 10_000
	dir := t.TempDir()
	j := open(t, dir, o)
	must(t, j.AppendResize(100, 50))
	r := j.NewReader(0)
	_, err := r.Next()
	must(t, err)
	for range 100 {
		must(t, j.AppendOutput(make([]byte, 1000)))
	}
	got, err := j.Retain(epoch, Retention{MaxBytes: 35_000})
	must(t, err)
	left := onDisk(t, dir)
	if left > 35_000 || left < 20_000 || got.From != 0 || got.To != j.Start() || got.Bytes < 60_000 {
		t.Errorf("%d bytes are left, %+v, start %d", left, got, j.Start())
	}
	rec, err := r.Next() // the segment it is in stays open, or is a gap where that cannot be
	must(t, err)
	all := append([]entry{entryOf(rec)}, rest(t, r)...)
	at := uint64(0)
	for _, e := range all {
		if e.Offset != at {
			t.Fatalf("record at %d, expected at %d", e.Offset, at)
		}
		at += uint64(len(e.Data)) + e.Lost
	}
	if at != j.End() {
		t.Errorf("the reader ended at %d of %d", at, j.End())
	}
	if cols, rows, err := j.SizeAt(j.Start()); cols != 100 || rows != 50 || err != nil {
		t.Errorf("terminal size at the start of the journal: %d×%d %v", cols, rows, err)
	}
	again, err := j.Retain(epoch, Retention{MaxBytes: 35_000})
	if must(t, err); again.Bytes != 0 || again.From != again.To {
		t.Errorf("again: %+v", again)
	}
}

// TestRetainRolls checks that a limit below the size of a segment is kept, except for the last segment.
func TestRetainRolls(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Plain = true
	dir := t.TempDir()
	j := open(t, dir, o)
	for range 200 {
		must(t, j.AppendOutput(make([]byte, 10_000)))
		_, err := j.Retain(epoch, Retention{MaxBytes: 400_000})
		must(t, err)
		if n := onDisk(t, dir); n > 520_000 {
			t.Fatalf("%d bytes", n)
		}
	}
	if kept := j.End() - j.Start(); kept < 200_000 {
		t.Errorf("only %d bytes are kept", kept)
	}
}

// FEATURES: R92
func TestRetainAge(t *testing.T) {
	t.Parallel()
	now := epoch
	o := testOptions()
	o.Now = func() time.Time { return now }
	dir := t.TempDir()
	j := open(t, dir, o)
	for range 100 { // one hour each
		must(t, j.AppendOutput(make([]byte, 100)))
		_, err := j.Retain(now, Retention{MaxAge: 20 * time.Hour})
		must(t, err)
		now = now.Add(time.Hour)
	}
	kept := (j.End() - j.Start()) / 100
	if kept < 20 || kept > 27 {
		t.Errorf("the last %d hours are kept", kept)
	}
	r := j.NewReader(j.Start())
	defer r.Close()
	rec, err := r.Next()
	if must(t, err); rec.Offset != j.Start() || rec.Kind != KindOutput {
		t.Errorf("first %v", entryOf(rec))
	}
}

// TestRetainBothLimits checks that of two limits the stricter one applies. A segment that cannot be read, or is of a
// newer longterm, is dropped with those around it.
//
// FEATURES: R92
func TestRetainBothLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limits Retention
		damage func(b []byte) []byte // of the second segment
		start  uint64
	}{
		{"age keeps less", Retention{MaxAge: 90 * time.Minute, MaxBytes: 400}, nil, 100},
		{"bytes keep less", Retention{MaxAge: 10 * time.Hour, MaxBytes: 200}, nil, 200},
		{"neither", Retention{MaxAge: 10 * time.Hour, MaxBytes: 4000}, nil, 0},
		{"of a newer one", Retention{MaxAge: 30 * time.Minute}, func(b []byte) []byte {
			return append(appendHeader(nil, header{version: version + 1, length: headerSize, id: 1, base: 100}), b[headerSize:]...)
		}, 200},
		{"without a time", Retention{MaxAge: 30 * time.Minute}, func(b []byte) []byte { clear(b[:headerSize]); return b }, 200},
	} {
		dir, names, o := threeSegments(t)
		if c.damage != nil {
			edit(t, names[1], c.damage)
		}
		j := open(t, dir, o)
		got, err := j.Retain(epoch.Add(2*time.Hour+45*time.Minute), c.limits)
		if err != nil || j.Start() != c.start || got.To != c.start {
			t.Errorf("%s: it starts at %d, want %d: %+v, %v", c.name, j.Start(), c.start, got, err)
		}
	}
}

// TestDropBefore checks that drops end at a segment's end, and drop no more than requested.
func TestDropBefore(t *testing.T) {
	t.Parallel()
	for off, want := range map[uint64]uint64{0: 0, 99: 0, 100: 100, 101: 100, 200: 200, 1000: 200} {
		dir, _, o := threeSegments(t)
		j := open(t, dir, o)
		if must(t, j.DropBefore(off)); j.Start() != want {
			t.Errorf("before %d: it starts at %d, want %d", off, j.Start(), want)
		}
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "j")
	j := open(t, dir, testOptions())
	must(t, j.AppendOutput([]byte("hello")))
	u, err := Measure(dir)
	if must(t, err); u.Bytes != j.size || u.Dir != dir || u.Last.IsZero() {
		t.Errorf("%+v, size %d", u, j.size)
	}
	later := u.Last.Add(time.Hour)
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("!"), 0o600))
	must(t, os.Chtimes(filepath.Join(dir, "notes.txt"), later, later))
	if u, err := Measure(dir); err != nil || u.Bytes != j.size+1 || !u.Last.Before(later) {
		t.Errorf("with another file %+v, %v", u, err)
	}
	if _, err := Measure(dir + "x"); err == nil {
		t.Error("no error for a missing directory")
	}
}

// FEATURES: R92, R97
func TestPlan(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	ago := func(days int) time.Time { return epoch.AddDate(0, 0, -days) }
	dead := func(dir string, mbs int64, days int) Usage { return Usage{dir, mbs * mb, ago(days), false} }
	live := func(dir string, mbs int64) Usage { return Usage{dir, mbs * mb, ago(100), true} }
	for _, c := range []struct {
		name   string
		all    []Usage
		budget Budget
		want   []Drop
	}{
		{"no limits", []Usage{dead("a", 900, 900), live("b", 900)}, Budget{}, nil},
		{"fits", []Usage{dead("a", 5, 3), live("b", 5)}, Budget{MaxBytes: 10 * mb, MaxDead: 1, MaxDeadAge: 90 * time.Hour}, nil},
		{"age spares the living", []Usage{dead("a", 5, 3), live("b", 5)}, Budget{MaxDeadAge: time.Hour}, []Drop{{"a", 0, "age"}}},
		{"the oldest are too many", []Usage{dead("a", 1, 1), dead("b", 1, 9), dead("c", 1, 5)}, Budget{MaxDead: 1},
			[]Drop{{"b", 0, "count"}, {"c", 0, "count"}}},
		{"the dead go first", []Usage{live("a", 50), dead("b", 30, 2), dead("c", 30, 1)}, Budget{MaxBytes: 90 * mb},
			[]Drop{{"b", 0, "size"}}},
		{"as old as another", []Usage{dead("b", 10, 1), dead("a", 10, 1)}, Budget{MaxBytes: 10 * mb}, []Drop{{"a", 0, "size"}}},
		{"the living are leveled", []Usage{live("a", 10), live("b", 100), live("c", 60), dead("d", 1, 0)}, Budget{MaxBytes: 90 * mb},
			[]Drop{{"d", 0, "size"}, {"c", 40 * mb, "size"}, {"b", 40 * mb, "size"}}},
		{"but keep a little", []Usage{live("a", 1), live("b", 9)}, Budget{MaxBytes: 1}, []Drop{{"b", MinLiveBytes, "size"}}},
	} {
		if got := Plan(epoch, c.all, c.budget); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSyncDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy                     SyncPolicy
		empty, now, second, exited bool
	}{
		{SyncEachSecond, false, false, true, true},
		{SyncAlways, false, true, true, true},
		{SyncAtExit, false, false, false, true},
		{SyncNever, false, false, false, false},
	} {
		now := epoch
		o := testOptions()
		o.Sync, o.Now = c.policy, func() time.Time { return now }
		j := open(t, t.TempDir(), o)
		due := func(what string, want bool) {
			t.Helper()
			if got := j.SyncDue(now); got != want {
				t.Errorf("policy %d, %s: due %v, want %v", c.policy, what, got, want)
			}
		}
		due("nothing appended", c.empty)
		must(t, j.AppendOutput([]byte("x")))
		due("appended", c.now)
		now = now.Add(syncInterval)
		due("a second later", c.second)
		now = now.Add(-time.Hour)
		due("the clock set back", c.second)
		must(t, j.AppendExit(Exit{}))
		now = epoch
		due("exited", c.exited)
		must(t, j.Sync())
		due("synced", false)
	}
}
