//go:build crossbuild

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestOtherSystemsBuild checks that the program builds for the systems that cannot be tested here, and that its
// messages and the README name what Windows lacks.
//
// FEATURES: R95
func TestOtherSystemsBuild(t *testing.T) {
	goTool := tier.Path(t, "go")
	for _, c := range []struct{ system, arch, says string }{
		{"windows", "amd64", "sessions are not supported on Windows yet"},
		{"darwin", "arm64", "cannot be upgraded in place on"},
	} {
		exe := filepath.Join(t.TempDir(), c.system)
		build := exec.CommandContext(t.Context(), goTool, "build", "-buildvcs=false", "-o", exe, ".")
		build.Env = append(os.Environ(), "GOOS="+c.system, "GOARCH="+c.arch, "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s/%s does not build: %v\n%s", c.system, c.arch, err, out)
			continue
		}
		if b, err := os.ReadFile(exe); err != nil || !bytes.Contains(b, []byte(c.says)) {
			t.Errorf("%s/%s does not contain %q: %v", c.system, c.arch, c.says, err)
		}
	}
}
