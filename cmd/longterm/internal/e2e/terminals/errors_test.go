//go:build unix

package terminals

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// One key and Enter lead from a failing build into vim at the error, and back; an editor that fails says so.
//
// FEATURES: R76
func TestFirstErrorInVim(t *testing.T) {
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("vim is not installed")
	}
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
	o.shows("no editor is opened: no such file")
	o.keys("C-Space", ".")
	o.shows("that was the last error")
}

// An interrupt on the terminal is for the editor that has it: neither that nor the viewer ends, and both go on.
//
// FEATURES: R76
func TestInterruptIsForTheEditor(t *testing.T) {
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
