//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestSearchUnavailable_ReportedWhileSo checks that a search that is not available is reported while it is so, and no
// longer.
//
// FEATURES: R92
func TestSearchUnavailable_ReportedWhileSo(t *testing.T) {
	t.Parallel()
	dirs := testDirs(t)
	index := filepath.Join(dirs.State, "search.db")
	if err := os.MkdirAll(index, 0o700); err != nil {
		t.Fatal(err)
	}
	d := startDaemon(t, dirs)
	told := func() bool {
		t.Helper()
		return slices.ContainsFunc(get[api.Status](d, "GET", "/status", nil).Notices, func(n string) bool { return strings.Contains(n, "search unavailable") })
	}
	if !told() {
		t.Error("search is unavailable, and that is not reported")
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for range 6000 {
		if !told() {
			return
		}
		<-look.C
	}
	t.Error("search is available, and reported as unavailable")
}
