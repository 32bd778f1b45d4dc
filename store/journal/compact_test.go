package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// timed is a record with everything in it, in a form that compares.
type timed struct {
	entry
	at int64
}

// timeline reads to the end from an offset.
func timeline(t testing.TB, r *Reader) []timed {
	t.Helper()
	defer r.Close()
	var all []timed
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, timed{entryOf(rec), rec.Time.UnixNano()})
	}
}

func sameTimeline(t testing.TB, got, want []timed) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			var g, w string
			if i < len(got) {
				g = fmt.Sprint(got[i].at, " ", got[i].entry)
			}
			if i < len(want) {
				w = fmt.Sprint(want[i].at, " ", want[i].entry)
			}
			t.Fatalf("record %d of %d is %.150s\nwant, of %d, %.150s", i, len(got), g, len(want), w)
		}
	}
}

// mixed appends records of all kinds and sizes, some of a later format among them.
func mixed(t testing.TB, rnd *rand.Rand, j *Journal, count int) {
	t.Helper()
	for range count {
		switch rnd.IntN(12) {
		case 0:
			must(t, j.AppendResize(1+rnd.IntN(300), 1+rnd.IntN(100)))
		case 1:
			must(t, j.AppendGap(1+rnd.Uint64N(5000)))
		case 2:
			must(t, j.AppendMark(noise(rnd, rnd.IntN(100))))
		case 3:
			must(t, j.AppendExit(Exit{Code: rnd.IntN(256), MaxRSS: rnd.Int64()}))
		case 4:
			must(t, j.append(Kind(100+rnd.IntN(100)), noise(rnd, rnd.IntN(200)), rnd.Uint64N(50)))
			must(t, j.AppendOutput([]byte("x"))) // shows how far the previous record moved the offset
		case 5:
			must(t, j.AppendOutput(noise(rnd, 1+rnd.IntN(100_000))))
		case 6, 7:
			must(t, j.AppendOutput(prose(rnd, 1+rnd.IntN(100_000))))
		default:
			must(t, j.AppendOutput(prose(rnd, 1+rnd.IntN(200))))
		}
	}
}

func noise(rnd *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rnd.Uint32())
	}
	return p
}

var words = strings.Fields("make gcc -O2 -Wall error: warning: in function 'main' src/ .c .o \x1b[1m \x1b[0m\r\n 17 4096")

func prose(rnd *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[rnd.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.Bytes()[:n]
}

// jumpy is a clock with random steps, sometimes backwards.
func jumpy(rnd *rand.Rand, back bool) func() time.Time {
	now := epoch
	return func() time.Time {
		now = now.Add(time.Duration(rnd.Int64N(int64(time.Minute))))
		if back && rnd.IntN(10) == 0 {
			now = now.Add(-time.Hour)
		}
		return now
	}
}

// TestCompactKeepsRecords checks that compaction changes nothing that a reader sees, from any offset.
//
// FEATURES: R37, R92
func TestCompactKeepsRecords(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tier.Times(2, 6)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			o := testOptions()
			o.SegmentBytes = 1 + rnd.Int64N(300_000)
			o.Now = jumpy(rnd, false)
			o.Plain = seed%3 == 0
			dir := t.TempDir()
			j := open(t, dir, o)
			mixed(t, rnd, j, 20+rnd.IntN(80))
			before := look(t, rnd, j)
			c, err := j.Compact(t.Context())
			must(t, err)
			if c.Damaged > 0 {
				t.Errorf("damaged: %+v", c)
			}
			before.compare(t, j)
			before.compare(t, open(t, dir, o))
			mixed(t, rnd, j, 20)
			before = look(t, rnd, j)
			_, err = j.Compact(t.Context())
			must(t, err)
			before.compare(t, j)
			before.compare(t, open(t, dir, o))
			if news, _ := os.ReadDir(dir); len(news) != len(j.segments) {
				t.Errorf("%d files, %d segments", len(news), len(j.segments))
			}
		})
	}
}

// view returns what readers see of a journal, by all ways of reading.
type view struct {
	offs  []uint64
	at    []time.Time
	from  [][]timed
	reads [][]byte
	found []uint64
	dims  [][2]int
}

func look(t testing.TB, rnd *rand.Rand, j *Journal) *view {
	v := &view{offs: []uint64{0, j.End()}}
	for range 6 {
		v.offs = append(v.offs, rnd.Uint64N(j.End()+1))
		v.at = append(v.at, epoch.Add(time.Duration(rnd.Int64N(int64(3*time.Hour)))))
	}
	v.fill(t, j)
	return v
}

func (v *view) fill(t testing.TB, j *Journal) {
	for _, off := range v.offs {
		v.from = append(v.from, timeline(t, j.NewReader(off)))
		dst := make([]byte, 3000)
		n, next, gap, err := j.ReadAt(off, dst)
		must(t, err)
		v.reads = append(v.reads, fmt.Appendf(dst[:n], " next %d gap %d", next, gap))
		cols, rows, err := j.SizeAt(off)
		must(t, err)
		v.dims = append(v.dims, [2]int{cols, rows})
	}
	for _, at := range v.at {
		off, err := j.OffsetAt(at)
		must(t, err)
		v.found = append(v.found, off)
	}
}

