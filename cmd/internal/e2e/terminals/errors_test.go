//go:build unix

package terminals

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestFirstErrorInVim opens vim at a failing build's error with one key and Enter, and returns. A failing editor is
// reported.
//
// FEATURES: R76
func TestFirstErrorInVim(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	tier.Need(t, "vim")
	i := e2e.New(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte("first\nsecond\nthird line\nfourth\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Env = append(i.Env, "EDITOR=vim -u NONE -c 'set ruler'", "VISUAL=")
	i.Run("new", "-n", "build", "--cwd", dir, "--", "sh", "-c", "echo 'main.c:3:7: error: expected ;'; echo 'gone.c:1:1: error: nowhere'; exec sleep 100000")
	i.Run("wait", "build", "--for", "text=nowhere")
	o := newViewer(t, i, 100, 30)
	o.shows("errors")
	o.keys("C-Space", "E")
	o.shows("errors of build", "main.c:3:7", "gone.c:1:1")
	o.keys("Enter")
	o.shows("third line", "3,7 ")
	o.lacks("errors of build")
	o.line(":q")
	o.shows("error 1 of 2", "main.c:3:7")
	o.keys("C-Space", ".")
	o.shows("editor not opened: no such file")
	o.keys("C-Space", ".")
	o.shows("that was the last error")
}

// TestInterruptIsForTheEditor interrupts an editor on the terminal. Neither editor nor viewer ends.
//
// FEATURES: R76
func TestInterruptIsForTheEditor(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	for path, text := range map[string]string{
		filepath.Join(dir, "main.c"): "first\n",
		editor:                       "#!/bin/sh\nn=0\ntrap 'n=$((n+1)); echo caught $n' INT\necho editing\nuntil read -r line && [ \"$line\" = done ]; do :; done\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	i.Env = append(i.Env, "EDITOR="+editor, "VISUAL=")
	i.Run("new", "-n", "build", "--cwd", dir, "--", "sh", "-c", "echo 'main.c:1:1: error: expected ;'; exec sleep 100000")
	i.Run("wait", "build", "--for", "text=expected")
	o := newViewer(t, i, 100, 30)
	o.shows("1 error")
	o.keys("C-Space", "E")
	o.shows("errors of build", "main.c:1:1")
	o.keys("Enter")
	o.shows("editing")
	o.keys("C-c")
	o.shows("caught 1")
	o.keys("C-c") // a second interrupt would end the program at once
	o.shows("caught 2")
	o.line("done")
	o.shows("error 1 of 1", "1 build")
}

// TestLeavesAnEditorThatHangs ends a viewer while a hanging editor has the terminal. The viewer exits at once, the
// editor ends, and the terminal is restored.
//
// FEATURES: R75, R76
func TestLeavesAnEditorThatHangs(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds processes in /proc")
	}
	i := e2e.New(t)
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	for path, text := range map[string]string{
		filepath.Join(dir, "main.c"): "first\n",
		editor:                       "#!/bin/sh\ntrap '' INT TERM HUP\necho $$ >\"$HOME/pid\"\nstty raw -echo\nprintf '\\033[?1049h\\033[?1003h\\033[?25lhangs'\nwhile :; do sleep 1000; done\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	i.Env = append(i.Env, "EDITOR="+editor, "VISUAL=", "HOME="+i.Dir)
	i.Run("new", "-n", "build", "--cwd", dir, "--", "sh", "-c", "echo 'main.c:1:1: error: expected ;'; exec sleep 100000")
	i.Run("wait", "build", "--for", "text=expected")
	o := newOuterLine(t, i, 100, 30, "sh -c 'longterm view build; read x; echo got $x'")
	o.shows("1 error")
	o.keys("C-Space", "E")
	o.shows("errors of build", "main.c:1:1")
	o.keys("Enter")
	o.shows("hangs")
	viewer := o.below("view")
	text, err := os.ReadFile(filepath.Join(i.Dir, "pid"))
	hangs, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || hangs <= 0 {
		t.Fatalf("%q, %v", text, err)
	}
	if err := syscall.Kill(viewer, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the terminal is restored", func() bool {
		return strings.HasPrefix(o.paneModes(), "alt 0 mouse 0000 cursor 1") && !strings.Contains(o.stty(), "-icanon") && !strings.Contains(o.stty(), "-opost") &&
			o.below("view") == 0
	})
	e2e.Eventually(t, "the editor has ended", func() bool { return syscall.Kill(hangs, 0) != nil })
	o.keys("line", "Enter")
	o.shows("got line")
}

// TestPastEndsWithItsViewer checks that a playback session ends with the viewer that shows it, also if that is killed.
//
// FEATURES: R76
func TestPastEndsWithItsViewer(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	if _, err := os.Stat("/proc/self/task"); err != nil {
		t.Skip("finds processes in /proc")
	}
	i := e2e.New(t)
	i.Run("new", "-n", "s", "--", "sh", "-c", "echo once; exec cat")
	i.Run("wait", "s", "--for", "text=once")
	o := newOuterLine(t, i, 100, 30, "longterm view s")
	o.shows("once")
	o.keys("C-Space", "B")
	e2e.Eventually(t, "the playback session runs", func() bool { return strings.Contains(i.Run("ls", "-F", "{{.name}} {{.state}}"), "s-past running") })
	if err := syscall.Kill(o.below("view"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	e2e.Eventually(t, "the playback session has ended", func() bool { return !strings.Contains(i.Run("ls", "-F", "{{.name}} {{.state}}"), "s-past running") })
	if list := i.Run("ls", "-F", "{{.name}} {{.state}}"); !strings.Contains(list, "s running") {
		t.Errorf("%q", list)
	}
}
