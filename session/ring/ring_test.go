package ring

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// newPair returns a ring and a second mapping of it, as keeper and daemon have them.
func newPair(t *testing.T) (w, r *Ring) {
	t.Helper()
	w, f, err := Create(MinSize)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no shared memory on this system: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err = Map(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range []func() error{w.Close, r.Close, f.Close} {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	})
	return w, r
}

// writeAll writes all of p into the ring, which must have space.
func writeAll(t *testing.T, w *Ring, p []byte) {
	t.Helper()
	for len(p) > 0 {
		room := w.Room()
		if room == nil {
			t.Fatal("the ring is full")
		}
		n := copy(room, p)
		w.Publish(n)
		p = p[n:]
	}
}

func TestRing_WriteAndRead(t *testing.T) {
	w, r := newPair(t)
	var want, got bytes.Buffer
	rng := rand.New(rand.NewPCG(1, 2))
	off := uint64(0)
	for range 2000 {
		p := make([]byte, rng.IntN(3000))
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		writeAll(t, w, p)
		want.Write(p)
		for limit := rng.IntN(4000); limit > 0; {
			u := r.BytesAt(off, limit)
			if len(u) == 0 {
				break
			}
			got.Write(u)
			off += uint64(len(u))
			limit -= len(u)
		}
		r.Ack(off)
		if w.Head()-w.Tail() > uint64(w.Cap())-4096 { // the reader is slower at random
			for u := r.BytesAt(off, 1<<20); len(u) > 0; u = r.BytesAt(off, 1<<20) {
				got.Write(u)
				off += uint64(len(u))
			}
			r.Ack(off)
		}
	}
	for u := r.BytesAt(off, 1<<20); len(u) > 0; u = r.BytesAt(off, 1<<20) {
		got.Write(u)
		off += uint64(len(u))
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("bytes differ")
	}
}

// FEATURES: R90
func TestRing_KeepsUnacknowledgedBytes(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, bytes.Repeat([]byte{7}, MinSize))
	if room := w.Room(); room != nil {
		t.Fatalf("full ring: got space for %d bytes", len(room))
	}
	if w.Stall() {
		t.Error("full ring: Stall reports free space")
	}
	if !r.Ack(100) {
		t.Error("Ack does not request to wake the writer")
	}
	if r.Ack(200) {
		t.Error("a second Ack requests to wake the writer")
	}
	if room := w.Room(); len(room) != 200 {
		t.Errorf("got space for %d bytes after 200 were acknowledged", len(room))
	}
}

func TestStall_NoticesFreedSpace(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, make([]byte, MinSize))
	r.Ack(10)
	if !w.Stall() {
		t.Error("Stall does not report the free space")
	}
	if r.Ack(20) {
		t.Error("Ack requests to wake a writer that did not stall")
	}
}

// TestRing_IgnoresInvalidTail checks that an invalid tail of the reader cannot make the writer overwrite unacknowledged
// bytes.
// FEATURES: R93
func TestRing_IgnoresInvalidTail(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, make([]byte, 1000))
	r.Ack(500)
	w.Room()
	for _, tail := range []uint64{0, 499, 1001, 1 << 60} {
		r.hdr.tail.Store(tail)
		w.Room()
		if got := w.validTail(w.Head()); got != 500 {
			t.Errorf("tail %d was accepted: got %d", tail, got)
		}
	}
	r.hdr.tail.Store(500)
	if r.Ack(5000); r.Tail() != 500 {
		t.Error("an acknowledgement past the head was accepted")
	}
}

func TestShouldNotify_Coalesces(t *testing.T) {
	w, r := newPair(t)
	if !w.ShouldNotify() || w.ShouldNotify() || w.ShouldNotify() {
		t.Error("notices are not coalesced")
	}
	r.ArmNotice()
	if !w.ShouldNotify() {
		t.Error("no notice after ArmNotice")
	}
}

func TestCopyAt(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, []byte("0123456789"))
	r.Ack(10)
	buf := make([]byte, 4)
	if n, ok := r.CopyAt(3, buf); !ok || string(buf[:n]) != "3456" {
		t.Errorf("acknowledged bytes: got %q, %v", buf[:n], ok)
	}
	if n, ok := r.CopyAt(10, buf); !ok || n != 0 {
		t.Errorf("at the head: got %d, %v", n, ok)
	}
	if _, ok := r.CopyAt(11, buf); ok {
		t.Error("past the head: got ok")
	}
	writeAll(t, w, make([]byte, MinSize-MaxWrite))
	r.Ack(w.Head())
	if _, ok := r.CopyAt(3, buf); ok {
		t.Error("got bytes that may be overwritten")
	}
}

// TestTrim checks that an idle ring releases its memory, and reports old bytes as overwritten.
func TestTrim(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, []byte("abc"))
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := r.BytesAt(0, 10); string(got) != "abc" {
		t.Fatalf("Trim released unacknowledged bytes: got %q", got)
	}
	r.Ack(3)
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.CopyAt(0, make([]byte, 3)); ok {
		t.Error("got released bytes")
	}
	writeAll(t, w, []byte("def"))
	if got := r.BytesAt(3, 10); string(got) != "def" {
		t.Errorf("after Trim: got %q", got)
	}
}