func (v *view) compare(t testing.TB, j *Journal) {
	t.Helper()
	now := &view{offs: v.offs, at: v.at}
	now.fill(t, j)
	for i := range v.from {
		sameTimeline(t, now.from[i], v.from[i])
		if !bytes.Equal(now.reads[i], v.reads[i]) {
			t.Errorf("ReadAt(%d) is %.100q, was %.100q", v.offs[i], now.reads[i], v.reads[i])
		}
	}
	if !slices.Equal(now.found, v.found) {
		t.Errorf("OffsetAt is %v, was %v", now.found, v.found)
	}
	if !slices.Equal(now.dims, v.dims) {
		t.Errorf("SizeAt is %v, was %v", now.dims, v.dims)
	}
}

// TestCompactUnderReaders checks that readers whose segments are replaced continue with the record after the last one
// returned, whether they keep the file open or not.
//
// FEATURES: R37, R92
func TestCompactUnderReaders(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for seed := range uint64(15) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		o := testOptions()
		o.SegmentBytes, o.FS = 1+rnd.Int64N(100_000), newMemDisk(rnd)
		j := open(t, tortureDir, o)
		mixed(t, rnd, j, 40)
		type reading struct {
			r    *Reader
			seen []timed
		}
		all := make([]reading, 8)
		for i := range all {
			all[i].r = j.NewReader(0)
		}
		for range 6 {
			for i := range all {
				a := &all[i]
				for range rnd.IntN(40) {
					rec, err := a.r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					must(t, err)
					a.seen = append(a.seen, timed{entryOf(rec), rec.Time.UnixNano()})
				}
				if rnd.IntN(2) == 0 {
					a.r.Close()
				}
			}
			mixed(t, rnd, j, 8)
			_, err := j.Compact(t.Context())
			must(t, err)
		}
		want := timeline(t, j.NewReader(0))
		for i := range all {
			sameTimeline(t, append(all[i].seen, timeline(t, all[i].r)...), want)
		}
	}
}

// TestCompactAgain checks that the last segment is rewritten again only if it has grown, and that dense blocks are
// copied unchanged.
func TestCompactAgain(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 3))
	j := open(t, t.TempDir(), testOptions())
	for range 100 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	first, err := j.Compact(t.Context())
	must(t, err)
	if first.Segments != 1 || first.After >= first.Before/2 || first.After != j.size {
		t.Errorf("first %+v, size %d", first, j.size)
	}
	again, err := j.Compact(t.Context())
	must(t, err)
	if again != (Compaction{}) {
		t.Errorf("without need: %+v", again)
	}
	want := timeline(t, j.NewReader(0))
	for range 50 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	grown, err := j.Compact(t.Context())
	must(t, err)
	if grown.Segments != 1 || grown.After < first.After {
		t.Errorf("grown: %+v", grown)
	}
	sameTimeline(t, timeline(t, j.NewReader(0))[:len(want)], want)
}

func TestCompactStops(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 4))
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	for range 100 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if names, err := os.ReadDir(dir); len(names) != 1 || err != nil {
		t.Errorf("left behind: %v %v", names, err)
	}
}

// TestCompactLeavesDamage checks that a damaged segment is not compacted: only Repair decides about its content.
func TestCompactLeavesDamage(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 5))
	o := testOptions()
	o.SegmentBytes = 50_000
	dir := t.TempDir()
	j := open(t, dir, o)
	for range 60 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	name := segments(t, dir)[1]
	b, err := os.ReadFile(name)
	must(t, err)
	b[20_000] ^= 1
	must(t, os.WriteFile(name, b, 0o600))
	want := timeline(t, j.NewReader(0))
	c, err := j.Compact(t.Context())
	must(t, err)
	if c.Damaged != 1 || c.Segments < 2 {
		t.Errorf("%+v", c)
	}
	if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, b) {
		t.Errorf("the damaged segment was changed: %v", err)
	}
	sameTimeline(t, timeline(t, j.NewReader(0)), want)
}

// TestCompactRetired checks that a segment retired while it is rewritten does not come back.
func TestCompactRetired(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 6))
	o := testOptions()
	o.SegmentBytes = 50_000
	d := &disk{}
	o.FS = d
	dir := t.TempDir()
	j := open(t, dir, o)
	for range 60 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	d.create = func(name string) error {
		if strings.HasSuffix(name, tempSuffix) {
			return j.DropBefore(100_000)
		}
		return nil
	}
	_, err := j.Compact(t.Context())
	must(t, err)
	if got := segments(t, dir); len(got) != len(j.segments) || j.Start() < 50_000 {
		t.Errorf("files %v, segments %v", got, j.segments)
	}
}

