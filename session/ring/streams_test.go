package ring

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// writeStream writes p as bytes of s as far as there is space, and returns how many it wrote.
func writeStream(r *Ring, s Stream, p []byte) int {
	n := copy(r.RoomFor(s), p)
	if n > 0 {
		r.PublishAs(s, n)
	}
	return n
}

// readByStream reads all unread bytes and splits them by stream.
func readByStream(t *testing.T, r *Ring, off uint64, to [2]*bytes.Buffer) uint64 {
	t.Helper()
	for p := r.BytesAt(off, 1<<20); len(p) > 0; p = r.BytesAt(off, 1<<20) {
		runs, ok := r.Runs(nil, off, off+uint64(len(p)))
		if !ok {
			t.Fatal("the log is invalid")
		}
		for _, run := range runs {
			to[run.Stream].Write(p[:run.Bytes])
			p, off = p[run.Bytes:], off+uint64(run.Bytes)
		}
	}
	return off
}

func TestHeader_Layout(t *testing.T) {
	if n := unsafe.Sizeof(header{}); n != headerSize {
		t.Errorf("got a header of %d bytes", n)
	}
	if o := unsafe.Offsetof(header{}.log); o != 512 {
		t.Errorf("got the log at offset %d", o)
	}
}

// FEATURES: R4
func TestStreams_ReadAsWritten(t *testing.T) {
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
			n := writeStream(w, s, p)
			want[s].Write(p[:n])
			if p = p[n:]; n > 0 {
				continue
			}
			stalls++
			if w.StallFor(s) {
				t.Fatal("StallFor reports space that RoomFor lacks")
			}
			off = readByStream(t, r, off, got)
			if !r.Ack(off) {
				t.Fatal("Ack does not request to wake the writer")
			}
		}
		if rng.IntN(100) == 0 {
			off = readByStream(t, r, off, got)
			r.Ack(off)
		}
	}
	readByStream(t, r, off, got)
	if stalls == 0 {
		t.Error("the log was never full")
	}
	for i := range want {
		if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
			t.Errorf("stream %d: got %d bytes, want %d", i, got[i].Len(), want[i].Len())
		}
	}
}

// TestStreams_FullLog_Stalls checks that a full log delays only the stream that needs a switch, and an acknowledgement
// frees space for it (K3).
func TestStreams_FullLog_Stalls(t *testing.T) {
	w, r := newPair(t)
	w.Separate()
	for i := range logEntries {
		if writeStream(w, Stream(i%2), []byte("x")) != 1 {
			t.Fatalf("no space for switch %d", i)
		}
	}
	last, other := Stream((logEntries-1)%2), Stream(logEntries%2)
	if writeStream(w, other, []byte("y")) != 0 || w.StallFor(other) {
		t.Error("an unacknowledged switch was overwritten")
	}
	if writeStream(w, last, []byte("y")) != 1 {
		t.Error("bytes without a switch were delayed")
	}
	if got := r.LogUsagePercent(); got != 99 {
		t.Errorf("got a log usage of %d%%", got)
	}
	if !r.Ack(1) {
		t.Error("Ack does not request to wake the writer")
	}
	if writeStream(w, other, []byte("z")) != 1 {
		t.Error("the acknowledgement freed no space")
	}
	if runs, ok := r.Runs(nil, 1, 2); !ok || !slices.Equal(runs, []Run{{Stderr, 1}}) {
		t.Errorf("got runs %v, %t", runs, ok)
	}
}

// TestRuns_FromAnyOffset checks that a reader that starts at any unread offset, as the next daemon does, knows the
// stream. So does one that starts where all bytes are acknowledged.
func TestRuns_FromAnyOffset(t *testing.T) {
	w, r := newPair(t)
	w.Separate()
	for i := range 6 {
		writeStream(w, Stream(i%2), bytes.Repeat([]byte("x"), 10))
	}
	r.Ack(25)
	for off := uint64(25); off < 60; off++ {
		runs, ok := r.Runs(nil, off, 60)
		if !ok || runs[0].Stream != Stream(off/10%2) || runs[0].Bytes != int(10-off%10) || len(runs) != int(6-off/10) {
			t.Fatalf("from %d: got %v, %t", off, runs, ok)
		}
	}
	r.Ack(60)
	writeStream(w, Stderr, []byte("more"))
	if runs, ok := r.Runs(nil, 60, 64); !ok || !slices.Equal(runs, []Run{{Stderr, 4}}) {
		t.Errorf("got runs %v, %t", runs, ok)
	}
}

func TestRuns_OneStream(t *testing.T) {
	w, r := newPair(t)
	writeStream(w, Stderr, []byte("abc"))
	if runs, ok := r.Runs(nil, 0, 3); ok || len(runs) != 0 {
		t.Errorf("got runs %v, %t", runs, ok)
	}
}

// FuzzLog checks that Runs either covers exactly the requested bytes or reports an invalid log.
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
		if used := r.LogUsagePercent(); used < 0 || used > 100 {
			t.Fatalf("%d%%", used)
		}
		r.RoomFor(Stderr)
	})
}
