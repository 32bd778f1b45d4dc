package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// build creates a journal of one segment and returns the ends of its records.
func build(t *testing.T) (content []byte, m model, ends []int) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	ends = []int{headerSize}
	for i := range 3 {
		must(t, j.AppendOutput(fmt.Appendf(nil, "line %d\r\n", i)))
		m.output(fmt.Sprintf("line %d\r\n", i))
		ends = append(ends, int(j.size))
		must(t, j.AppendResize(i+1, 2))
		m.add(entry{Kind: KindResize, Cols: i + 1, Rows: 2})
		ends = append(ends, int(j.size))
	}
	content, err := os.ReadFile(j.path(0))
	must(t, err)
	return content, m, ends
}

func lay(t *testing.T, content []byte) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, segmentName(0)), content, 0o600))
	return dir
}

// TestCutAnywhere checks that a journal cut at any byte returns exactly the complete records, and can be appended to.
//
// FEATURES: R37, R90, R93
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	content, m, ends := build(t)
	for size := range len(content) + 1 {
		whole := 0
		for whole+1 < len(ends) && ends[whole+1] <= size {
			whole++
		}
		dir := lay(t, content[:size])
		j, rec := reopen(t, dir, testOptions())
		want := model{}
		want.all = append(want.all, m.all[:whole]...)
		equal(t, entries(t, j, 0), want.all)
		if clean := size == ends[whole]; clean != (rec.Reason == "") && size > 0 {
			t.Errorf("cut at %d: recovery %+v", size, rec)
		}
		if size > headerSize && rec.Cut != int64(size-ends[whole]) {
			t.Errorf("cut at %d: recovery %+v, want %d bytes", size, rec, size-ends[whole])
		}
		want.end = j.End()
		must(t, j.AppendOutput([]byte("and on")))
		want.output("and on")
		equal(t, entries(t, j, 0), want.all)
		equal(t, entries(t, open(t, dir, testOptions()), 0), want.all)
	}
}

// TestScribbleAnywhere checks that a changed byte loses only its record, and that the loss is reported.
//
// FEATURES: R37, R93
func TestScribbleAnywhere(t *testing.T) {
	t.Parallel()
	content, m, ends := build(t)
	for at := headerSize; at < len(content); at++ {
		bad := bytes.Clone(content)
		bad[at] ^= 0x55
		j, rec := reopen(t, lay(t, bad), testOptions())
		hit := 0
		for ends[hit+1] <= at {
			hit++
		}
		want := append([]entry{}, m.all[:hit]...)
		if last := hit == len(m.all)-1; !last {
			lost := uint64(len(m.all[hit].Data))
			if lost > 0 || hit > 0 {
				want = append(want, entry{Kind: KindGap, Offset: m.all[hit].Offset, Lost: lost})
			}
			want = append(want, m.all[hit+1:]...)
		} else if rec.Cut != int64(len(content)-ends[hit]) {
			t.Errorf("scribble at %d: recovery %+v", at, rec)
		}
		equal(t, entries(t, j, 0), want)
	}
}

// TestScribbleHeader checks that a damaged header is restored if the first record has the id.
func TestScribbleHeader(t *testing.T) {
	t.Parallel()
	content, m, _ := build(t)
	for at := range headerSize {
		bad := bytes.Clone(content)
		bad[at] ^= 0x55
		j, _ := reopen(t, lay(t, bad), testOptions())
		equal(t, entries(t, j, 0), m.all)
		must(t, j.AppendOutput([]byte("x")))
	}
}

func TestHeaderBeyondUse(t *testing.T) {
	t.Parallel()
	t.Run("two", func(t *testing.T) { beyondUse(t, 1, 2) })
	t.Run("last", func(t *testing.T) { beyondUse(t, 2) })
}

