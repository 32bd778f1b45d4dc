package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

func verified(t testing.TB, dir string) Report {
	t.Helper()
	rep, err := Verify(dir)
	must(t, err)
	return rep
}

func faults(rep Report) (all []Fault) {
	for _, p := range rep.Problems {
		all = append(all, p.Fault)
	}
	return all
}

// FEATURES: R92, R93
func TestVerifyWhole(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 7))
	o := testOptions()
	o.SegmentBytes = 100_000
	dir := t.TempDir()
	j := open(t, dir, o)
	mixed(t, rnd, j, 100)
	for _, when := range []string{"hot", "compacted"} {
		rep := verified(t, dir)
		if len(rep.Problems) > 0 || rep.End != j.End() || rep.Bytes != onDisk(t, dir) || rep.Segments != len(j.segments) || rep.Records < 100 {
			t.Errorf("%s: %+v", when, rep)
		}
		_, err := j.Compact(t.Context())
		must(t, err)
	}
}

// TestVerifyFinds_RepairFixes checks that each fault is named with its position, and fixed by Repair, which keeps all
// readable records.
//
// FEATURES: R93
func TestVerifyFinds_RepairFixes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, names []string)
		want   []Fault
	}{
		{"flipped bit", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, []Fault{FaultRecord}},
		{"two holes", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { clear(b[5000:6000]); clear(b[12_000:13_000]); return b })
		}, []Fault{FaultRecord, FaultRecord}},
		{"cut off", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { return b[:len(b)-1000] })
		}, []Fault{FaultRecord}},
		{"header", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { clear(b[8:20]); return b })
		}, []Fault{FaultHeader}},
		{"head of the first record too", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { clear(b[:headerSize+recordHead]); return b })
		}, []Fault{FaultHeader, FaultRecord}},
		{"segment gone", func(t *testing.T, names []string) { must(t, os.Remove(names[1])) }, []Fault{FaultMissing}},
		{"torn end", func(t *testing.T, names []string) {
			edit(t, names[len(names)-1], func(b []byte) []byte { return append(b, b[headerSize:headerSize+50]...) })
		}, []Fault{FaultTail}},
		{"begun and not written", func(t *testing.T, names []string) {
			last := names[len(names)-1]
			edit(t, last, func(b []byte) []byte { return b[:20] })
		}, []Fault{FaultHeader}},
		{"records twice", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte { return append(b, b[headerSize:]...) })
		}, []Fault{FaultOverlap}},
		{"block that cannot be decoded", func(t *testing.T, names []string) {
			edit(t, names[1], func(b []byte) []byte {
				id := le.Uint32(b[32:])
				r := raw{kind: kindBlock, offset: le.Uint64(b[16:]), payload: b[headerSize : headerSize+100]}
				p := &packer{file: &memFile{}, id: id}
				must(t, p.addSingle(&r))
				return slices.Concat(b[:headerSize], p.buf, b[headerSize:])
			})
		}, []Fault{FaultBlock, FaultOverlap}},
	} {
		for _, compacted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", c.name, compacted), func(t *testing.T) {
				mends(t, compacted, c.damage, c.want)
			})
		}
	}
}

func edit(t testing.TB, name string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, f(b), 0o600))
}

func mends(t *testing.T, compacted bool, damage func(*testing.T, []string), want []Fault) {
	rnd := rand.New(rand.NewPCG(1, 8))
	o := testOptions()
	o.SegmentBytes, o.Plain = 60_000, true
	dir := t.TempDir()
	j := open(t, dir, o)
	must(t, j.AppendResize(90, 30))
	for range 40 {
		must(t, j.AppendOutput(noise(rnd, 1500)))
		must(t, j.AppendOutput(prose(rnd, 3000)))
		must(t, j.AppendMark([]byte("mark")))
	}
	if compacted {
		_, err := j.Compact(t.Context())
		must(t, err)
	}
	must(t, j.Close())
	names := segments(t, dir)
	damage(t, names)
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("?"), 0o600))

	rep := verified(t, dir)
	for _, f := range append(want, FaultStray) {
		if !slices.Contains(faults(rep), f) {
			t.Errorf("%q is not among %v", f, rep.Problems)
		}
	}
	j, _ = reopen(t, copyOf(t, dir), o)
	before := kept(timeline(t, j.NewReader(0)))
	must(t, j.Close())
	_, err := Repair(dir)
	must(t, err)
	for _, p := range verified(t, dir).Problems {
		if p.Fault != FaultStray {
			t.Errorf("after Repair: %s", p)
		}
	}
	j = open(t, dir, o)
	sameTimeline(t, kept(timeline(t, j.NewReader(0))), before)
	must(t, j.AppendOutput([]byte("and on")))
}

// TestRepairKnowsSize checks that a lost resize is known from the following blocks.
func TestRepairKnowsSize(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 14))
	dir := t.TempDir()
	j := open(t, dir, testOptions())
	must(t, j.AppendResize(80, 24))
	must(t, j.AppendOutput(prose(rnd, 100_000)))
	at := j.size
	must(t, j.AppendResize(120, 40))
	must(t, j.AppendOutput(prose(rnd, 100_000)))
	must(t, j.Close())
	edit(t, segments(t, dir)[0], func(b []byte) []byte { b[at+recordHead] ^= 1; return b })
	_, err := repair(dir, testOptions())
	must(t, err)
	j = open(t, dir, testOptions())
	_, err = j.Compact(t.Context()) // no longer worthwhile: Repair made it dense
	must(t, err)
	if !slices.Contains(entries(t, j, 0), entry{Kind: KindGap, Offset: 100_000}) {
		t.Error("the loss is not reported")
	}
	for off, want := range map[uint64]int{0: 80, 99_000: 80, 101_000: 120, j.End(): 120} {
		if cols, _, err := j.SizeAt(off); cols != want || err != nil {
			t.Errorf("at %d: %d columns %v, want %d", off, cols, err, want)
		}
	}
}

