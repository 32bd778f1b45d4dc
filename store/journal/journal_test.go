package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// FEATURES: R37
func TestEmpty(t *testing.T) {
	t.Parallel()
	j := open(t, filepath.Join(t.TempDir(), "a", "b"), testOptions())
	if j.Start() != 0 || j.End() != 0 {
		t.Errorf("range %d–%d", j.Start(), j.End())
	}
	equal(t, entries(t, j, 0), nil)
	n, next, gap, err := j.ReadAt(0, make([]byte, 8))
	if n != 0 || next != 0 || gap != 0 || err != nil {
		t.Errorf("ReadAt: %d %d %d %v", n, next, gap, err)
	}
	if _, _, _, err := j.ReadAt(1, nil); !errors.Is(err, ErrFuture) {
		t.Errorf("ReadAt behind the end: %v", err)
	}
	must(t, j.AppendOutput())
	must(t, j.AppendOutput(nil, []byte{}))
	must(t, j.AppendGap(0))
	must(t, j.Sync())
	must(t, j.Close())
	if err := j.AppendOutput([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("append after Close: %v", err)
	}
}

// TestSegments checks that all records are read in order, across segments and reopening, from any offset.
//
// FEATURES: R26, R37
func TestSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := testOptions()
	o.SegmentBytes = 500
	var m model
	j := open(t, dir, o)
	for i := range 40 {
		fill(t, j, &m)
		if i%7 == 0 {
			must(t, j.Close())
			j = open(t, dir, o)
		}
	}
	equal(t, entries(t, j, 0), m.all)
	if names := segments(t, dir); len(names) < 20 {
		t.Errorf("%d segments", len(names))
	}
	if j.End() != m.end || j.Start() != 0 {
		t.Errorf("range %d–%d, want 0–%d", j.Start(), j.End(), m.end)
	}
	for from := uint64(0); from <= m.end; from += 51 {
		equal(t, entries(t, j, from), m.from(from))
	}
}

// from returns the records that a reader from off should return.
func (m *model) from(off uint64) []entry {
	var all []entry
	for _, e := range m.all {
		end := e.Offset + e.Lost
		if e.Kind == KindOutput {
			end += uint64(len(e.Data))
		}
		if end < off || end == off && end > e.Offset {
			continue
		}
		if e.Offset < off {
			cut := off - e.Offset
			if e.Kind == KindGap {
				e.Lost -= cut
			} else {
				e.Data = e.Data[cut:]
			}
			e.Offset = off
		}
		all = append(all, e)
	}
	return all
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.ltj"))
	must(t, err)
	return names
}

func TestLongOutput(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), testOptions())
	long := strings.Repeat("0123456789abcdef", 20<<10) // 5 records
	var m model
	must(t, j.AppendOutput([]byte(long[:100]), []byte(long[100:])))
	m.output(long)
	must(t, j.AppendOutput([]byte(long[:MaxPayload])))
	m.output(long[:MaxPayload])
	equal(t, entries(t, j, 0), m.all)
	got := make([]byte, len(long))
	if n, _, _, err := j.ReadAt(0, got); n != len(long) || err != nil || string(got) != long {
		t.Errorf("ReadAt: %d bytes, %v", n, err)
	}
}

// FEATURES: R93
func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "journal")
	j := open(t, dir, testOptions())
	must(t, j.AppendOutput([]byte("secret")))
	for path, want := range map[string]os.FileMode{dir: 0o700 | os.ModeDir, j.path(0): 0o600} {
		st, err := os.Stat(path)
		must(t, err)
		if st.Mode() != want {
			t.Errorf("%s is %v, want %v", path, st.Mode(), want)
		}
	}
}

func TestReadAt(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 400
	dir := t.TempDir()
	j := open(t, dir, o)
	for i := range 10 {
		must(t, j.AppendOutput(bytes.Repeat([]byte{'a' + byte(i)}, 100)))
	}
	must(t, j.AppendGap(50))
	must(t, j.AppendOutput([]byte("after the gap")))
	must(t, j.AppendGap(7))
	must(t, j.DropBefore(350))
	for _, c := range []struct {
		off  uint64
		size int
		data string
		next uint64
		gap  uint64
	}{
		{0, 10, "dddddddddd", 310, 300}, // retired
		{300, 10, "dddddddddd", 310, 0},
		{395, 10, "dddddeeeee", 405, 0},
		{1000, 3, "aft", 1053, 50},
		{1020, 100, "after the gap", 1063, 30},
		{990, 100, "jjjjjjjjjj", 1000, 0}, // stops at a gap
		{1063, 10, "", 1070, 7},
		{1065, 10, "", 1070, 5},
		{1070, 10, "", 1070, 0},
		{1050, 0, "", 1050, 0},
	} {
		dst := make([]byte, c.size)
		n, next, gap, err := j.ReadAt(c.off, dst)
		if string(dst[:n]) != c.data || next != c.next || gap != c.gap || err != nil {
			t.Errorf("ReadAt(%d, %d): %q next %d gap %d %v, want %q %d %d", c.off, c.size, dst[:n], next, gap, err, c.data, c.next, c.gap)
		}
	}
	if j.Start() != 300 {
		t.Errorf("start %d", j.Start())
	}
}

