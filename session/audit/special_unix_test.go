//go:build unix

package audit

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestVerify_SpecialFiles checks that a special file in the log's directory is reported, and no read waits for it: a
// FIFO has no end, nor has /dev/zero.
// FEATURES: R109
func TestVerify_SpecialFiles(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device":    func(path string) error { return os.Symlink("/dev/zero", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		for _, first := range []uint64{1, 100} { // in place of a segment, and after all
			dir := filepath.Join(t.TempDir(), "audit")
			l := openLog(t, Options{Dir: dir})
			appendAll(t, l, Record{Kind: Line, Note: "a"}, Record{Kind: Line, Note: "b"})
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			path := segmentPath(dir, first)
			if first == 1 {
				if err := os.Rename(path, path+".away"); err != nil {
					t.Fatal(err)
				}
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			r := verifyLog(t, dir)
			named := false
			for _, f := range r.Findings {
				named = named || f.File == filepath.Base(path) && strings.Contains(f.What, "move it")
			}
			if r.OK || !named {
				t.Errorf("%s as %s: %+v", name, filepath.Base(path), r)
			}
			if _, err := Read(dir, Query{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if l, err := Open(Options{Dir: dir, FS: noSyncFS{}}); err == nil { // a log that cannot be continued reports it
				_ = l.Close()
			} else if name != "directory" && !strings.Contains(err.Error(), "move it") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
