//go:build unix

package remote

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestFilesThere checks that files are copied to a host and back over ssh, completely or not at all.
//
// FEATURES: R136
func TestFilesThere(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "new", "-n", "work", "--", "cat")
	dir := t.TempDir()
	local, back := filepath.Join(dir, "big.bin"), filepath.Join(dir, "back.bin")
	content := bytes.Repeat([]byte("0123456789abcdef\n"), 1<<20)
	h.make(t, os.WriteFile(local, content, 0o600))
	for _, name := range []string{"big.bin", "big-2.bin"} {
		path := strings.TrimSpace(h.here.Run("put", "far/work", local))
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, content) || filepath.Base(path) != name || !strings.HasPrefix(path, h.Dir) {
			t.Errorf("%s: %d bytes, %v", path, len(b), err)
		}
	}
	h.make(t, os.WriteFile(filepath.Join(h.home, "there.txt"), []byte("there"), 0o600))
	if out := h.here.Run("-H", "far", "get", "work", "there.txt", "-o", "-"); out != "there" {
		t.Errorf("relative to the session's directory: %q", out)
	}
	h.here.Run("get", "far/work", "big.bin", "-o", back)
	if b, err := os.ReadFile(back); err != nil || !bytes.Equal(b, content) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, stderr, code := h.here.Try("get", "far/work", "/etc", "-o", back+"2"); code == 0 || !strings.Contains(stderr, "directory") {
		t.Errorf("%d, %s", code, stderr)
	}
	h.Run("config", "set", "files.max_size", "1MiB")
	if _, stderr, code := h.here.Try("put", "far/work", local); code == 0 || !strings.Contains(stderr, "files.max_size") {
		t.Errorf("a refused file: %d, %s", code, stderr)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("left here: %v, %v", list, err)
	}
}