// beyondUse damages the heads of some of three segments, the last one among them.
func beyondUse(t *testing.T, damaged ...int) {
	dir := t.TempDir()
	o := testOptions()
	o.SegmentBytes = 100
	j := open(t, dir, o)
	for range 3 {
		must(t, j.AppendOutput(make([]byte, 100)))
	}
	names := segments(t, dir)
	for _, i := range damaged {
		b, err := os.ReadFile(names[i])
		must(t, err)
		clear(b[:headerSize+recordHead])
		must(t, os.WriteFile(names[i], b, 0o600))
	}
	j, rec := reopen(t, dir, o)
	if !strings.Contains(rec.Reason, "damaged head") || j.End() != 200 {
		t.Errorf("recovery %+v, end %d", rec, j.End())
	}
	if _, err := os.Stat(names[2] + ".damaged"); err != nil {
		t.Error(err)
	}
	first := entry{Kind: KindOutput, Data: string(make([]byte, 100))}
	second := entry{Kind: KindOutput, Offset: 100, Data: first.Data}
	if len(damaged) == 2 {
		second = entry{Kind: KindGap, Offset: 100, Lost: 100}
	}
	equal(t, entries(t, j, 0), []entry{first, second})
	must(t, j.AppendOutput([]byte("on")))
	equal(t, entries(t, j, 0), []entry{first, second, {Kind: KindOutput, Offset: 200, Data: "on"}})
}

// TestJournalInJournal checks that no output of a program is read as a record, not even a journal's own bytes.
func TestJournalInJournal(t *testing.T) {
	t.Parallel()
	other, _, _ := build(t)
	o := testOptions()
	o.id = func() uint32 { return 99 }
	dir := t.TempDir()
	j := open(t, dir, o)
	must(t, j.AppendOutput(other))
	must(t, j.AppendOutput([]byte("end")))
	b, err := os.ReadFile(j.path(0))
	must(t, err)
	b[headerSize+20] ^= 1 // the first record's offset
	j, _ = reopen(t, lay(t, b), o)
	equal(t, entries(t, j, 0), []entry{
		{Kind: KindGap, Lost: uint64(len(other))}, {Kind: KindOutput, Offset: uint64(len(other)), Data: "end"},
	})
}

// TestHoleInOldSegment loses a whole sector in an older segment, with enough after it for bisection to end in the hole.
func TestHoleInOldSegment(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.SegmentBytes = 2 << 20
	dir := t.TempDir()
	j := open(t, dir, o)
	p := make([]byte, 4096-recordHead-recordTail)
	for i := range 1000 {
		for k := range p {
			p[k] = byte(i)
		}
		must(t, j.AppendOutput(p))
	}
	must(t, j.Close())
	f, err := os.OpenFile(j.path(0), os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, 1<<20), headerSize+100*4096+1)
	must(t, errors.Join(err, f.Close()))
	j = open(t, dir, o)
	size := uint64(len(p))
	for _, i := range []uint64{0, 99, 100, 200, 356, 357, 400, 511, 512, 999} {
		want, gap := i, uint64(0)
		if i >= 100 && i < 357 {
			want, gap = 357, (357-i)*size
		}
		dst := make([]byte, 10)
		n, next, lost, err := j.ReadAt(i*size, dst)
		if n != 10 || lost != gap || next != want*size+10 || dst[0] != byte(want) || err != nil {
			t.Errorf("record %d: %d bytes %v, next %d gap %d %v, want gap %d", i, n, dst, next, lost, err, gap)
		}
	}
}

// FEATURES: R93, R97
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		fail func(d *disk)
	}{
		{"full", func(d *disk) {
			d.write = func(string, []byte) (int, error) { return 0, syscall.ENOSPC }
		}},
		{"full in the middle", func(d *disk) {
			d.write = func(_ string, p []byte) (int, error) { return len(p) / 2, syscall.ENOSPC }
		}},
		{"short write", func(d *disk) {
			d.write = func(_ string, p []byte) (int, error) { return len(p) - 1, nil }
		}},
		{"bad sector after all was written", func(d *disk) {
			d.write = func(_ string, p []byte) (int, error) { return len(p), syscall.EIO }
		}},
		{"torn, truncate fails too", func(d *disk) {
			d.write = func(_ string, p []byte) (int, error) { return len(p) - 5, syscall.EIO }
			d.truncate = func(string) error { return syscall.EIO }
		}},
		{"read-only", func(d *disk) {
			d.write = func(string, []byte) (int, error) { return 0, syscall.EROFS }
			d.truncate = func(string) error { return syscall.EROFS }
			d.create = func(string) error { return syscall.EROFS }
		}},
		{"no new file", func(d *disk) { d.create = func(string) error { return syscall.ENOSPC } }},
		{"nothing can be undone", func(d *disk) {
			d.write = func(_ string, p []byte) (int, error) { return len(p) - 5, syscall.EIO }
			d.truncate = func(string) error { return syscall.EIO }
			d.remove = func(string) error { return syscall.EIO }
		}},
	} {
		for _, size := range []int64{1 << 20, 100} { // in a segment, or each starting one
			for _, plain := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/%v", c.name, size, plain), func(t *testing.T) {
					survives(t, size, plain, c.fail)
				})
			}
		}
	}
}

