package session

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
)

// fullDisk is a file system whose writes fail while full is set.
type fullDisk struct{ full *atomic.Bool }

func (d fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return fullFile{f, d.full}, nil
}
func (d fullDisk) ReadDir(dir string) ([]fs.DirEntry, error)   { return os.ReadDir(dir) }
func (d fullDisk) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }
func (d fullDisk) Rename(from, to string) error                { return os.Rename(from, to) }
func (d fullDisk) Remove(name string) error                    { return os.Remove(name) }

// fullFile is a file of a fullDisk.
type fullFile struct {
	*os.File
	full *atomic.Bool
}

func (f fullFile) WriteAt(p []byte, off int64) (int, error) {
	if f.full.Load() {
		n, _ := f.File.WriteAt(p[:len(p)/2], off) // a full disk accepts a part
		return n, syscall.ENOSPC
	}
	return f.File.WriteAt(p, off)
}

// awaitHistory waits until history is being written again. The owner notices it when it next checks the ring.
func (f *fixture) awaitHistory(t *testing.T) {
	t.Helper()
	for ctx := testContext(t); f.Status().HistoryError != ""; {
		if err := f.WithScreen(ctx, func(View) {}); err != nil {
			t.Fatal("history not written again: ", err)
		}
	}
}

// TestFullDisk_KeepsWhatFitsRing checks that the session continues and nothing is lost that fits the ring.
//
// FEATURES: R93
func TestFullDisk_KeepsWhatFitsRing(t *testing.T) {
	var full atomic.Bool
	s := newFixture(t, journal.Options{FS: fullDisk{&full}})
	s.print(s.Session, "before\r\n")
	waitText(t, s.Session, "before")
	full.Store(true)
	s.print(s.Session, "during\r\n")
	waitText(t, s.Session, "during")
	if st := s.Status(); !strings.Contains(st.HistoryError, "no space") {
		t.Errorf("history error missing: %+v", st)
	}
	if got := screenText(t, s.Session); got != "before\nduring" {
		t.Errorf("screen not updated: %q", got)
	}
	full.Store(false)
	s.print(s.Session, "after\r\n")
	waitText(t, s.Session, "after")
	s.awaitHistory(t)
	buf := make([]byte, 100)
	n, _, gap, err := s.journal.ReadAt(0, buf)
	if string(buf[:n]) != "before\r\nduring\r\nafter\r\n" || gap != 0 || err != nil {
		t.Errorf("journal %q, gap %d, %v", buf[:n], gap, err)
	}
}

// TestFullDisk_CountsGap checks that output which does not fit the ring while the disk is full is a counted gap, and
// that the child is never blocked.
//
// FEATURES: R37, R93
func TestFullDisk_CountsGap(t *testing.T) {
	var full atomic.Bool
	s := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{FS: fullDisk{&full}})
	s.print(s.Session, "before\r\n")
	waitText(t, s.Session, "before")
	full.Store(true)
	line := strings.Repeat("x", 78) + "\r\n"
	for i := range 2000 {
		s.print(s.Session, line)
		if i%100 == 0 { // let the owner handle it: the ring is small
			s.print(s.Session, "mark\r\n")
			waitText(t, s.Session, "mark")
		}
	}
	s.print(s.Session, "last\r\n")
	end := waitText(t, s.Session, "last").Cursor
	full.Store(false)
	s.print(s.Session, "after\r\n")
	waitText(t, s.Session, "after")
	s.awaitHistory(t)
	buf := make([]byte, end+100)
	n, next, gap, err := s.journal.ReadAt(8, buf)
	if err != nil || gap == 0 || gap > end {
		t.Fatalf("gap %d of %d bytes, %v", gap, end, err)
	}
	if next-uint64(n) != 8+gap || next != end+7 {
		t.Errorf("data from %d to %d after a gap of %d; the end is %d", next-uint64(n), next, gap, end+7)
	}
	if !bytes.HasSuffix(buf[:n], []byte("after\r\n")) {
		t.Errorf("the end is %q", buf[max(0, n-40):n])
	}
}

// TestFollow_OnFullDisk_CountsGaps checks that a follower on a full disk gets the amount of lost output, and reaches
// the end: it reads from the ring, and missing output is a counted gap, before the journal has one.
//
// FEATURES: R37, R93
func TestFollow_OnFullDisk_CountsGaps(t *testing.T) {
	var full atomic.Bool
	s := reopenSession(t, t.TempDir(), ring.Local(ring.MinSize), journal.Options{FS: fullDisk{&full}})
	s.print(s.Session, "before\r\n")
	waitText(t, s.Session, "before")
	full.Store(true)
	line := strings.Repeat("x", 78) + "\r\n"
	for i := range 2000 {
		s.print(s.Session, line)
		if i%100 == 0 { // let the owner handle it: the ring is small
			s.print(s.Session, "mark\r\n")
			waitText(t, s.Session, "mark")
		}
	}
	s.print(s.Session, "last\r\n")
	end := waitText(t, s.Session, "last").Cursor
	for name, from := range map[string]uint64{"the beginning": 0, "where the journal ends": 8, "within what is lost": 5000} {
		got, gap := follow(t, s.Session, from, end)
		if gap == 0 || from+gap+uint64(len(got)) != end || !strings.HasSuffix(got, "last\r\n") {
			t.Errorf("from %s: %d bytes and %d lost of %d: %.20q", name, len(got), gap, end-from, got[max(0, len(got)-20):])
		}
	}
	s.KeeperLost() // releases the ring
	for ctx := testContext(t); s.Status().State == Running; {
		if err := s.WithScreen(ctx, func(View) {}); err != nil {
			t.Fatal(err)
		}
	}
	if got, gap := follow(t, s.Session, 0, end); got != "before\r\n" || gap != end-8 {
		t.Errorf("without a ring: %.20q and %d lost of %d", got, gap, end)
	}
}

// follow reads output between two offsets.
func follow(t *testing.T, s *Session, from, end uint64) (got string, gap uint64) {
	t.Helper()
	for buf := make([]byte, 5000); from < end; {
		c, err := s.Output(from, buf)
		if err != nil || c.Next <= from || c.From != from+c.Gap || c.Next != c.From+uint64(len(c.Data)) {
			t.Fatalf("at %d of %d: %d to %d, gap %d, %d bytes, %v", from, end, c.From, c.Next, c.Gap, len(c.Data), err)
		}
		got, gap, from = got+string(c.Data), gap+c.Gap, c.Next
	}
	return got, gap
}
