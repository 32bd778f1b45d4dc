//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestScripts drives every verb as a user would. The scripts name the rows that they prove. A script of the full tier
// starts with [!full] skip.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  filepath.Join("testdata", "script"),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"damage": damageLargest},
		Condition: func(name string) (bool, error) {
			switch name {
			case "full":
				return tier.IsFull(), nil
			case "userns":
				return exec.Command("unshare", "-Ur", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("condition %q not found; scripts know [full] and [userns]", name)
		},
		Setup: func(e *testscript.Env) error {
			dir, err := os.MkdirTemp("", "lt")
			if err != nil {
				return err
			}
			e.Setenv("LONGTERM_DIR", dir)
			e.Setenv("SHELL", "/bin/sh")
			e.Setenv("PS1", "$ ")
			e.Setenv("HOME", e.WorkDir)
			e.Defer(func() {
				(&e2e.Instance{T: t, Dir: dir, Exe: e2e.Program(t), Env: e.Vars}).End()
				_ = os.RemoveAll(dir)
			})
			return nil
		},
	})
}

// damageLargest overwrites some bytes in the middle of the largest history file.
func damageLargest(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(args[0], "state", "sessions", "*", "journal", "*.ltj"))
	ts.Check(err)
	largest, size := "", int64(0)
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Size() > size {
			largest, size = f, st.Size()
		}
	}
	f, err := os.OpenFile(largest, os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteAt([]byte("damage"), size/2)
	ts.Check(errors.Join(err, f.Close()))
}
