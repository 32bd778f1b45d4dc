package arena

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func record(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("x", i%300)) }

// check compares all records with those from number first on.
func check(t *testing.T, l *Log, first, n int) {
	t.Helper()
	if l.Len() != n || l.DroppedCount() != uint64(first) {
		t.Fatalf("%d records from %d on, want %d from %d", l.Len(), l.DroppedCount(), n, first)
	}
	for i := range n {
		if got := string(l.At(i)); got != record(first+i) {
			t.Fatalf("record %d is %q, want %q", i, got, record(first+i))
		}
	}
}

func TestLog(t *testing.T) {
	l := New(5000, 512<<10)
	for i := range 20_000 {
		l.Append([]byte(record(i)))
	}
	n := l.Len()
	if n < 1000 || n > 5000 || l.Bytes() > 600<<10 {
		t.Errorf("%d records in %d bytes", n, l.Bytes())
	}
	check(t, l, 20_000-n, n)
	l.Truncate(n - 500)
	check(t, l, 20_000-n, 500)
	for i := range 300 {
		l.Append([]byte(record(20_000 - n + 500 + i)))
	}
	check(t, l, 20_000-n, 800)
	l.Clear()
	check(t, l, 20_000-n+800, 0)
	l.Append([]byte(record(20_000 - n + 800)))
	check(t, l, 20_000-n+800, 1)
	l.Truncate(5)
	check(t, l, 20_000-n+800, 0)
}

// TestCut_KeepsRecords_InBothLogs cuts logs within blocks, between them and at both ends: no record changes, and the log's bounds
// hold after more records were appended.
func TestCut_KeepsRecords_InBothLogs(t *testing.T) {
	for _, packed := range []bool{false, true} {
		for _, n := range []int{0, 1, 7, 63, 500, 1999, 2000} {
			l := New(2000, 2<<20)
			for i := range 5000 {
				l.Append([]byte(record(i)))
			}
			if packed {
				l.Pack()
			}
			tail := l.Cut(n)
			check(t, tail, 5000-n, n)
			check(t, l, 3000, 2000-n)
			for i := range n {
				l.Append([]byte(record(5000 - n + i)))
			}
			check(t, l, 3000, 2000)
			check(t, tail, 5000-n, n)
			bytes := 0
			for _, b := range l.blocks {
				bytes += b.cost()
			}
			if l.Bytes() != bytes {
				t.Errorf("%d bytes are counted, %d are kept", l.Bytes(), bytes)
			}
			l.Truncate(1500)
			check(t, l, 3000, 500)
		}
	}
}

func TestLogOfNothing(t *testing.T) {
	l := New(0, 0)
	l.Append([]byte("x"))
	if l.Len() != 0 {
		t.Error("a record is kept")
	}
}

func TestLargeRecord(t *testing.T) {
	l := New(10, 1<<20)
	big := strings.Repeat("y", 300_000)
	for range 20 {
		l.Append([]byte(big))
		l.Append([]byte("small"))
	}
	if got := string(l.At(l.Len() - 1)); got != "small" {
		t.Errorf("the last record is %q", got)
	}
	if l.Bytes() > 2<<20 {
		t.Errorf("%d bytes are kept", l.Bytes())
	}
}

// TestRoom writes records in place, of sizes that are known only afterwards.
func TestRoom(t *testing.T) {
	l, none := New(300, 64<<10), New(0, 0)
	for i := range 2000 {
		room := l.Reserve(400)
		if len(room) < 400 {
			t.Fatalf("memory for %d bytes, want 400", len(room))
		}
		l.Commit(copy(room, record(i)))
		if none.Reserve(1) != nil || none.Add(1) != nil {
			t.Fatal("memory in use without content")
		}
		none.Commit(1)
	}
	check(t, l, 2000-l.Len(), l.Len())
	if l.Len() == 0 || l.Len() > 300 {
		t.Errorf("%d records are kept", l.Len())
	}
	if none.Len() != 0 || none.DroppedCount() != 4000 {
		t.Errorf("%d kept and %d dropped without content", none.Len(), none.DroppedCount())
	}
}

func TestPack(t *testing.T) {
	l := New(1<<20, 1<<30)
	for i := range 100_000 {
		l.Append([]byte(fmt.Sprintf("record number %d of many that are alike", i)))
	}
	before := l.Bytes()
	l.Pack()
	if after := l.Bytes(); after > before/2 {
		t.Errorf("%d bytes, packed %d", before, after)
	}
	l.Append([]byte("another"))
	for _, i := range []int{0, 1, 65_000, 99_999} {
		if got, want := string(l.At(i)), fmt.Sprintf("record number %d of many that are alike", i); got != want {
			t.Errorf("record %d: %q", i, got)
		}
	}
	if got := string(l.At(100_000)); got != "another" {
		t.Errorf("last record: %q", got)
	}
	l.Truncate(50_000) // into the packed ones
	if l.Len() != 50_001 || string(l.At(50_000)) != "record number 50000 of many that are alike" {
		t.Errorf("after truncation: %d records, the last %q", l.Len(), l.At(l.Len()-1))
	}
	l.Append([]byte("more"))
	if got := string(l.At(50_001)); got != "more" {
		t.Errorf("after truncation and append: %q", got)
	}
}

// TestPackedBlockIsUsedAgain checks that the memory of a packed block is reused for the next one.
func TestPackedBlockIsUsedAgain(t *testing.T) {
	l := New(1<<20, 16*blockBytes)
	for i := 0; l.raw < 6; i++ { // the first ones are small
		l.Append([]byte(record(i)))
	}
	if l.spare == nil {
		t.Fatal("a packed block was not reused")
	}
	spare := &l.spare.data[:1][0]
	for i, first := 0, l.cur.first; l.cur.first == first; i++ {
		l.Append([]byte(record(i)))
	}
	if &l.cur.data[0] != spare {
		t.Error("the next block is another")
	}
}

// TestWhatHardlyShrinksIsLeft checks that incompressible blocks stay unpacked while more data arrives, except for an
// occasional try, and are packed once there is time.
func TestWhatHardlyShrinksIsLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const blocks, alike = 64, "record after record that is alike"
	noise, last, skipped := make([]byte, 256), []byte(nil), 0
	l := New(1<<20, blocks*blockBytes)
	packed := func() (n int) {
		for _, b := range l.blocks {
			if b.packed != nil {
				n++
			}
		}
		return n
	}
	for range 2 * blocks * blockBytes / len(noise) {
		for k := range noise {
			noise[k] = byte(r.Uint32())
		}
		l.Append(noise)
		last, skipped = slices.Clone(noise), max(skipped, l.skip)
	}
	if n := packed(); n > 0 || skipped == 0 {
		t.Errorf("%d incompressible blocks are packed, %d are left without a try", n, skipped)
	}
	if !bytes.Equal(l.At(l.Len()-1), last) {
		t.Error("random data was read back differently")
	}
	for range 2 * blocks * blockBytes / len(alike) {
		l.Append([]byte(alike))
	}
	if n := packed(); n == 0 {
		t.Error("no compressible block is packed")
	}
	l.Pack()
	if n := packed(); n != len(l.blocks)-1 || string(l.At(0)) != alike {
		t.Errorf("%d of %d blocks are packed at rest, the first record is %q", n, len(l.blocks), l.At(0))
	}
}