// TestReadAtLarge checks that random access works in segments too large to be read from their start.
func TestReadAtLarge(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir(), testOptions())
	rnd := rand.New(rand.NewPCG(1, 2))
	var all []byte
	for len(all) < 6<<20 {
		p := make([]byte, 1+rnd.IntN(20_000))
		for i := range p {
			p[i] = byte(rnd.Uint32())
		}
		must(t, j.AppendOutput(p))
		all = append(all, p...)
	}
	dst := make([]byte, 30_000)
	for range 300 {
		off := rnd.IntN(len(all))
		n, next, gap, err := j.ReadAt(uint64(off), dst)
		must(t, err)
		want := all[off:min(off+len(dst), len(all))]
		if !bytes.Equal(dst[:n], want) || gap != 0 || next != uint64(off+n) {
			t.Fatalf("ReadAt(%d): %d bytes of %d, next %d gap %d", off, n, len(want), next, gap)
		}
	}
	var got []byte
	for next := uint64(0); next < j.End(); {
		n, to, _, err := j.ReadAt(next, dst[:7777])
		must(t, err)
		got, next = append(got, dst[:n]...), to
	}
	if !bytes.Equal(got, all) {
		t.Error("continued reads do not return everything")
	}
}

// TestLastOutput checks that the time of the last output is known after reopening and compaction, and that later
// records without output do not change it.
//
// FEATURES: R37
func TestLastOutput(t *testing.T) {
	t.Parallel()
	o, dir := testOptions(), t.TempDir()
	now := epoch
	o.Now = func() time.Time { return now }
	j := open(t, dir, o)
	same := func(what string, want time.Time) {
		t.Helper()
		for _, at := range []*Journal{j, open(t, dir, o)} {
			if got, err := at.LastOutput(); !got.Equal(want) || err != nil {
				t.Errorf("%s: %v, %v; want %v", what, got, err, want)
			}
		}
	}
	same("empty", time.Time{})
	must(t, j.AppendResize(80, 24))
	same("a size", time.Time{})
	must(t, j.AppendOutput([]byte("first")))
	now = now.Add(time.Minute)
	last := now
	must(t, j.AppendOutput(make([]byte, 20_000)))
	same("output", last)
	now = now.Add(time.Hour)
	must(t, j.AppendResize(100, 24))
	same("a size behind it", last)
	_, err := j.Compact(t.Context())
	must(t, err)
	same("compacted", last)
	must(t, j.AppendGap(3))
	same("lost", time.Time{})
}

// FEATURES: R37, R38
func TestOffsetAt(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 4 << 20
	dir := t.TempDir()
	j := open(t, dir, o)
	const count = 3000 // one a second, 4000 bytes each: 3 segments
	p := make([]byte, 4000)
	for range count {
		must(t, j.AppendOutput(p))
	}
	j = open(t, dir, o)
	for _, c := range []struct {
		at   time.Duration
		want uint64
	}{
		{-time.Hour, 0}, {0, 0}, {1, 4000}, {time.Second, 4000},
		{1500*time.Second - 1, 1500 * 4000}, {2500 * time.Second, 2500 * 4000},
		{(count - 1) * time.Second, (count - 1) * 4000}, {count * time.Second, count * 4000},
	} {
		got, err := j.OffsetAt(epoch.Add(c.at))
		if got != c.want || err != nil {
			t.Errorf("%v: %d %v, want %d", c.at, got, err, c.want)
		}
	}
	for i := range count / 50 {
		at := time.Duration(i*50) * time.Second
		if got, err := j.OffsetAt(epoch.Add(at)); got != uint64(i*50*4000) || err != nil {
			t.Errorf("%v: %d %v", at, got, err)
		}
	}
}

