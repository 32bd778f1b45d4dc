package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// A log that begins on a full disk has no head, and not an empty one: that would be damage for good.
//
// FEATURES: R93, R109
func TestNewLog_OnFullDisk_HasNoHead(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	dir := filepath.Join(t.TempDir(), "audit")
	l := open(t, Options{Dir: dir, FS: fullDisk{full: &full}})
	if _, err := os.Lstat(headPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a head without its words: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	full.Store(false)
	l = open(t, Options{Dir: dir, FS: fullDisk{full: &full}})
	add(t, l, someRecords()...)
	if r := verified(t, dir); !r.OK {
		t.Errorf("%+v", r)
	}
}