// survives appends before, during and after a disk failure, and reads the journal as readers and the next process would
// at every point.
func survives(t *testing.T, segmentBytes int64, plain bool, fail func(*disk)) {
	o := testOptions()
	d := &disk{}
	o.FS, o.SegmentBytes, o.Plain = d, segmentBytes, plain
	dir := t.TempDir()
	j := open(t, dir, o)
	var m model
	for i := range 4 {
		line := strings.Repeat(fmt.Sprint(i), 60)
		must(t, j.AppendOutput([]byte(line)))
		m.output(line)
	}
	before := len(m.all)
	failed := 0
	fail(d)
	for i := range 3 {
		long := strings.Repeat("lost", (3*MaxPayload+i)/4) // leaves complete records at the end
		if err := j.AppendOutput([]byte(long)); err != nil {
			failed++
		} else {
			m.output(long)
		}
		equal(t, entries(t, j, 0), m.all)
	}
	if segmentBytes == 100 && failed != 3 {
		t.Errorf("%d appends failed", failed)
	}
	crashed, _ := reopen(t, dir, o) // as if the process died now
	got := entries(t, crashed, 0)
	equal(t, got[:before], m.all[:before])
	d.write, d.truncate, d.create, d.remove = nil, nil, nil, nil
	must(t, j.AppendOutput([]byte("back")))
	m.output("back")
	equal(t, entries(t, open(t, dir, o), 0), m.all) // nothing is left after its end
	fill(t, j, &m)
	equal(t, entries(t, j, 0), m.all)
	equal(t, entries(t, open(t, dir, o), 0), m.all)
}

// TestRecoverReadOnly checks that a torn tail that cannot be cut yet is not returned and does not prevent reads.
func TestRecoverReadOnly(t *testing.T) {
	t.Parallel()
	content, m, _ := build(t)
	dir := lay(t, append(content, content[headerSize:headerSize+40]...))
	o := testOptions()
	d := &disk{truncate: func(string) error { return syscall.EROFS }}
	o.FS = d
	j, rec := reopen(t, dir, o)
	if !errors.Is(rec.Pending, syscall.EROFS) || rec.Reason == "" {
		t.Errorf("recovery %+v", rec)
	}
	equal(t, entries(t, j, 0), m.all)
	if err := j.AppendOutput([]byte("x")); !errors.Is(err, syscall.EROFS) {
		t.Errorf("append: %v", err)
	}
	d.truncate = nil
	must(t, j.AppendOutput([]byte("x")))
	m.output("x")
	equal(t, entries(t, open(t, dir, o), 0), m.all)
}

func TestSync(t *testing.T) {
	t.Parallel()
	o := testOptions()
	d := &disk{}
	o.FS, o.SegmentBytes = d, 100
	dir := t.TempDir()
	j := open(t, dir, o)
	for range 3 {
		must(t, j.AppendOutput(make([]byte, 100)))
	}
	d.sync = func(name string) error {
		if name == j.path(100) {
			return syscall.EIO
		}
		return nil
	}
	if err := j.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v", err)
	}
	d.sync, d.synced = nil, nil
	must(t, j.Sync())
	if len(d.synced) != 1 || d.synced[0] != j.path(100) {
		t.Errorf("synced again: %v, want only what failed", d.synced)
	}
	d.synced = nil
	must(t, j.Sync())
	if len(d.synced) != 0 {
		t.Errorf("synced without need: %v", d.synced)
	}
}