// threeSegments returns a closed journal whose segments hold 100 bytes each, printed an hour apart.
func threeSegments(t *testing.T) (dir string, names []string, o Options) {
	t.Helper()
	now := epoch
	dir, o = t.TempDir(), testOptions()
	o.SegmentBytes, o.Plain, o.Now = 100, true, func() time.Time { return now }
	j := open(t, dir, o)
	for range 3 {
		must(t, j.AppendOutput(make([]byte, 100)))
		now = now.Add(time.Hour)
	}
	must(t, j.Close())
	return dir, segments(t, dir), o
}

// TestRepairKeepsWhatItCannotRead checks that the bytes of an unreadable segment stay, and that damage is repaired even
// if there is more than is listed.
//
// FEATURES: R93
func TestRepairKeepsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir, names, o := threeSegments(t)
	edit(t, names[1], func(b []byte) []byte { clear(b[:headerSize+recordHead]); return b })
	was, err := os.ReadFile(names[1])
	must(t, err)
	for i := range maxProblems + 1 {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("note%04d", i)), nil, 0o600))
	}
	rep, err := repair(dir, o)
	if must(t, err); rep.More == 0 {
		t.Fatal("all is listed")
	}
	if b, err := os.ReadFile(names[1] + damagedSuffix); err != nil || !slices.Equal(b, was) {
		t.Errorf("%d bytes of %d are kept: %v", len(b), len(was), err)
	}
	j := open(t, dir, o)
	if all := entries(t, j, 0); len(all) != 3 || all[1].Kind != KindGap || all[1].Lost != 100 {
		t.Errorf("%v", all)
	}
}

// TestRepairKnowsAge checks that a segment with a new header is as old as its first record, and is dropped when that is
// too old.
//
// FEATURES: R92, R93
func TestRepairKnowsAge(t *testing.T) {
	t.Parallel()
	dir, names, o := threeSegments(t)
	edit(t, names[1], func(b []byte) []byte { clear(b[8:20]); return b })
	_, err := repair(dir, o)
	must(t, err)
	j := open(t, dir, o)
	h, ok, err := j.header(j.bases()[1])
	if must(t, err); !ok || h.created != epoch.Add(time.Hour).UnixNano() {
		t.Errorf("it is from %v, %t", time.Unix(0, h.created), ok)
	}
}

// TestFromInside checks that a record that overlaps known output is cut, a gap like output.
func TestFromInside(t *testing.T) {
	t.Parallel()
	gap := raw{kind: KindGap, offset: 10, payload: le.AppendUint64(nil, 100)}.from(30)
	output := raw{kind: KindOutput, offset: 10, payload: []byte("0123456789")}.from(14)
	if gap.offset != 30 || gap.span() != 80 || output.offset != 14 || string(output.payload) != "456789" {
		t.Errorf("%d+%d, %d %s", gap.offset, gap.span(), output.offset, output.payload)
	}
}

// kept removes gaps without a size and joins those made by damage.
func kept(all []timed) (some []timed) {
	lost := timed{entry{Kind: KindGap}, time.Time{}.UnixNano()}
	for _, r := range all {
		if last := len(some) - 1; last >= 0 && r.Kind == KindGap && r.at == lost.at && some[last].Kind == KindGap && some[last].at == lost.at {
			some[last].Lost += r.Lost
		} else if r.Kind != KindGap || r.Lost > 0 {
			some = append(some, r)
		}
	}
	return some
}

func copyOf(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// TestRepairRandomDamage checks that Repair keeps all that readers saw after random bytes of random segments were
// changed.
//
// FEATURES: R37, R93
func TestRepairRandomDamage(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tier.Times(4, 10)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		o := testOptions()
		o.SegmentBytes, o.Plain = 1+rnd.Int64N(100_000), seed%2 == 0
		dir := t.TempDir()
		j := open(t, dir, o)
		mixed(t, rnd, j, 60)
		if seed%3 == 0 {
			_, err := j.Compact(t.Context())
			must(t, err)
		}
		must(t, j.Close())
		for range 1 + rnd.IntN(8) {
			names := segments(t, dir)
			edit(t, names[rnd.IntN(len(names))], func(b []byte) []byte {
				at := rnd.IntN(len(b))
				copy(b[at:], noise(rnd, 1+rnd.IntN(200)))
				return b
			})
		}
		j, _ = reopen(t, copyOf(t, dir), o)
		before := kept(timeline(t, j.NewReader(0)))
		rep, err := repair(dir, testOptions())
		must(t, err)
		for _, p := range verified(t, dir).Problems {
			if p.Fault != FaultStray || !strings.HasSuffix(p.File, damagedSuffix) {
				t.Errorf("seed %d: after Repair: %s; before: %v", seed, p, rep.Problems)
			}
		}
		j = open(t, dir, o)
		sameTimeline(t, kept(timeline(t, j.NewReader(0))), before)
	}
}
