package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// TestNewLog_OnFullDisk_HasNoHead checks that a log that starts on a full disk has no head file. An empty one would
// count as damage.
//
// FEATURES: R93, R109
func TestNewLog_OnFullDisk_HasNoHead(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, Options{Dir: dir, FS: fullDiskFS{full: &full}})
	if _, err := os.Lstat(headPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a head without its words: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	full.Store(false)
	l = openLog(t, Options{Dir: dir, FS: fullDiskFS{full: &full}})
	appendAll(t, l, someRecords()...)
	if r := verifyLog(t, dir); !r.OK {
		t.Errorf("%+v", r)
	}
}
