//go:build unix

package session

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/checkpoint"
)

// stuckDisk makes the next write of a file next to the journal hang: its temporary file is a pipe without a reader. goOn
// ends that.
func stuckDisk(t *testing.T, dir, name string) (goOn func()) {
	t.Helper()
	pipe := filepath.Join(dir, name+".tmp")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("needs named pipes: ", err)
	}
	return func() {
		f, err := os.Open(pipe)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := io.Copy(io.Discard, f); err != nil {
			t.Error(err)
		}
	}
}

// newShellFixture returns a session with all files that belong to a checkpoint.
func newShellFixture(t *testing.T) *fixture {
	t.Helper()
	return withEngine(t, t.TempDir(), ring.Local(ring.DefaultSize), "", false)
}

// awaitHang waits until a write hangs.
func (f *fixture) awaitHang(t *testing.T) {
	t.Helper()
	for ctx := testContext(t); ; {
		busy := false
		if err := f.WithScreen(ctx, func(View) {
			f.history.disk.mu.Lock()
			defer f.history.disk.mu.Unlock()
			busy = f.history.disk.running && f.history.disk.checkpoint == nil
		}); err != nil {
			t.Fatal(err)
		}
		if busy {
			return
		}
	}
}

// TestStuckDisk_BlocksNoSession checks that while the disk hangs with a checkpoint, the session shows output, accepts
// keys, and ends; another session is not affected. The queue for the disk does not grow: the newest checkpoint replaces
// those that were not started.
//
// FEATURES: R93
func TestStuckDisk_BlocksNoSession(t *testing.T) {
	for _, name := range []string{checkpoint.Name, reportedFile, trackingFile} {
		t.Run(name, func(t *testing.T) {
			f, other := newShellFixture(t), newShellFixture(t)
			f.print(f.Session, "\x1b]7;file:///tmp\x07before\r\n")
			waitText(t, f.Session, "before")
			goOn := stuckDisk(t, f.dir, name)
			if err := f.do(testContext(t), f.history.checkpoint); err != nil {
				t.Fatal(err)
			}
			f.awaitHang(t)
			for n := range 5 {
				text := strings.Repeat("x", n+1) + "end"
				f.print(f.Session, text+"\r\n")
				waitText(t, f.Session, text)
				if _, err := f.Type(testContext(t), TypeRequest{Bytes: []byte(text)}); err != nil || !strings.Contains(f.typedText(), text) {
					t.Errorf("typing: %v, %q", err, f.typedText())
				}
				if err := f.do(testContext(t), f.history.checkpoint); err != nil { // as often as a checkpoint is due
					t.Fatal(err)
				}
				other.print(other.Session, text)
				waitText(t, other.Session, text)
			}
			var waits uint64
			f.history.disk.mu.Lock()
			if f.history.disk.checkpoint != nil {
				waits = f.history.disk.checkpoint.Offset
			}
			f.history.disk.mu.Unlock()
			if waits == 0 || waits > f.outputEnd() {
				t.Errorf("queued checkpoint at %d of %d", waits, f.outputEnd())
			}
			goOn()
			f.Session.Stop()
			if c, err := checkpoint.Read(f.dir); err != nil || c.Offset < waits {
				t.Errorf("newest checkpoint at %d, want %d, %v", c.Offset, waits, err)
			}
			if _, err := os.Stat(filepath.Join(f.dir, trackingFile)); err != nil {
				t.Error("a file of the checkpoint is missing: ", err)
			}
		})
	}
}

// TestCheckpoint_WrittenWithItsFiles checks that the files of a checkpoint which was replaced before its start are
// written with its replacement. If they cannot be written, no checkpoint is.
func TestCheckpoint_WrittenWithItsFiles(t *testing.T) {
	f := newShellFixture(t)
	f.print(f.Session, "some\r\n")
	waitText(t, f.Session, "some")
	f.Session.Stop()
	w := &f.history.disk
	buf := func() *[]byte { b := []byte("snapshot"); return &b }
	w.running = true // keeps the goroutine from starting
	w.saveCheckpoint(&pendingCheckpoint{checkpoint.Checkpoint{Engine: "e", Offset: 1}, buf(), map[string][]byte{"a": []byte("1"), "b": []byte("1")}})
	w.saveCheckpoint(&pendingCheckpoint{checkpoint.Checkpoint{Engine: "e", Offset: 2}, buf(), map[string][]byte{"b": []byte("2")}})
	w.run()
	for name, want := range map[string]string{"a": "1", "b": "2"} {
		if b, err := os.ReadFile(filepath.Join(f.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if c, err := checkpoint.Read(f.dir); err != nil || c.Offset != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if w.reportWriteFailure() {
		t.Error("the checkpoint was written")
	}
	if err := os.Mkdir(filepath.Join(f.dir, "c.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.running = true
	w.saveCheckpoint(&pendingCheckpoint{checkpoint.Checkpoint{Engine: "e", Offset: 3}, buf(), map[string][]byte{"c": []byte("1")}})
	w.run()
	if c, err := checkpoint.Read(f.dir); err != nil || c.Offset != 2 || !w.reportWriteFailure() || w.reportWriteFailure() {
		t.Errorf("%+v, %v", c, err)
	}
}
