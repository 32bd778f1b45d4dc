package companion

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	dir, name := t.TempDir(), "ltfind"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	t.Setenv("PATH", dir)
	if _, err := Find("ltfind"); err == nil || !strings.Contains(err.Error(), "cmd/ltfind@latest") {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if at, err := Find("ltfind"); err != nil || filepath.Dir(at) != dir {
		t.Errorf("in PATH: %s, %v", at, err)
	}
}
