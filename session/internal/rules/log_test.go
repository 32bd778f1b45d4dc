package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiringsAreBounded checks that the newer half of too many firings is retained.
// FEATURES: R53
func TestFiringsAreBounded(t *testing.T) {
	l := Log(filepath.Join(t.TempDir(), "firings"))
	if list, err := l.Matches(); len(list) != 0 || err != nil {
		t.Errorf("firings of an empty log: %v, %v", list, err)
	}
	f := MatchRecord{Error: strings.Repeat("x", 1000)}
	for i := range 3000 {
		f.MatchNumber = i
		if err := l.Append(&f); err != nil {
			t.Fatal(err)
		}
	}
	list, err := l.Matches()
	if err != nil || len(list) < 400 || list[len(list)-1].MatchNumber != 2999 {
		t.Errorf("%d firings, %v", len(list), err)
	}
	if st, err := os.Stat(string(l)); err != nil || st.Size() > MaxLogBytes+2000 || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
}