// TestFollow checks that a follower sees all appended records, in order, and waits at the end.
func TestFollow(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 200
	d := &disk{}
	o.FS = d
	j := open(t, t.TempDir(), o)
	r := j.NewReader(0)
	var m, seen model
	for range 30 {
		fill(t, j, &m)
		seen.all = append(seen.all, rest(t, r)...)
		equal(t, seen.all, m.all)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
	if n := d.open(); n != 1 {
		t.Errorf("%d files are open, only the writer's should", n)
	}
	must(t, j.Close())
	if n := d.open(); n != 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

// TestRetireUnderReader checks that a reader in a retired segment reports the missing output.
func TestRetireUnderReader(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 100
	j := open(t, t.TempDir(), o)
	for range 10 {
		must(t, j.AppendOutput(make([]byte, 100)))
	}
	r := j.NewReader(0)
	_, err := r.Next()
	must(t, err)
	must(t, j.DropBefore(750))
	if got := j.Start(); got != 700 {
		t.Errorf("start %d", got)
	}
	next, err := r.Next()
	must(t, err)
	if e := entryOf(next); e.Kind != KindGap || e.Offset != 100 || e.Lost != 600 {
		t.Errorf("got %v", e)
	}
	if got := rest(t, r); len(got) != 3 || got[0].Offset != 700 {
		t.Errorf("then %v", got)
	}
	must(t, j.DropBefore(1<<40))
	if j.Start() != 900 || j.End() != 1000 {
		t.Errorf("range %d–%d", j.Start(), j.End())
	}
}

// TestRetireUnderFollower retires the last segment while a reader waits at its end.
func TestRetireUnderFollower(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on Windows")
	}
	o := testOptions()
	o.SegmentBytes = 300
	j := open(t, t.TempDir(), o)
	must(t, j.AppendOutput([]byte("a1")))
	must(t, j.AppendOutput([]byte("a2")))
	r := j.NewReader(0)
	_, err := r.Next() // has seen both as visible
	must(t, err)
	must(t, j.AppendOutput(make([]byte, 300)))
	must(t, j.AppendOutput([]byte("b")))
	must(t, j.DropBefore(304))
	equal(t, rest(t, r), []entry{
		{Kind: KindOutput, Offset: 2, Data: "a2"},
		{Kind: KindOutput, Offset: 4, Data: string(make([]byte, 300))},
		{Kind: KindOutput, Offset: 304, Data: "b"},
	})
}

// TestTinySegments checks that records without output never start a segment of the same name.
func TestTinySegments(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 1
	dir := t.TempDir()
	j := open(t, dir, o)
	var m model
	for i := range 9 {
		must(t, j.AppendResize(i, i))
		m.add(entry{Kind: KindResize, Cols: i, Rows: i})
		if i%4 == 3 {
			must(t, j.AppendOutput([]byte("x")))
			m.output("x")
		}
	}
	equal(t, entries(t, j, 0), m.all)
	equal(t, entries(t, open(t, dir, o), 0), m.all)
}

// TestReaderClose checks that a Close between a gap and the next record loses nothing.
func TestReaderClose(t *testing.T) {
	t.Parallel()
	content, m, ends := build(t)
	content[ends[2]+recordHead] ^= 1
	j, _ := reopen(t, lay(t, content), testOptions())
	var got []entry
	for r := j.NewReader(0); ; r.Close() {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		must(t, err)
		got = append(got, entryOf(rec))
	}
	want := append([]entry{}, m.all[:2]...)
	want = append(want, entry{Kind: KindGap, Offset: m.all[2].Offset, Lost: uint64(len(m.all[2].Data))})
	equal(t, got, append(want, m.all[3:]...))
}

// TestHandles checks that more journals than descriptors can append at the same time.
func TestHandles(t *testing.T) {
	t.Parallel()
	o := testOptions()
	d := &disk{}
	o.FS, o.Now = d, func() time.Time { return epoch }
	o.id = func() uint32 { return 7 }
	o.SegmentBytes = 2000
	dir := t.TempDir()
	var wg sync.WaitGroup
	journals := make([]*Journal, 20)
	for i := range journals {
		journals[i] = open(t, filepath.Join(dir, fmt.Sprint(i)), o)
		wg.Go(func() {
			for k := range 200 {
				if err := journals[i].AppendOutput(fmt.Appendf(nil, "%d.%d\n", i, k)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// Busy handles are not evicted, so the limit may be passed for a moment.
	must(t, journals[0].AppendOutput([]byte("x")))
	if n := d.open(); n > len(journals) || n != len(o.handles.open) {
		t.Errorf("%d files are open, %d handles", n, len(o.handles.open))
	}
	for i, j := range journals[1:] {
		var want []byte
		for k := range 200 {
			want = fmt.Appendf(want, "%d.%d\n", i+1, k)
		}
		got := make([]byte, len(want)+1)
		n, _, _, err := j.ReadAt(0, got)
		if must(t, err); !bytes.Equal(got[:n], want) {
			t.Errorf("journal %d lacks appended records", i+1)
		}
	}
}

func TestHandlesAreBounded(t *testing.T) {
	t.Parallel()
	o := testOptions()
	d := &disk{}
	o.FS = d
	dir := t.TempDir()
	for i := range 20 {
		j := open(t, filepath.Join(dir, fmt.Sprint(i)), o)
		must(t, j.AppendOutput([]byte("x")))
		if n := d.open(); n > o.handles.max {
			t.Fatalf("%d files are open, at most %d should", n, o.handles.max)
		}
	}
}

// TestConcurrentReaders runs readers at many offsets while segments are created and retired; run with -race.
func TestConcurrentReaders(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 64 << 10
	j := open(t, t.TempDir(), o)
	const total = 1 << 20
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 2 {
		wg.Go(func() { readRandomly(t, j, uint64(i), done) })
	}
	wg.Go(func() { compactAll(t, j, done) })
	wg.Go(func() { follow(t, j, total) })
	rnd := rand.New(rand.NewPCG(3, 4))
	for j.End() < total {
		p := make([]byte, min(1+rnd.Uint64N(8000), total-j.End()))
		for i := range p {
			p[i] = pattern(j.End() + uint64(i))
		}
		must(t, j.AppendOutput(p))
		if rnd.IntN(20) == 0 {
			must(t, j.DropBefore(j.End()/2))
			must(t, j.Sync())
		}
	}
	close(done)
	wg.Wait()
}

// pattern is the byte at an offset of the concurrency test's output.
func pattern(off uint64) byte { return byte(off*2654435761>>7) ^ byte(off) }

func readRandomly(t *testing.T, j *Journal, seed uint64, done chan struct{}) {
	rnd := rand.New(rand.NewPCG(seed, 5))
	dst := make([]byte, 3000)
	for {
		runtime.Gosched()
		select {
		case <-done:
			return
		default:
		}
		end := j.End()
		if end == 0 {
			continue
		}
		off := rnd.Uint64N(end)
		n, next, gap, err := j.ReadAt(off, dst)
		if err != nil || next != off+gap+uint64(n) || n == 0 {
			t.Errorf("ReadAt(%d): %d next %d gap %d %v", off, n, next, gap, err)
			return
		}
		for i, b := range dst[:n] {
			if want := pattern(off + gap + uint64(i)); b != want {
				t.Errorf("byte %d is %#x, want %#x", off+gap+uint64(i), b, want)
				return
			}
		}
	}
}

func compactAll(t *testing.T, j *Journal, done chan struct{}) {
	for {
		runtime.Gosched()
		select {
		case <-done:
			return
		default:
		}
		if _, err := j.Compact(t.Context()); err != nil {
			t.Error(err)
			return
		}
		if _, err := j.Size(); err != nil {
			t.Error(err)
			return
		}
	}
}

func follow(t *testing.T, j *Journal, total uint64) {
	r := j.NewReader(0)
	at := uint64(0)
	for at < total {
		rec, err := r.Next()
		if err == io.EOF {
			runtime.Gosched()
			continue
		}
		if err != nil || rec.Offset != at {
			t.Errorf("at %d: record at %d, %v", at, rec.Offset, err)
			return
		}
		for i, b := range rec.Data {
			if b != pattern(at+uint64(i)) {
				t.Errorf("byte %d is wrong", at+uint64(i))
				return
			}
		}
		at += uint64(len(rec.Data)) + rec.Lost
	}
}

// FEATURES: R97
func TestIdleMemory(t *testing.T) { // alone: it measures the heap
	const count, limit = 200, 2 << 10
	dir := t.TempDir()
	o := testOptions()
	o.SegmentBytes = 1 << 10
	journals := make([]*Journal, count)
	before := heap()
	for i := range journals {
		journals[i] = open(t, filepath.Join(dir, fmt.Sprint(i)), o)
		for range 10 {
			must(t, journals[i].AppendOutput(make([]byte, 500)))
		}
	}
	each := (heap() - before) / count
	t.Logf("%d bytes a journal", each)
	if each > limit {
		t.Errorf("an idle journal takes %d bytes, more than %d", each, limit)
	}
	runtime.KeepAlive(journals)
}

func heap() int {
	runtime.GC()
	runtime.GC() // pools are emptied by the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestAppendAllocates(t *testing.T) {
	j := open(t, t.TempDir(), Options{})
	for _, size := range []int{100, 4096, 64 << 10} {
		if size >= minCompress && raceEnabled {
			t.Log("with the race detector pools forget encoders on purpose")
			break
		}
		p := make([]byte, size)
		must(t, j.AppendOutput(p))
		if n := testing.AllocsPerRun(200, func() { must(t, j.AppendOutput(p)) }); n > 1 {
			t.Errorf("an append of %d bytes allocates %v times", size, n)
		}
	}
}
