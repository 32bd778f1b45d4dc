package session

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// readFiles returns the files of a directory, by name.
func readFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err != nil || st.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		m[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// readHistory returns all output in a session's directory, and the bytes lost in gaps.
func readHistory(t *testing.T, dir string) (data []byte, gap uint64) {
	t.Helper()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for off := j.Start(); off < j.End(); {
		buf := make([]byte, 1<<20)
		n, next, g, err := j.ReadAt(off, buf)
		if err != nil || next == off {
			t.Fatalf("history at %d of %d: %v", off, j.End(), err)
		}
		data, gap, off = append(data, buf[:n]...), gap+g, next
	}
	return data, gap
}

// TestStop_BeforeRebuild_ChangesNothing checks that a session which is stopped before it was rebuilt changes nothing. It
// has no state, so it may neither read from the ring nor write nor acknowledge.
//
// FAULT: A12
// FEATURES: R90
func TestStop_BeforeRebuild_ChangesNothing(t *testing.T) {
	s := newFixture(t, journal.Options{})
	var want []byte
	for i := range 3 { // more than the ring holds, so that an offset of 0 means other bytes
		part := bytes.Repeat(fmt.Appendf(nil, "%d: what a build prints, a line of it\r\n", i), 10000)
		s.print(s.Session, string(part))
		s.print(s.Session, fmt.Sprintf("part %d\r\n", i))
		waitText(t, s.Session, fmt.Sprintf("part %d", i))
		want = fmt.Appendf(append(want, part...), "part %d\r\n", i)
	}
	s.Stop()
	s.print(s.Session, "and on it goes\r\n")
	want = append(want, "and on it goes\r\n"...)
	if err := os.Remove(filepath.Join(s.dir, "checkpoint")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	before, tail := readFiles(t, s.dir), s.fakeDevice.ring.Tail()
	busy := make(chan struct{}) // keeps all sessions from rebuilding
	for range 2 {
		again := startQueued(t, s.dir, s.fakeDevice.ring, busy)
		again.Start()
		again.NotifyOutput()
		again.Stop()
	}
	if after := readFiles(t, s.dir); len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	} else {
		for name, b := range before {
			if after[name] != b {
				t.Errorf("%s: %d bytes became %d", filepath.Base(name), len(b), len(after[name]))
			}
		}
	}
	if s.fakeDevice.ring.Tail() != tail {
		t.Errorf("acknowledged up to %d, before %d", s.fakeDevice.ring.Tail(), tail)
	}
	last := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	waitText(t, last.Session, "and on it goes")
	last.Stop()
	if got, gap := readHistory(t, s.dir); !bytes.Equal(got, want) || gap != 0 {
		t.Errorf("%d bytes with a gap of %d, want %d", len(got), gap, len(want))
	}
}

// startQueued starts a session that must wait for its turn to rebuild.
func startQueued(t *testing.T, dir string, r *ring.Ring, turn chan struct{}) *Session {
	t.Helper()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{
		ID: "test", Dir: dir, Device: &fakeDevice{ring: r, accept: -1, released: make(chan struct{})}, Ring: r, Journal: j,
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), RebuildSlots: turn,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJournal_EachByteOnce checks that whatever offset an owner assumes, the journal has each byte once, and counts
// missing ones.
//
// FAULT: A12
func TestJournal_EachByteOnce(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "0123456789")
	waitText(t, s.Session, "0123456789")
	for _, c := range []struct {
		off  uint64
		data string
	}{
		{0, "0123456789"},  // all of it is in the journal
		{8, "89ab"},        // half of it is
		{15, "fgh"},        // "cde" is missing
		{4, "4567"},        // repeated
		{16, "ghijklmnop"}, // new output
	} {
		if err := s.do(testContext(t), func() {
			if err := s.history.recorder.Append(c.off, []byte(c.data)); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	s.Stop()
	if got, gap := readHistory(t, s.dir); string(got) != "0123456789abfghijklmnop" || gap != 3 {
		t.Errorf("%q with a gap of %d", got, gap)
	}
}

// TestJournal_LongerThanRing checks that a journal beyond the ring's head does not make the owner read past that head.
//
// FAULT: A12
func TestJournal_LongerThanRing(t *testing.T) {
	s := newFixture(t, journal.Options{})
	s.print(s.Session, "printed\r\n")
	waitText(t, s.Session, "printed")
	s.Stop()
	j, _, err := journal.Open(s.dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.AppendOutput(bytes.Repeat([]byte("of another ring\r\n"), 1000)); err != nil {
		t.Fatal(err)
	}
	end := j.End()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := reopenSession(t, s.dir, s.fakeDevice.ring, journal.Options{})
	again.print(again.Session, "goes on\r\n")
	waitText(t, again.Session, "goes on")
	if st := again.Status(); st.HistoryError == "" {
		t.Error("no error reported")
	}
	again.Stop()
	if got, _ := readHistory(t, s.dir); uint64(len(got)) != end {
		t.Errorf("history of %d bytes, before %d", len(got), end)
	}
}
