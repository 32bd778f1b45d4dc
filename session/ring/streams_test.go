package ring

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// put writes p as bytes of s as far as there is room, and returns how much that was.
func put(r *Ring, s Stream, p []byte) int {
	n := copy(r.RoomFor(s), p)
	if n > 0 {
		r.PublishAs(s, n)
	}
	return n
}

// split takes everything unread, split by stream.
func split(t *testing.T, r *Ring, off uint64, to [2]*bytes.Buffer) uint64 {
	t.Helper()
	for p := r.BytesAt(off, 1<<20); len(p) > 0; p = r.BytesAt(off, 1<<20) {
		runs, ok := r.Runs(nil, off, off+uint64(len(p)))
		if !ok {
			t.Fatal("the log makes no sense")
		}
		for _, run := range runs {
			to[run.Stream].Write(p[:run.Bytes])
			p, off = p[run.Bytes:], off+uint64(run.Bytes)
		}
	}
	return off
}

func TestHeaderFillsItsPage(t *testing.T) {
	if n := unsafe.Sizeof(header{}); n != headerSize {
		t.Errorf("the header has %d bytes", n)
	}
	if o := unsafe.Offsetof(header{}.log); o != 512 {
		t.Errorf("the log begins at %d", o)
	}
}

// FEATURES: R4
func TestStreamsAreSplitAsTheyWereWritten(t *testing.T) {
	w, r := newPair(t)
	w.SetBase(12345)
	w.Separate()
	rng := rand.New(rand.NewPCG(3, 4))
	var want, got [2]*bytes.Buffer
	for i := range want {
		want[i], got[i] = new(bytes.Buffer), new(bytes.Buffer)
	}
	off, stalls := uint64(12345), 0
	for range 20000 {
		s := Stream(rng.IntN(2))
		p := bytes.Repeat([]byte{byte(rng.Uint32())}, 1+rng.IntN(400))
		for len(p) > 0 {
			n := put(w, s, p)
			want[s].Write(p[:n])
			if p = p[n:]; n > 0 {
				continue
			}
			stalls++
			if w.StallFor(s) {
				t.Fatal("no room, and yet room")
			}
			off = split(t, r, off, got)
			if !r.Ack(off) {
				t.Fatal("nobody waits")
			}
		}
		if rng.IntN(100) == 0 {
			off = split(t, r, off, got)
			r.Ack(off)
		}
	}
	split(t, r, off, got)
	if stalls == 0 {
		t.Error("the log was never full")
	}
	for i := range want {
		if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
			t.Errorf("stream %d: %d bytes, want %d", i, got[i].Len(), want[i].Len())
		}
	}
}

// A full log holds back only the stream that needs a switch, and an acknowledgement makes
// room for it (K3).
func TestFullLogStalls(t *testing.T) {
	w, r := newPair(t)
	w.Separate()
	for i := range logEntries {
		if put(w, Stream(i%2), []byte("x")) != 1 {
			t.Fatalf("no room for switch %d", i)
		}
	}
	last, other := Stream((logEntries-1)%2), Stream(logEntries%2)
	if put(w, other, []byte("y")) != 0 || w.StallFor(other) {
		t.Error("a switch was overwritten that was not acknowledged")
	}
	if put(w, last, []byte("y")) != 1 {
		t.Error("bytes without a switch were held back")
	}
	if got := r.LogUsed(); got != 99 {
		t.Errorf("%d%% of the log are used", got)
	}
	if !r.Ack(1) {
		t.Error("nobody waits")
	}
	if put(w, other, []byte("z")) != 1 {
		t.Error("an acknowledgement made no room")
	}
	if runs, ok := r.Runs(nil, 1, 2); !ok || !slices.Equal(runs, []Run{{Stderr, 1}}) {
		t.Errorf("%v, %t", runs, ok)
	}
}

// A reader that begins anywhere in what is unread, as the next daemon does, knows the
// stream; so does one that begins where everything is acknowledged.
func TestRunsFromAnyOffset(t *testing.T) {
	w, r := newPair(t)
	w.Separate()
	for i := range 6 {
		put(w, Stream(i%2), bytes.Repeat([]byte("x"), 10))
	}
	r.Ack(25)
	for off := uint64(25); off < 60; off++ {
		runs, ok := r.Runs(nil, off, 60)
		if !ok || runs[0].Stream != Stream(off/10%2) || runs[0].Bytes != int(10-off%10) || len(runs) != int(6-off/10) {
			t.Fatalf("from %d: %v, %t", off, runs, ok)
		}
	}
	r.Ack(60)
	put(w, Stderr, []byte("more"))
	if runs, ok := r.Runs(nil, 60, 64); !ok || !slices.Equal(runs, []Run{{Stderr, 4}}) {
		t.Errorf("%v, %t", runs, ok)
	}
}

func TestOneStreamHasNoRuns(t *testing.T) {
	w, r := newPair(t)
	put(w, Stderr, []byte("abc"))
	if runs, ok := r.Runs(nil, 0, 3); ok || len(runs) != 0 {
		t.Errorf("%v, %t", runs, ok)
	}
}

// FuzzLog: whatever the log holds, Runs either covers exactly what was asked for or says
// that it cannot.
func FuzzLog(f *testing.F) {
	f.Add(uint64(2), []byte{0, 0, 0, 0, 0, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0}, uint64(0), uint64(20))
	f.Add(uint64(1<<63), bytes.Repeat([]byte{0xff}, logEntries*8), uint64(5), uint64(4000))
	f.Add(uint64(logEntries+3), bytes.Repeat([]byte{7, 0, 0, 0, 0, 0, 0, 0}, logEntries), uint64(0), uint64(100))
	f.Fuzz(func(t *testing.T, count uint64, log []byte, from, n uint64) {
		r := Local(MinSize)
		r.Separate()
		for i := 0; i < logEntries && len(log) >= 8; i, log = i+1, log[8:] {
			r.hdr.log[i].Store(binary.LittleEndian.Uint64(log))
		}
		r.hdr.switches.Store(count)
		from, n = from>>1, n%MinSize
		r.SetBase(from)
		r.hdr.head.Store(from + n)
		runs, ok := r.Runs(nil, from, from+n)
		total := 0
		for _, run := range runs {
			if run.Bytes <= 0 {
				t.Fatalf("%v", runs)
			}
			total += run.Bytes
		}
		if ok && total != int(n) || !ok && len(runs) > 0 {
			t.Fatalf("%d bytes are %v, %t", n, runs, ok)
		}
		if used := r.LogUsed(); used < 0 || used > 100 {
			t.Fatalf("%d%%", used)
		}
		r.RoomFor(Stderr)
	})
}