// TestCompactWhileAppending checks that appends continue while the last segment is rewritten: compaction includes some,
// and skips the segment if they do not end.
func TestCompactWhileAppending(t *testing.T) {
	t.Parallel()
	const atTheEnd = 0
	for _, times := range []int{1, 1000, atTheEnd} {
		rnd := rand.New(rand.NewPCG(1, 10))
		d := &disk{}
		o := testOptions()
		o.FS = d
		dir := t.TempDir()
		j := open(t, dir, o)
		for range 50 {
			must(t, j.AppendOutput(prose(rnd, 3000)))
		}
		left := times
		meanwhile := func(name string) {
			if strings.HasSuffix(name, tempSuffix) && left > 0 {
				left--
				must(t, j.AppendOutput(prose(rnd, 3000)))
			}
		}
		if times == atTheEnd {
			left, d.closing = 1, meanwhile
		} else {
			d.write = func(name string, p []byte) (int, error) { meanwhile(name); return len(p), nil }
		}
		c, err := j.Compact(t.Context())
		must(t, err)
		if (c.Segments == 1) != (times == 1) {
			t.Errorf("%d appends: %+v", times, c)
		}
		must(t, j.AppendOutput([]byte("the last")))
		lines := 50 + max(times, 1) - left
		want := uint64(lines*3000 + len("the last"))
		got := entries(t, open(t, dir, testOptions()), 0)
		if last := got[len(got)-1]; j.End() != want || len(got) != lines+1 || last.Data != "the last" {
			t.Errorf("%d appends: %d records to %d, want %d to %d", times, len(got), j.End(), lines+1, want)
		}
	}
}

// TestCompactWhileOpening replaces a segment between a reader's lookup and its open.
func TestCompactWhileOpening(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 11))
	d := &disk{}
	o := testOptions()
	o.FS = d
	j := open(t, t.TempDir(), o)
	for range 50 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	want := timeline(t, j.NewReader(0))
	for _, from := range []uint64{0, 100_000} {
		d.opening = func(string) {
			d.opening = nil
			for range 50 {
				must(t, j.AppendOutput(prose(rnd, 3000)))
			}
			c, err := j.Compact(t.Context())
			must(t, err)
			if c.Segments != 1 {
				t.Errorf("%+v", c)
			}
		}
		got := timeline(t, j.NewReader(from))
		want = append(want, got[len(got)-50:]...)
		var m model
		for _, r := range want {
			m.add(r.entry)
			m.end += uint64(len(r.Data))
		}
		var only []entry
		for _, r := range got {
			only = append(only, r.entry)
		}
		equal(t, only, m.from(from))
	}
}

// TestCompactWhileSyncing checks that a sync that finds the new version of a segment does not leave the old one, which
// a power loss can bring back, without the appended records.
func TestCompactWhileSyncing(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 12))
	d := newMemDisk(rnd)
	o := testOptions()
	o.FS = d
	j := open(t, tortureDir, o)
	must(t, j.AppendOutput([]byte("begin")))
	must(t, j.Sync())
	for range 50 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	want := entries(t, j, 0)
	d.opening = func(string) {
		d.opening = nil
		c, err := j.Compact(t.Context())
		must(t, err)
		if c.Segments != 1 {
			t.Errorf("%+v", c)
		}
	}
	must(t, j.Sync())
	o.FS = d.unplugged(true)
	equal(t, entries(t, open(t, tortureDir, o), 0), want)
}

// TestCompactBeforeAnnounced checks that a reader that opens the new version of the last segment before it is announced
// waits for that.
func TestCompactBeforeAnnounced(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 15))
	d := &disk{}
	o := testOptions()
	o.FS = d
	j := open(t, t.TempDir(), o)
	for range 50 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	opened, result := make(chan struct{}, 2*maxOpenTries), make(chan error, 1)
	d.renamed = func() {
		d.mu.Lock()
		d.opening = func(string) { opened <- struct{}{} }
		d.mu.Unlock()
		go func() {
			_, _, _, err := j.ReadAt(1000, make([]byte, 100))
			result <- err
		}()
		<-opened
	}
	c, err := j.Compact(t.Context())
	must(t, err)
	if err := <-result; err != nil || c.Segments != 1 || len(opened) > 2 {
		t.Errorf("%v; %+v, opened %d times more", err, c, len(opened))
	}
}

// TestCompactWhileSealed appends to the last segment, and starts the next one, while compaction reads its length.
func TestCompactWhileSealed(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 16))
	d := &disk{}
	o := testOptions()
	o.FS, o.SegmentBytes, o.Plain = d, 200_000, true
	j := open(t, t.TempDir(), o)
	for range 50 {
		must(t, j.AppendOutput(prose(rnd, 3000)))
	}
	d.measured = func() {
		d.measured = nil
		for range 40 {
			must(t, j.AppendOutput(prose(rnd, 3000)))
		}
	}
	_, err := j.Compact(t.Context())
	must(t, err)
	for i, e := range entries(t, j, 0) {
		if e.Kind != KindOutput || e.Offset != uint64(3000*i) {
			t.Fatalf("record %d is %.50s", i, e)
		}
	}
	if len(j.segments) != 2 || j.End() != 90*3000 {
		t.Errorf("%d segments to %d", len(j.segments), j.End())
	}
}