// TestMetamorphic checks that after random appends, failures, crashes and damage at the tail, acknowledged records
// exist exactly once after every step.
//
// FEATURES: R37, R90, R93
func TestMetamorphic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tier.Times(20, 60)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { metamorphic(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func metamorphic(t *testing.T, rnd *rand.Rand) {
	d := &disk{}
	o := testOptions()
	o.FS, o.SegmentBytes = d, 1+rnd.Int64N(20_000)
	dir := t.TempDir()
	j := open(t, dir, o)
	var m model
	for range 60 {
		step(t, rnd, j, &m, d)
		switch rnd.IntN(12) {
		case 0: // killed, perhaps in the middle of a write
			if rnd.IntN(2) == 0 {
				tear(t, rnd, dir)
			}
			j, _ = reopen(t, dir, o)
			if j.End() != m.end {
				t.Fatalf("after a crash the end is %d, want %d", j.End(), m.end)
			}
		case 1:
			equal(t, entries(t, j, 0), m.all)
		case 2:
			from := rnd.Uint64N(m.end + 1)
			equal(t, entries(t, j, from), m.from(from))
		}
	}
	equal(t, entries(t, j, 0), m.all)
}

// step appends something, or fails to.
func step(t *testing.T, rnd *rand.Rand, j *Journal, m *model, d *disk) {
	d.write, d.truncate = nil, nil
	if rnd.IntN(6) == 0 {
		d.write = func(_ string, p []byte) (int, error) { return rnd.IntN(len(p)), syscall.ENOSPC }
		if rnd.IntN(3) == 0 {
			d.truncate = func(string) error { return syscall.EIO }
		}
		if err := j.AppendOutput(make([]byte, 1+rnd.IntN(300))); err == nil {
			t.Fatal("no error")
		}
		d.write, d.truncate = nil, nil
		return
	}
	switch rnd.IntN(5) {
	case 0:
		must(t, j.AppendResize(7, 8))
		m.add(entry{Kind: KindResize, Cols: 7, Rows: 8})
	case 1:
		n := 1 + rnd.Uint64N(1000)
		must(t, j.AppendGap(n))
		m.add(entry{Kind: KindGap, Lost: n})
	default:
		p := make([]byte, 1+rnd.IntN(9000))
		for i := range p {
			p[i] = byte('a' + rnd.IntN(26))
		}
		cut := rnd.IntN(len(p))
		must(t, j.AppendOutput(p[:cut], p[cut:]))
		m.output(string(p))
	}
}

// tear appends the start of a record after the last segment's end.
func tear(t *testing.T, rnd *rand.Rand, dir string) {
	names := segments(t, dir)
	if len(names) == 0 {
		return
	}
	name := names[len(names)-1]
	b, err := os.ReadFile(name)
	must(t, err)
	if len(b) < headerSize+recordHead {
		return
	}
	torn := b[headerSize : headerSize+1+rnd.IntN(recordHead-1)]
	must(t, os.WriteFile(name, append(b, torn...), 0o600))
}

// TestLongTornTail checks that a file may have its length but not its content after a power loss.
//
// FEATURES: R93
func TestLongTornTail(t *testing.T) {
	t.Parallel()
	for _, torn := range []int{1, 100, recoverBytes - 10, recoverBytes + 1<<20} {
		o := testOptions()
		dir := t.TempDir()
		j := open(t, dir, o)
		var m model
		for i := range 100 {
			line := strings.Repeat(fmt.Sprint(i), 30_000)
			must(t, j.AppendOutput([]byte(line)))
			m.output(line)
		}
		size := j.size
		must(t, errors.Join(j.Close(), os.Truncate(j.path(0), size+int64(torn))))
		j, rec := reopen(t, dir, o)
		if rec.Cut != int64(torn) || rec.Reason == "" || rec.Pending != nil {
			t.Errorf("%d bytes torn: recovery %+v", torn, rec)
		}
		equal(t, entries(t, j, 0), m.all)
		if st, err := os.Stat(j.path(0)); err != nil || st.Size() != size {
			t.Errorf("%d bytes torn: size %v %v", torn, st.Size(), err)
		}
	}
}
