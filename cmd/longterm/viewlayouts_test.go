//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FEATURES: R76
func TestViewLayouts(t *testing.T) {
	ctx := t.Context()
	l := viewLayouts{filepath.Join(t.TempDir(), "layouts")}
	if names, err := l.Names(ctx); err != nil || len(names) != 0 {
		t.Errorf("before there is one: %q %v", names, err)
	}
	names := []string{"..", ".hidden", "a/b", "last", "über ☂"}
	for _, n := range names {
		if b, err := l.Load(ctx, n); b != nil || err != nil {
			t.Errorf("%s before it was saved: %q %v", n, b, err)
		}
		for _, text := range []string{"old and longer", n} {
			if err := l.Save(ctx, n, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := l.Names(ctx)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q %v", got, err)
	}
	for _, n := range names {
		if b, err := l.Load(ctx, n); string(b) != n || err != nil {
			t.Errorf("%s: %q %v", n, b, err)
		}
	}
	files, _ := os.ReadDir(l.dir)
	if outside, _ := os.ReadDir(filepath.Dir(l.dir)); len(files) != len(names) || len(outside) != 1 {
		t.Errorf("%d files in the directory, %d beside it", len(files), len(outside))
	}
	l = viewLayouts{filepath.Join("/dev/null", "layouts")}
	if err := l.Save(ctx, "x", nil); err == nil {
		t.Error("saved where nothing can be saved")
	}
}

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
