//go:build unix

package terminals

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestWatchInATerminal watches a command. The terminal shows output above a status line, and an edit runs the command
// again.
//
// FEATURES: R82
func TestWatchInATerminal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
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

// TestWatchInATerminalThatIsResized resizes the terminal during a watch. Output scrolls above the status line, and no
// earlier status line remains.
//
// FEATURES: R82
func TestWatchInATerminalThatIsResized(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	o := newOuter(t, i, 80, 24, "watch", "--cwd", dir, "--", "sh", "-c", "seq 30; echo the end of $(stty size)")
	o.shows("the end of 23 80", "waiting for changes")
	for _, size := range [][2]int{{80, 12}, {41, 12}, {80, 24}, {60, 5}, {80, 24}} {
		o.cmd("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		e2e.Eventually(t, "the status line is drawn anew, in the last row", func() bool {
			rows := strings.Split(strings.TrimRight(o.text(), "\n"), "\n")
			last := rows[len(rows)-1]
			return len(rows) == size[1] && strings.Contains(last, "✓ done in") &&
				(strings.Contains(last, "q: quit") || strings.HasSuffix(last, "…") && utf8.RuneCountInString(last) == size[0])
		})
		o.keys("Enter")
		o.shows(fmt.Sprintf("the end of %d %d", size[1]-1, size[0]), "✓ done in")
		if n := strings.Count(o.text(), "waiting for"); n > 1 {
			t.Errorf("at %v the status line is there %d times:\n%s", size, n, o.text())
		}
	}
	o.keys("q")
	o.shows("STATUS=0")
}

// TestWatchOpensTheEditor checks that the last result stays while nothing runs, and that keys open an editor at its
// errors, which then releases the terminal.
//
// FEATURES: R82
func TestWatchOpensTheEditor(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"build.sh": "echo 'a.c:3:1: error: one'; echo 'b.c:4:1: error: two'; exit 1\n",
		"ed.sh":    "echo \"EDITING $*\"; read answer; echo \"LEFT $answer\"; exit 3\n",
		"a.c":      "", "b.c": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i.Env = append(i.Env, "VISUAL=", "EDITOR=sh "+filepath.Join(dir, "ed.sh"))
	o := newOuter(t, i, 110, 24, "watch", "--cwd", dir, "--", "sh", "build.sh")
	o.shows("✗ exit 1", "2 errors (e: edit) · waiting for changes")
	o.keys("e")
	o.shows("EDITING +3")
	o.line("q enter") // for the editor, each key of it
	o.shows("LEFT q enter", "editor failed (exit status 3)")
	o.keys("n")
	o.shows("EDITING +4")
	o.line("again")
	o.shows("LEFT again", "waiting for changes")
	o.keys("q")
	o.shows("STATUS=0")
}

// TestWatchInterrupted interrupts a watch.
//
// FEATURES: R82
func TestWatchInterrupted(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	o := newOuter(t, i, 90, 20, "watch", "--cwd", t.TempDir(), "--", "sh", "-c", "echo up; exec sleep 1000")
	o.shows("up")
	o.keys("C-c")
	o.shows("STATUS=0")
	e2e.Eventually(t, "the command is gone", func() bool { return strings.Contains(i.Run("ls"), "no sessions") })
}
