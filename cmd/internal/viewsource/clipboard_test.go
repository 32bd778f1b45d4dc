//go:build unix

package viewsource

import (
	"os"
	"path/filepath"
	"testing"
)

// FEATURES: R76
func TestSystemClipboard(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("DISPLAY", "")
	if c := findClipboard(); c != nil && filepath.Base(c.argv[0]) != "pbcopy" {
		t.Errorf("without a display: %v", c.argv)
	}
	copied := filepath.Join(dir, "copied")
	if err := os.WriteFile(filepath.Join(dir, "wl-copy"), []byte("#!/bin/sh\nexec cat >"+copied+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WAYLAND_DISPLAY", "wayland-0")
	if err := findClipboard().Copy(t.Context(), "text 你好\n"); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(copied); string(b) != "text 你好\n" {
		t.Errorf("%q", b)
	}
}