func TestMap_RejectsInvalidMemory(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, size := range []int64{0, 100, headerSize + MinSize, headerSize + MinSize + 4096} {
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if _, err := Map(f); err == nil {
			t.Errorf("%d zero bytes: got a ring", size)
		}
	}
}

// TestRing_Concurrent runs writer and reader at full speed, as two goroutines with a mapping each.
func TestRing_Concurrent(t *testing.T) {
	w, r := newPair(t)
	const total = 8 << 20
	woken := make(chan struct{}, 1)
	noticed := make(chan struct{}, 1)
	wake := func(c chan struct{}) {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; n < total; {
			room := w.Room()
			if room == nil {
				if !w.Stall() {
					<-woken
				}
				continue
			}
			room = room[:min(len(room), total-n)]
			for i := range room {
				room[i] = byte(n + i)
			}
			w.Publish(len(room))
			n += len(room)
			if w.ShouldNotify() {
				wake(noticed)
			}
		}
	})
	for off := uint64(0); off < total; {
		r.ArmNotice()
		p := r.BytesAt(off, 1<<20)
		if len(p) == 0 {
			<-noticed
			continue
		}
		for i, b := range p {
			if b != byte(off+uint64(i)) {
				t.Fatalf("byte %d is %d", off+uint64(i), b)
			}
		}
		off += uint64(len(p))
		if r.Ack(off) {
			wake(woken)
		}
	}
	wg.Wait()
}

func BenchmarkRing(b *testing.B) {
	r := Local(DefaultSize)
	b.SetBytes(4096)
	off := uint64(0)
	for b.Loop() {
		r.Publish(len(r.Room()[:4096]))
		off += uint64(len(r.BytesAt(off, 4096)))
		r.Ack(off)
	}
}

// TestBytesAt_OutsideUnread checks that outside of the unread bytes BytesAt returns nothing: a released or future
// offset must not make a reader loop forever.
// FAULT: A12
func TestBytesAt_OutsideUnread(t *testing.T) {
	w, r := newPair(t)
	writeAll(t, w, bytes.Repeat([]byte("0123456789"), 100))
	r.Ack(300)
	for _, c := range []struct {
		off          uint64
		bytes        int
		missed, tail uint64
	}{
		{300, 700, 0, 300},
		{999, 1, 0, 300},
		{1000, 0, 0, 300},
		{1001, 0, 0, 300},
		{1 << 63, 0, 0, 300},
		{0, 0, 300, 300},
		{299, 0, 1, 300},
		{0, 0, 0, 2000},                // a tail past the head is not believed
		{1 << 62, 0, 0, 1<<64 - 5},     // nor one from before the start
		{300, 0, 0, 1<<64 - 1_000_000}, // more than the ring holds
	} {
		r.hdr.tail.Store(c.tail)
		if got, missed := r.BytesAt(c.off, 1<<30), r.MissedBytes(c.off); len(got) != c.bytes || missed != c.missed {
			t.Errorf("at %d with the tail at %d: got %d bytes, %d missed, want %d and %d", c.off, c.tail, len(got), missed, c.bytes, c.missed)
		}
	}
	r.hdr.tail.Store(300)
	if got := r.BytesAt(300, -1); len(got) != 0 {
		t.Errorf("limit 0: got %d bytes", len(got))
	}
}

// TestOldestOffset checks that CopyAt has bytes from OldestOffset on, and none before.
func TestOldestOffset(t *testing.T) {
	r := Local(MinSize)
	r.SetBase(5)
	piece, one := make([]byte, 1000), make([]byte, 1)
	for head := uint64(5); head < 4*MinSize; {
		n := copy(r.Room(), piece)
		r.Publish(n)
		head += uint64(n)
		if head%3 > 0 { // some of it is not given back
			r.Ack(head - uint64(n)/2)
		}
		at := r.OldestOffset()
		if _, ok := r.CopyAt(at, one); !ok || at > r.Tail() {
			t.Fatalf("got no bytes at %d, with the head at %d", at, head)
		}
		if _, ok := r.CopyAt(at-1, one); ok {
			t.Fatalf("got bytes before %d, with the head at %d", at, head)
		}
	}
}

// TestCopyAt_AnyAlignment checks that CopyAt reads any part, whatever its alignment in the ring and in words.
func TestCopyAt_AnyAlignment(t *testing.T) {
	w, r := newPair(t)
	b := make([]byte, MinSize-10)
	writeAll(t, w, b)
	r.Ack(w.Head())
	want := make([]byte, 40)
	for i := range want {
		want[i] = byte(i + 1)
	}
	writeAll(t, w, want)
	for from := range want {
		for to := from; to <= len(want); to++ {
			got := make([]byte, to-from)
			if n, ok := r.CopyAt(uint64(len(b)+from), got); !ok || n != len(got) || !bytes.Equal(got, want[from:to]) {
				t.Fatalf("[%d:%d]: got %v, %v", from, to, got, ok)
			}
		}
	}
}
