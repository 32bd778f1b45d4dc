//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts drive every verb as a user would. They name the rows they prove.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			dir, err := os.MkdirTemp("", "lt")
			if err != nil {
				return err
			}
			e.Setenv("LONGTERM_DIR", dir)
			e.Setenv("SHELL", "/bin/sh")
			e.Setenv("PS1", "$ ")
			e.Setenv("HOME", e.WorkDir)
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			e.Defer(func() {
				endInstance(&instance{t: t, dir: dir, exe: exe, env: e.Vars})
				_ = os.RemoveAll(dir)
			})
			return nil
		},
	})
}
