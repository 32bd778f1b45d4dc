//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMovedDirectory checks that a moved directory gets time to return; a removed or recreated one gets none.
//
// FEATURES: R93
func TestMovedDirectory(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		change func(dir string) error
		waits  bool
	}{
		"there":   {func(string) error { return nil }, false},
		"moved":   {func(dir string) error { return os.Rename(dir, dir+".away") }, true},
		"removed": {os.RemoveAll, false},
		"another": {func(dir string) error { return errors.Join(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o700)) }, false},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		lock, err := Lock(filepath.Join(dir, "lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if err := c.change(dir); err != nil {
			t.Fatal(err)
		}
		var m MoveTracker
		if m.ShouldWait(dir, nil, now) {
			t.Errorf("%s: waits without a lock", name)
		}
		for after, want := range []bool{c.waits, c.waits, false} {
			if got := m.ShouldWait(dir, lock, now.Add(time.Duration(after)*moveBackTimeout*2/3)); got != want {
				t.Errorf("%s: check %d waits %v", name, after, got)
			}
		}
		if !c.waits {
			continue
		}
		if err := os.Rename(dir+".away", dir); err != nil || m.ShouldWait(dir, lock, now) {
			t.Errorf("waits after its return, %v", err)
		}
		if err := os.Rename(dir, dir+".again"); err != nil || !m.ShouldWait(dir, lock, now.Add(time.Hour)) {
			t.Errorf("does not wait the next time, %v", err)
		}
	}
}
