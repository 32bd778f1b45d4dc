package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputThatCannotBeWritten checks that a file that could not be written completely is removed, unless it existed
// before, and that the error of a full disk names the disk and the remedy.
//
// FEATURES: R93
func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	full := func(w io.Writer) error {
		_, err := io.WriteString(w, "a part")
		return errors.Join(err, &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC})
	}
	p := &Printer{}
	err := p.WriteOutput(path, full)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room there") {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a partial file counts as complete: %v", err)
	}
	if err := p.WriteOutput(path, func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Error(err)
	}
	if err := p.WriteOutput(path, full); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the previous file is gone: %v", err)
	}
}
