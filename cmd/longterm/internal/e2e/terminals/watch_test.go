//go:build unix

package terminals

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// The terminal shows output above a status line; an edit runs the command again.
//
// FEATURES: R82
func TestWatchInATerminal(t *testing.T) {
	i := e2e.New(t)
	dir := t.TempDir()
	source, goOn := filepath.Join(dir, "build.sh"), filepath.Join(dir, "go-on")
	script := func(size string) string {
		return "echo $(stty size)\necho '[1/4] cc a.c'\necho '[2/4] cc b.c'\necho 'b.c:7:1: error: " + size + "'\nuntil test -f " + goOn + "; do sleep 0.05; done\n"
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(source, script("first"))
	o := newOuter(t, i, 90, 20, "watch", "--cwd", dir, "--debounce", "20ms", "--", "sh", "build.sh")
	o.shows("── run 1: sh build.sh", "19 90", "50%  2/4", "1 error", "b.c:7: first")
	write(source, script("second"))
	o.shows("── run 2: sh build.sh (build.sh changed)", "b.c:7: second")
	write(goOn, "")
	o.shows("✓ done in", "1 error", "waiting for changes")
	o.keys("Enter")
	o.shows("── run 3: sh build.sh", "waiting for changes")
	o.keys("q")
	o.shows("STATUS=0")
	if strings.Contains(o.text(), "waiting for changes") {
		t.Errorf("the status line was left behind:\n%s", o.text())
	}
	if list := i.Run("ls"); !strings.Contains(list, "no sessions") {
		t.Errorf("left behind:\n%s", list)
	}
}

// FEATURES: R82
func TestWatchInterrupted(t *testing.T) {
	i := e2e.New(t)
	o := newOuter(t, i, 90, 20, "watch", "--cwd", t.TempDir(), "--", "sh", "-c", "echo up; exec sleep 1000")
	o.shows("up")
	o.keys("C-c")
	o.shows("STATUS=0")
	e2e.Eventually(t, "the command is gone", func() bool { return strings.Contains(i.Run("ls"), "no sessions") })
}
