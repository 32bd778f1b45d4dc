//go:build unix

package paths

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/store"
)

// TestLongDirectories checks that a state directory whose name is too long for its database is rejected with a hint,
// and that the longest allowed one works.
//
// FEATURES: R93
func TestLongDirectories(t *testing.T) {
	root := t.TempDir()
	for over, fits := range map[int]bool{0: true, 1: false} {
		d := root
		for want := maxDatabase + over - len("/state/longterm.db"); len(d) < want; {
			d += "/" + strings.Repeat("x", min(200, max(want-len(d)-1, 1)))
		}
		t.Setenv(EnvDir, d)
		dirs, err := Default()
		if err != nil {
			t.Fatal(err)
		}
		err = dirs.Make()
		if said := err != nil && strings.Contains(err.Error(), dirs.State+" is too long") && strings.Contains(err.Error(), EnvDir); said == fits {
			t.Errorf("%d bytes: %v", len(dirs.Database()), err)
		}
		if err := os.MkdirAll(dirs.State, 0o700); err != nil {
			t.Fatal(err)
		}
		st, err := store.Open(filepath.Join(dirs.State, "longterm.db"))
		if (err == nil) != fits {
			t.Errorf("a database at %d bytes: %v", len(dirs.Database()), err)
		}
		if err == nil {
			err = st.Close()
		}
		if fits && err != nil {
			t.Error(err)
		}
	}
}
